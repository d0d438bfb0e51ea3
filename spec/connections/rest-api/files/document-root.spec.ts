// Static files (S-12, D-16, RFC 9110 sections 13 and 14).

import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import test from 'ava';
import { within } from '../../../support/deadline.ts';
import { createFolder } from '../../../support/folder.ts';
import { ask, openWire, request } from '../../../support/http.ts';
import { api, expectQuietLog, portsOf, startTestHub } from '../../../support/hub.ts';
import { startSite } from '../../../support/system/site.ts';

const types: [name: string, type: string][] = [
  ['index.html', 'text/html; charset=utf-8'],
  ['panel.css', 'text/css; charset=utf-8'],
  ['panel.js', 'text/javascript; charset=utf-8'],
  ['data.json', 'application/json; charset=utf-8'],
  ['lamp.svg', 'image/svg+xml'],
  ['lamp.png', 'image/png'],
  ['font.woff2', 'font/woff2'],
  ['notes.TXT', 'text/plain; charset=utf-8'],
  ['unknown.zzz', 'application/octet-stream'],
  ['none', 'application/octet-stream'],
];
for (const [name, type] of types)
  test(`S-12: ${name} is served as ${type}`, async (t) => {
    const hub = await startSite(t, { [`www/${name}`]: 'content' });
    const { status, headers, text } = await ask(t, hub.port, `GET /${name}`);
    t.is(status, 200);
    t.is(headers['content-type'], type);
    t.is(headers['x-content-type-options'], 'nosniff');
    t.is(headers['accept-ranges'], 'bytes');
    t.is(text, 'content');
  });

test('S-12: names are percent-encoded, a query is not part of them', async (t) => {
  const hub = await startSite(t, { 'www/a b/ü%.txt': 'found' });
  t.is((await ask(t, hub.port, 'GET /a%20b/%C3%BC%25.txt?v=1')).text, 'found');
  t.is((await ask(t, hub.port, 'GET /a%20b/%C3%BC%.txt')).status, 400);
});

test('D-16: a folder answers with its index.html, and redirects to its slash with the query', async (t) => {
  const hub = await startSite(t, {
    'www/index.html': 'top',
    'www/panel/index.html': 'panel',
    'www/empty/other.txt': '',
  });
  t.is((await ask(t, hub.port, 'GET /')).text, 'top');
  t.is((await ask(t, hub.port, 'GET /panel/')).text, 'panel');
  const { status, headers } = await ask(t, hub.port, 'GET /panel?studio=1&x=%20');
  t.is(status, 302);
  t.is(headers.location, '/panel/?studio=1&x=%20');
  t.is((await ask(t, hub.port, 'GET /panel/index.html/')).status, 404);
  t.is((await ask(t, hub.port, 'GET /empty/')).status, 404);
});

test('S-12: each REST API connection has its own Document Root, or none', async (t) => {
  const folder = await createFolder(t, { 'one/a.txt': 'one', 'two/a.txt': 'two' });
  const hub = await startTestHub(t, {
    connections: {
      one: { ...api, documentRoot: join(folder, 'one') },
      two: { ...api, documentRoot: join(folder, 'two') },
      none: api,
    },
  });
  const answers = await Promise.all(portsOf(hub).map((port) => ask(t, port, 'GET /a.txt')));
  t.deepEqual(
    answers.map(({ status, text }) => [status, text]),
    [
      [200, 'one'],
      [200, 'two'],
      [404, '/a.txt: no such page\n'],
    ],
  );
});

test('D-14: without an index / redirects to /hub/', async (t) => {
  const hub = await startSite(t, { 'www/a.txt': '' });
  const { status, headers } = await ask(t, hub.port, 'GET /');
  t.is(status, 302);
  t.is(headers.location, '/hub/');
});

test('S-12: names of built-in endpoints cannot be hosted', async (t) => {
  const hub = await startSite(t, {
    'www/ws': 'file',
    'www/update': 'file',
    'www/parameters/desk/lamp': 'file',
    'www/hub/index.html': 'file',
    'www/hub/x.txt': 'file',
    'www/panel/ws': 'hosted',
  });
  for (const path of ['/ws', '/%77s', '/update', '/%75pdate', '/parameters', '/parameters/', '/%70arameters/desk/lamp'])
    t.not((await ask(t, hub.port, `GET ${path}`)).text, 'file', path);
  t.is((await ask(t, hub.port, 'GET /parameters/desk/lamp')).text, 'true');
  for (const path of ['/hub/', '/%68ub/', '/hub/x.txt', '/%68ub/x.txt'])
    t.not((await ask(t, hub.port, `GET ${path}`)).text, 'file', path);
  t.is((await ask(t, hub.port, 'GET /panel/ws')).text, 'hosted');
  expectQuietLog(t, hub);
});

const escapes = [
  '/../secret.txt',
  '/panel/../../secret.txt',
  '/%2e%2e/secret.txt',
  '/%2E%2E%2Fsecret.txt',
  '/..%2fsecret.txt',
  '/panel/..%2f..%2fsecret.txt',
  '/..\\secret.txt',
  '/%2e%2e%5csecret.txt',
  '/panel\\..\\..\\secret.txt',
  '/.hidden',
  '/%2ehidden',
  '/.git/config',
  '/panel/.htaccess',
  '/open.txt%00',
  '/open.txt%00.html',
  '/./open.txt',
  '/panel//x.txt',
  '//open.txt',
  '/link-to-secret',
  '/link-to-folder/secret.txt',
  '/link-to-folder/',
  '/link-to-hidden',
  '/linked-index/',
  '/loop',
  '/gone',
  `/${'a'.repeat(300)}`,
  `/${'a/'.repeat(1500)}`,
];
test('D-16: dotfiles and files outside of the root are never served, also by symbolic links', async (t) => {
  const hub = await startSite(t, {
    'secret.txt': 'secret',
    'www/open.txt': 'open',
    'www/.hidden': 'secret',
    'www/.git/config': 'secret',
    'www/panel/.htaccess': 'secret',
    'www/panel/x.txt': 'open',
    'www/linked-index/x.txt': 'open',
    'www-beside/secret.txt': 'secret',
  });
  await symlink('../secret.txt', join(hub.root, 'link-to-secret'));
  await symlink(join(hub.outside, 'www-beside'), join(hub.root, 'link-to-folder'));
  await symlink('.hidden', join(hub.root, 'link-to-hidden'));
  await symlink('../../secret.txt', join(hub.root, 'linked-index/index.html'));
  await symlink('loop', join(hub.root, 'loop'));
  await symlink('no-such-file', join(hub.root, 'gone'));
  await symlink('open.txt', join(hub.root, 'link-to-open'));
  for (const path of escapes) {
    const { status, text } = await ask(t, hub.port, `GET ${path}`);
    t.is(status, 404, path);
    t.is(text, `${path}: no such file\n`);
  }
  t.is((await ask(t, hub.port, 'GET /link-to-open')).text, 'open');
  expectQuietLog(t, hub);
});

test('D-16: a pipe or a socket in the root is not a file, and blocks nobody', async (t) => {
  const hub = await startSite(t, { 'www/a.txt': 'a' });
  execFileSync('mkfifo', [join(hub.root, 'pipe')]);
  const server = createServer().listen(join(hub.root, 'socket'));
  t.teardown(() => server.close());
  for (let count = 0; count < 8; count++) t.is((await ask(t, hub.port, 'GET /pipe')).status, 404);
  t.is((await ask(t, hub.port, 'GET /socket')).status, 404);
  t.is((await ask(t, hub.port, 'GET /a.txt')).text, 'a');
});

test('a Document Root that is a file is named in the log, like a missing one', async (t) => {
  const root = join(await createFolder(t, { file: '' }), 'file');
  const hub = await startTestHub(t, { connections: { api: { ...api, documentRoot: root } } });
  t.like(hub.lines, { 0: { level: 'warn', message: `documentRoot: expected a folder at ${root}, got none` } });
  t.is((await ask(t, hub.port, 'GET /')).status, 404);
});

test('S-12: a Document Root may be a link, and may be created later; the log reports that it is missing', async (t) => {
  const hub = await startSite(t, {});
  t.like(hub.lines, { 0: { level: 'warn', message: `documentRoot: expected a folder at ${hub.root}, got none` } });
  t.is((await ask(t, hub.port, 'GET /a.txt')).status, 404);
  t.is((await ask(t, hub.port, 'GET /')).status, 404);
  await mkdir(join(hub.outside, 'site'));
  await writeFile(join(hub.outside, 'site/a.txt'), 'late');
  await symlink('site', hub.root);
  t.is((await ask(t, hub.port, 'GET /a.txt')).text, 'late');
});

test('S-12: 20 MB arrive byte for byte at a slow reader, while others are served', async (t) => {
  const hub = await startSite(t, { 'www/a.txt': '' });
  const content = randomBytes(20 * 1024 * 1024);
  await writeFile(join(hub.root, 'big.bin'), content);
  const wire = await openWire(t, hub.port);
  wire.socket.removeAllListeners('data');
  wire.socket.pause();
  wire.send(request('GET /big.bin', { headers: { connection: 'close' } }));
  for (let count = 0; count < 20; count++) t.is((await ask(t, hub.port, 'GET /parameters/desk/lamp')).text, 'true');
  const chunks: Buffer[] = [];
  const received = new Promise<void>((resolve) => {
    wire.socket.on('data', (chunk) => {
      chunks.push(chunk);
      wire.socket.pause();
      setImmediate(() => wire.socket.resume());
    });
    wire.socket.on('close', resolve);
  });
  wire.socket.resume();
  await within(received, 'the file');
  const all = Buffer.concat(chunks);
  const body = all.subarray(all.indexOf('\r\n\r\n') + 4);
  t.is(body.length, content.length);
  t.is(createHash('sha256').update(body).digest('hex'), createHash('sha256').update(content).digest('hex'));
});

test('S-12: a client that leaves in the middle of a file has no effect on others', async (t) => {
  const hub = await startSite(t, { 'www/a.txt': '' });
  await writeFile(join(hub.root, 'big.bin'), randomBytes(16 * 1024 * 1024));
  for (let count = 0; count < 5; count++) {
    const wire = await openWire(t, hub.port);
    wire.send(request('GET /big.bin'));
    await within(new Promise((resolve) => wire.socket.once('data', resolve)), 'the first bytes');
    wire.socket.destroy();
  }
  t.is((await ask(t, hub.port, 'GET /big.bin', { headers: { range: 'bytes=-5' } })).body.length, 5);
  expectQuietLog(t, hub);
});

test('S-12: when a file is truncated during the transfer, the connection is cut', async (t) => {
  const hub = await startSite(t, { 'www/a.txt': '' });
  const file = join(hub.root, 'big.bin');
  await writeFile(file, randomBytes(32 * 1024 * 1024));
  const wire = await openWire(t, hub.port);
  wire.send(request('GET /big.bin'));
  await within(new Promise((resolve) => wire.socket.once('data', resolve)), 'the first bytes');
  wire.socket.pause();
  await truncate(file, 1000);
  wire.socket.resume();
  const received = await wire.closed();
  t.true(received.includes('Content-Length: 33554432'));
  t.true(received.length < 32 * 1024 * 1024);
  await rm(file);
  t.is((await ask(t, hub.port, 'GET /big.bin')).status, 404);
  expectQuietLog(t, hub);
});
