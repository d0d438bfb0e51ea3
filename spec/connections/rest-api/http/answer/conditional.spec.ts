import { utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { ask, openWire, request } from '../../../../support/http.ts';
import { startSite } from '../../../../support/system/site.ts';

test('RFC 9110 section 13: ETag and Last-Modified save a client unchanged content', async (t) => {
  const hub = await startSite(t, { 'www/a.txt': 'first' });
  const file = join(hub.root, 'a.txt');
  await utimes(file, 1_700_000_000, 1_700_000_000.5);
  const wire = await openWire(t, hub.port);
  const get = async (headers: Record<string, string>) => {
    wire.send(request('GET /a.txt', { headers }));
    return wire.answer();
  };
  const first = await get({});
  const { etag = '', 'last-modified': modified = '' } = first.headers;
  t.regex(etag, /^"[^"]+"$/);
  t.is(modified, 'Tue, 14 Nov 2023 22:13:20 GMT');
  const rows: [headers: Record<string, string>, status: number][] = [
    [{ 'if-none-match': etag }, 304],
    [{ 'if-none-match': `W/${etag}` }, 304],
    [{ 'if-none-match': `"other", ${etag}` }, 304],
    [{ 'if-none-match': '*' }, 304],
    [{ 'if-none-match': '"other"' }, 200],
    [{ 'if-modified-since': modified }, 304],
    [{ 'if-modified-since': 'Tue, 14 Nov 2023 22:13:19 GMT' }, 200],
    [{ 'if-modified-since': 'Fri, 14 Nov 2025 22:13:20 GMT' }, 304],
    [{ 'if-modified-since': 'Friday, 14-Nov-25 22:13:20 GMT' }, 304],
    [{ 'if-modified-since': 'Sunday, 06-Nov-94 08:49:37 GMT' }, 200],
    [{ 'if-modified-since': 'Fri Nov 14 22:13:20 2025' }, 304],
    [{ 'if-modified-since': 'Sat Nov  1 22:13:20 2025' }, 304],
    [{ 'if-modified-since': 'yesterday' }, 200],
    [{ 'if-modified-since': 'Studio 2099' }, 200],
    [{ 'if-modified-since': '2099-01-01' }, 200],
    [{ 'if-modified-since': 'Fri, 31 Nov 2029 22:13:20 GMT' }, 200],
    [{ 'if-modified-since': 'Fri, 14 Nov 2029 24:13:20 GMT' }, 200],
    [{ 'if-none-match': '"other"', 'if-modified-since': modified }, 200],
    [{ 'if-none-match': `"a,b", ${etag}` }, 304],
    [{ 'if-none-match': `"a, ${etag.slice(1)}` }, 200],
    [{ 'if-none-match': etag.slice(1, -1) }, 200],
    [{ 'if-match': etag }, 200],
    [{ 'if-match': `"other", ${etag}` }, 200],
    [{ 'if-match': '*' }, 200],
    [{ 'if-match': etag, 'if-none-match': etag }, 304],
    [{ 'if-match': etag, 'if-unmodified-since': 'Tue, 14 Nov 2023 22:13:19 GMT' }, 200],
    [{ 'if-unmodified-since': modified }, 200],
    [{ 'if-unmodified-since': 'Fri, 14 Nov 2025 22:13:20 GMT' }, 200],
    [{ 'if-unmodified-since': 'yesterday' }, 200],
    [{ 'if-unmodified-since': modified, 'if-none-match': etag }, 304],
    [{ 'if-unmodified-since': modified, 'if-modified-since': modified }, 304],
  ];
  for (const [headers, status] of rows) {
    const answer = await get(headers);
    t.is(answer.status, status, JSON.stringify(headers));
    t.is(answer.text, status === 304 ? '' : 'first');
    t.is(answer.headers.etag, etag);
  }
  const refused: Record<string, string>[] = [
    { 'if-match': '"other"' },
    { 'if-match': `W/${etag}` },
    { 'if-match': 'nonsense' },
    { 'if-match': '"other"', 'if-none-match': etag },
    { 'if-match': '"other"', range: 'bytes=0-1' },
    { 'if-unmodified-since': 'Tue, 14 Nov 2023 22:13:19 GMT' },
    { 'if-unmodified-since': 'Sunday, 06-Nov-94 08:49:37 GMT' },
    { 'if-unmodified-since': 'Tue, 14 Nov 2023 22:13:19 GMT', 'if-none-match': etag },
  ];
  for (const headers of refused) {
    const answer = await get(headers);
    t.is(answer.status, 412, JSON.stringify(headers));
    t.regex(answer.text, /^If-(Match|Unmodified-Since): expected .*, got .*\n$/);
    wire.send(request('HEAD /a.txt', { headers }));
    t.is((await wire.answer({ isHead: true })).status, 412);
    wire.send(request('GET /nothing.txt', { headers }));
    t.is((await wire.answer()).status, 404, 'what is not there has no state');
  }
  await writeFile(file, 'other');
  const second = await get({ 'if-none-match': etag });
  t.is(second.text, 'other');
  t.not(second.headers.etag, etag);
});

const digits = '0123456789';
const ranges: [headers: Record<string, string>, status: number, body: string, contentRange?: string][] = [
  [{ range: 'bytes=0-3' }, 206, '0123', 'bytes 0-3/10'],
  [{ range: 'bytes=4-' }, 206, '456789', 'bytes 4-9/10'],
  [{ range: 'bytes=9-9' }, 206, '9', 'bytes 9-9/10'],
  [{ range: 'bytes=5-500' }, 206, '56789', 'bytes 5-9/10'],
  [{ range: 'bytes=-3' }, 206, '789', 'bytes 7-9/10'],
  [{ range: 'bytes=-500' }, 206, digits, 'bytes 0-9/10'],
  [{ range: 'bytes=10-' }, 416, '', 'bytes */10'],
  [{ range: 'bytes=10-20' }, 416, '', 'bytes */10'],
  [{ range: 'bytes=-0' }, 416, '', 'bytes */10'],
  [{ range: `bytes=${'9'.repeat(400)}-` }, 416, '', 'bytes */10'],
  [{ range: 'bytes=3-1' }, 200, digits],
  [{ range: 'bytes=0-1,4-5' }, 200, digits],
  [{ range: 'bytes=-' }, 200, digits],
  [{ range: 'bytes=a-b' }, 200, digits],
  [{ range: 'lines=0-3' }, 200, digits],
  [{ range: 'bytes=0-3', 'if-range': '"other"' }, 200, digits],
  [{ range: 'bytes=0-3', 'if-range': 'Tue, 14 Nov 2023 22:13:20 GMT' }, 206, '0123', 'bytes 0-3/10'],
  [{ range: 'bytes=0-3', 'if-range': 'Tue, 14 Nov 2023 22:13:19 GMT' }, 200, digits],
];
for (const [headers, status, body, contentRange] of ranges)
  test(`RFC 9110 section 14: ${JSON.stringify(headers).slice(0, 80)} is answered ${status}`, async (t) => {
    const hub = await startSite(t, { 'www/digits': digits });
    await utimes(join(hub.root, 'digits'), 1_700_000_000, 1_700_000_000);
    const answer = await ask(t, hub.port, 'GET /digits', { headers });
    t.is(answer.status, status);
    t.is(answer.headers['content-range'], contentRange);
    if (status === 416) t.is(answer.text, 'Range: expected a range within the 10 bytes of the file\n');
    else t.is(answer.text, body);
  });

test('RFC 9110 section 14: a range with the same ETag is a part, never of an empty file', async (t) => {
  const hub = await startSite(t, { 'www/digits': digits, 'www/empty': '' });
  const { etag = '' } = (await ask(t, hub.port, 'GET /digits')).headers;
  const headers = { range: 'bytes=2-3', 'if-range': etag };
  t.is((await ask(t, hub.port, 'GET /digits', { headers })).text, '23');
  const empty = await ask(t, hub.port, 'GET /empty');
  t.deepEqual([empty.status, empty.headers['content-length'], empty.text], [200, '0', '']);
  t.is((await ask(t, hub.port, 'GET /empty', { headers: { range: 'bytes=0-' } })).status, 416);
});

test('D-16: HEAD has the headers of GET, without the file, and supports no range', async (t) => {
  const hub = await startSite(t, { 'www/digits': digits, 'www/panel/index.html': '' });
  const wire = await openWire(t, hub.port);
  const head = async (path: string, headers: Record<string, string> = {}) => {
    wire.send(request(`HEAD ${path}`, { headers }));
    return wire.answer({ isHead: true });
  };
  const whole = await head('/digits');
  t.deepEqual([whole.status, whole.headers['content-length']], [200, '10']);
  const ranged = await head('/digits', { range: 'bytes=0-3' });
  t.deepEqual([ranged.status, ranged.headers['content-length']], [200, '10']);
  t.is((await head('/digits', { 'if-none-match': whole.headers.etag ?? '' })).status, 304);
  t.is((await head('/nothing')).status, 404);
  t.is((await head('/panel')).headers.location, '/panel/');
  wire.send(request('GET /digits'));
  t.is((await wire.answer()).text, digits);
});
