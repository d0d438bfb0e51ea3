// The words of inputs over HTTP: what there is to ask for, and headers that are right, odd or wrong.

const words = (text: string): readonly string[] => text.split(' ');
const phrases = (text: string): readonly string[] => text.split(' | ');

export const methods = words('OPTIONS PUT DELETE PATCH TRACE CONNECT FOO get');

export const plainPaths = [
  ...words(
    '/ /index.html /empty.txt /folder /folder/ /folder/page.html /.hidden /loop /größe.txt /ws /update /parameters',
  ),
  ...words('/hub /hub/ /hub/client.js /hub/connections /hub/rules /hub/files /hub/log /hub/clients /hub/dashboards'),
  ...words('/hub/dashboards/panel /hub/openapi.json /hub/health /hub/parameters /hub/trace /hub/console/'),
];

export const folders = words(
  '/parameters/ /hub/explain/ /hub/connections/ /hub/dashboards/ /hub/console/ / /folder/ /hub/',
);

/** Not the connection that others come by. */
export const connections = [...words('desk clock core onair loop nobody desk/'), ''];
export const rules = ['text to number', ...words('share there back nobody'), ''];
export const levels = [...words('debug info warn error loud'), ''];

export const hosts = [
  ...words('127.0.0.1 localhost [::1] 127.0.0.1:99999 evil.example LOCALHOST. [ ::1 127.0.0.1:80:80'),
  'a b',
  '',
];

/** Origins that are no URL, or hardly one: all of them are foreign to a hub. */
export const oddOrigins = [
  ...words('null http://evil.example http://[ http://[::1 http://% http://%00 http://1.2.3.256 http://0x7f.1'),
  ...words('http://xn--a http://xn-- file:// blob:http://a blob:http://127.0.0.1 http://:80 http://a:99999 http: // x'),
  ...words('http://a@b:c@d http://a@127.0.0.1 data:, javascript:0 about:blank'),
  ...words(
    'http://ex\u00e4mple http://\u00ff\u00fe http://\u00b2 http://\u00ad http://a\u0080 http://\u00aa.\u00ba http://xn--\u00e9',
  ),
  'http://a b',
  `http://${'a'.repeat(300)}`,
];
export const origins = ['http://127.0.0.1', 'https://localhost', ...oddOrigins];

export const accepts = [
  ...words('application/json text/plain */* application/json;q=x ,;,;q= a/b/c'),
  'application/json;q=-1, text/plain;q=2',
];

export const types = [
  ...words('application/json application/json application/x-www-form-urlencoded application/json;charset="UTF-8"'),
  ...phrases(
    'application/json; charset=utf-8 | application/json; charset=latin1 | multipart/form-data | text/plain | ;',
  ),
  '',
];

export const ranges = words(
  'bytes=0- bytes=-1 bytes=0-0 bytes=5-2 bytes=99999999999999999999- bytes=-0 bytes=0-1,3-4 bytes=- items=0-1',
);

export const dates = phrases(
  'Thu, 01 Jan 1970 00:00:00 GMT | never | 0 | 99999999999999999999 | Thu, 31 Feb 2999 25:61:61 GMT',
);

export const authorizations = [
  ...phrases('Bearer YQ== | Bearer b | Basic YTpi | Basic Og== | Basic = | Basic | Bearer | basic  YTpi  '),
  ...phrases('Negotiate x | Basic \u00ff'),
];

export const otherHeaders = [
  ...phrases(
    'Connection: close | Connection: keep-alive | Expect: 100-continue | Upgrade: h2c | Accept-Encoding: gzip',
  ),
  ...phrases(
    'Sec-Fetch-Site: cross-site | Sec-Fetch-Site: same-origin | Sec-Fetch-Mode: navigate | Sec-Fetch-Dest: image',
  ),
  ...phrases(
    'Referer: http://evil.example/ | Referer: http://[ | Cookie: a=b | X-Forwarded-For: 1.2.3.4 | Forwarded: for=x',
  ),
  ...phrases('Access-Control-Request-Method: POST | Access-Control-Request-Headers: content-type'),
  ...phrases('Access-Control-Request-Private-Network: true | User-Agent: fuzz'),
  'X: ',
  `X: ${'x'.repeat(2000)}`,
];

/** Headers that make the end of a request doubtful, or are none. */
export const brokenHeaders = [
  ...phrases('Content-Length: 99999 | Content-Length: -1 | Content-Length: 5 | Transfer-Encoding: x | a'),
  ': ',
];

/** First lines that are not those of a request to a hub. */
export const brokenFirstLines = [
  ...phrases('GET / HTTP/1.0 | GET http://127.0.0.1/ HTTP/1.1 | GET / | PRI * HTTP/2.0'),
  ' ',
  '\u0000',
  `GET /${'x'.repeat(9000)} HTTP/1.1`,
];
