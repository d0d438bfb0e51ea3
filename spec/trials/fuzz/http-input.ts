// HTTP inputs: requests from a grammar of what the hub serves, most of them valid, some corrupted at a random place.

import type { Random } from '../../support/random.ts';
import { anAddress, aText, aValue, deepJson, mutate, toJson, utf8 } from './texts.ts';

/** One request. An orderly one is answered, or costs the connection; else the input ends with it. */
export interface HttpInput {
  readonly kind: 'http';
  readonly server: 'open' | 'locked';
  /** The request line, the headers, and the body; as bytes, a character each. */
  readonly pieces: readonly string[];
  readonly isOrderly: boolean;
}

export function anHttpInput(random: Random): HttpInput {
  const isLocked = random.once(8);
  const target = aTarget(random);
  const isPosted = random.once(/^\/(update|hub\/(connections|rules))/.test(target) ? 2 : 12);
  const method = random.once(15) ? random.pick(methods) : random.once(12) ? 'HEAD' : isPosted ? 'POST' : 'GET';
  const headers = [`Host: ${random.once(25) ? random.pick(hosts) : '127.0.0.1'}`];
  if (random.once(10)) headers.push(`Origin: ${random.pick(origins)}`);
  if (random.once(2)) headers.push(`Accept: ${random.pick(accepts)}`);
  if (random.once(8)) headers.push(`Range: ${random.pick(ranges)}`);
  if (random.once(12)) headers.push(`If-None-Match: ${random.pick(['*', '"x"', 'W/"x", ,', ''])}`);
  if (random.once(12)) headers.push(`If-Modified-Since: ${random.pick(dates)}`);
  if (random.once(20)) headers.push(`If-Range: ${random.pick([...dates, '"x"'])}`);
  if (isLocked || random.once(12))
    headers.push(`Authorization: ${isLocked && random.once(2) ? 'Bearer YQ==' : random.pick(authorizations)}`);
  if (random.once(6)) headers.push(random.pick(otherHeaders));
  let body = '';
  if (method === 'POST' || random.once(20)) {
    body = aBody(random, target);
    if (!random.once(12)) headers.push(`Content-Type: ${random.pick(types)}`);
    if (random.once(10)) {
      headers.push('Transfer-Encoding: chunked');
      body = chunked(random, body);
    } else headers.push(`Content-Length: ${body.length}`);
  }
  const pieces = [`${method} ${target} HTTP/1.1`, ...headers, body];
  const server = isLocked ? 'locked' : 'open';
  // What Connection, Expect and CONNECT do to a connection is theirs to say; the rest is answered.
  if (!random.once(10))
    return { kind: 'http', server, pieces, isOrderly: !/^CONNECT|\nExpect|\nUpgrade/.test(pieces.join('\n')) };
  return { kind: 'http', server, pieces: breakOne(random, pieces), isOrderly: false };
}

/** The bytes of a request. */
export function bytesOfRequest({ pieces }: HttpInput): Buffer {
  return Buffer.from(`${pieces.slice(0, -1).join('\r\n')}\r\n\r\n${pieces.at(-1)}`, 'latin1');
}

function aTarget(random: Random): string {
  if (random.once(25))
    return utf8(`/${aText(random)}`)
      .replaceAll(/[^!-~\u0080-\u00ff]/g, '%20')
      .slice(0, 3000);
  if (random.once(25)) return random.once(2) ? '/update' : `/hub/connections/${random.pick(connections)}`;
  if (random.once(4)) return random.pick(folders) + encode(random, random.once(2) ? anAddress(random) : aText(random));
  const path = random.once(4) ? `/parameters/${encode(random, anAddress(random))}` : random.pick(plainPaths);
  return random.once(2) ? path : `${path}?${random.list(3, () => aPair(random)).join('&')}`.slice(0, 3500);
}

function aPair(random: Random): string {
  const of = (name: string, text: string) => `${name}=${encode(random, text)}`;
  switch (random.below(8)) {
    case 0:
      return `${of('parameter', anAddress(random))}&${of('value', aText(random))}`;
    case 1:
      return of('filter', aText(random));
    case 2:
      return of('address', anAddress(random));
    case 3:
      return of('rule', random.once(3) ? aText(random) : random.pick(rules));
    case 4:
      return of('after', random.pick(['0', '-1', '1e3', '99999999999999999999', 'x', '']));
    case 5:
      return of('level', random.pick(levels));
    case 6:
      return of('snapshot', random.pick(['true', '1', 'x']));
    default:
      return `${encode(random, aText(random))}=${encode(random, aText(random))}`;
  }
}

/** Percent-encoded as it should be, or wrong. */
function encode(random: Random, text: string): string {
  const encoded = [...utf8(text)]
    .map((byte) => (/[\w./-]/.test(byte) ? byte : `%${byte.charCodeAt(0).toString(16).padStart(2, '0')}`))
    .join('')
    .slice(0, 1500);
  if (random.once(12)) return encoded.replace('%', random.pick(['%25', '%%', '', '%c0%80', '%ed%a0%80', '%zz']));
  return random.once(30) ? encoded.slice(0, -1) : encoded;
}

function aBody(random: Random, target: string): string {
  if (random.once(25)) return deepJson(random);
  if (random.once(20)) return utf8(aText(random)).slice(0, 70_000);
  if (random.once(4)) return random.list(3, () => aPair(random)).join('&');
  if (target.startsWith('/hub/connections'))
    return utf8(toJson(random, { action: random.pick(['start', 'stop', 'restart', 'x', 1]) }));
  if (target.startsWith('/hub/rules')) {
    const rule = random.once(6) ? aValue(random) : random.pick(rules);
    return utf8(toJson(random, { rule, enabled: random.once(6) ? aValue(random) : random.once(2) }));
  }
  if (random.once(6)) return utf8(toJson(random, aValue(random)));
  return utf8(
    toJson(random, { parameter: random.once(8) ? aValue(random) : anAddress(random), value: aValue(random) }),
  );
}

function chunked(random: Random, body: string): string {
  const middle = random.below(body.length + 1);
  const chunk = (text: string) => (text === '' ? '' : `${text.length.toString(16)}\r\n${text}\r\n`);
  return `${chunk(body.slice(0, middle))}${chunk(body.slice(middle))}0\r\n\r\n`;
}

function breakOne(random: Random, pieces: readonly string[]): string[] {
  const place = random.below(pieces.length);
  const broken = [...pieces];
  switch (random.below(5)) {
    case 0:
      broken.splice(1, 0, random.pick(brokenHeaders));
      break;
    case 1:
      broken[0] = random.pick(brokenFirstLines);
      break;
    case 2:
      broken.splice(place, random.below(3));
      if (broken.length === 0) broken.push('');
      break;
    default:
      broken[place] = mutate(random, broken[place]!);
  }
  return broken;
}

const words = (text: string): readonly string[] => text.split(' ');
const phrases = (text: string): readonly string[] => text.split(' | ');

const methods = words('OPTIONS PUT DELETE PATCH TRACE CONNECT FOO get');

const plainPaths = [
  ...words(
    '/ /index.html /empty.txt /folder /folder/ /folder/page.html /.hidden /loop /größe.txt /ws /update /parameters',
  ),
  ...words('/hub /hub/ /hub/client.js /hub/connections /hub/rules /hub/files /hub/log /hub/clients /hub/dashboards'),
  ...words('/hub/dashboards/panel /hub/openapi.json /hub/health /hub/parameters /hub/trace /hub/console/'),
];

const folders = words('/parameters/ /hub/explain/ /hub/connections/ /hub/dashboards/ /hub/console/ / /folder/ /hub/');

/** Not the connection that others come by. */
const connections = [...words('desk clock core onair loop nobody desk/'), ''];
const rules = ['text to number', ...words('share there back nobody'), ''];
const levels = [...words('debug info warn error loud'), ''];

const hosts = [
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
const origins = ['http://127.0.0.1', 'https://localhost', ...oddOrigins];

const accepts = [
  ...words('application/json text/plain */* application/json;q=x ,;,;q= a/b/c'),
  'application/json;q=-1, text/plain;q=2',
];

const types = [
  ...words('application/json application/json application/x-www-form-urlencoded application/json;charset="UTF-8"'),
  ...phrases(
    'application/json; charset=utf-8 | application/json; charset=latin1 | multipart/form-data | text/plain | ;',
  ),
  '',
];

const ranges = words(
  'bytes=0- bytes=-1 bytes=0-0 bytes=5-2 bytes=99999999999999999999- bytes=-0 bytes=0-1,3-4 bytes=- items=0-1',
);

const dates = phrases(
  'Thu, 01 Jan 1970 00:00:00 GMT | never | 0 | 99999999999999999999 | Thu, 31 Feb 2999 25:61:61 GMT',
);

const authorizations = [
  ...phrases('Bearer YQ== | Bearer b | Basic YTpi | Basic Og== | Basic = | Basic | Bearer | basic  YTpi  '),
  ...phrases('Negotiate x | Basic \u00ff'),
];

const otherHeaders = [
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
const brokenHeaders = [
  ...phrases('Content-Length: 99999 | Content-Length: -1 | Content-Length: 5 | Transfer-Encoding: x | a'),
  ': ',
];

/** First lines that are not those of a request to a hub. */
const brokenFirstLines = [
  ...phrases('GET / HTTP/1.0 | GET http://127.0.0.1/ HTTP/1.1 | GET / | PRI * HTTP/2.0'),
  ' ',
  '\u0000',
  `GET /${'x'.repeat(9000)} HTTP/1.1`,
];
