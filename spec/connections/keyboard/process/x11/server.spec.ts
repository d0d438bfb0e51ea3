// Connections to a real X server: how DISPLAY names it, what it asks for, and what it refuses.

import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { XServer } from '../../../../../lib/connections/keyboard/process/x11/x-server.ts';
import { createFolder } from '../../../../support/folder.ts';
import { startXServer } from '../../../../support/keyboard/x-server.ts';

const getInputFocus = () => Buffer.from([43, 0, 0, 0]);
const field = (bytes: Buffer | string) => Buffer.concat([Buffer.from([0, bytes.length]), Buffer.from(bytes)]);
const entry = (family: number, address: string, number: string, cookie: Buffer) =>
  Buffer.concat([
    Buffer.from([family >> 8, family & 0xff]),
    ...[address, number, 'MIT-MAGIC-COOKIE-1', cookie].map(field),
  ]);

test.serial('a display is named with host, screen or protocol, or by the path of its socket', async (t) => {
  const { display } = await startXServer(t);
  const number = display.slice(1);
  for (const name of [display, `${display}.0`, `unix${display}`, `unix/${display}`, `/tmp/.X11-unix/X${number}`]) {
    const server = await XServer.open(name);
    t.deepEqual(server.keycodes, { first: 8, last: 255 });
    t.is((await server.ask(getInputFocus()))[0], 1);
    server.close();
  }
  for (const name of ['', 'here', ':', ':a', '0'])
    await t.throwsAsync(XServer.open(name), {
      message: `DISPLAY: expected a display such as ":0" or "localhost:10.0", got "${name}" (string)`,
    });
});

test.serial('a server that wants a cookie gets the one that the file of authority has for it', async (t) => {
  const cookie = randomBytes(16);
  const folder = await createFolder(t);
  // The server reads its own file again once it has changed, so what is asked with stands in another.
  const allowed = join(folder, 'allowed');
  writeFileSync(allowed, entry(65535, '', '', cookie));
  const { display } = await startXServer(t, { args: ['-auth', allowed] });
  const auth = join(folder, 'authority');
  const number = display.slice(1);
  const other = randomBytes(16);
  const own = entry(256, hostname(), number, cookie);
  const rows: [what: string, bytes: Buffer, isLetIn: boolean][] = [
    ['any server', entry(65535, '', '', cookie), true],
    ['this machine', own, true],
    [
      'after others',
      Buffer.concat([entry(256, 'other', '', other), entry(0, '\x7f\0\0\x01', number, other), own]),
      true,
    ],
    ['cut off after it', Buffer.concat([own, own.subarray(0, 20)]), true],
    ['cut off in it', own.subarray(0, own.length - 1), false],
    ['another display', entry(256, hostname(), `${number}0`, cookie), false],
    ['another cookie', entry(256, hostname(), number, other), false],
    ['no entry', Buffer.alloc(0), false],
  ];
  for (const [what, bytes, isLetIn] of rows) {
    writeFileSync(auth, bytes);
    if (isLetIn) await t.notThrowsAsync(XServer.open(display, auth), what);
    else
      await t.throwsAsync(
        XServer.open(display, auth),
        { message: /^the X server at :\d+ refuses: (Auth|Inv|No prot)/ },
        what,
      );
  }
});

test.serial('a failed request is reported, and the connection continues if the request was awaited', async (t) => {
  const server = await XServer.open((await startXServer(t)).display);
  const getGeometryOfNothing = () => Buffer.from([14, 0, 0, 0, 0xff, 0xff, 0xff, 0x1f]);
  const message = 'the X server refused a request: BadDrawable, opcode 14.0';
  await t.throwsAsync(server.ask(getGeometryOfNothing()), { message });
  t.is((await server.ask(getInputFocus()))[0], 1);
  server.send(getGeometryOfNothing());
  await t.throwsAsync(server.ask(getInputFocus()), { message });
  t.throws(() => server.send(getInputFocus()), { message });
});

test.serial('a server that goes away is an error of what waits and of what comes after', async (t) => {
  const x = await startXServer(t);
  const server = await XServer.open(x.display);
  process.kill(x.pid, 'SIGSTOP');
  const waiting = server.ask(getInputFocus());
  process.kill(x.pid, 'SIGKILL');
  await t.throwsAsync(waiting);
  t.throws(() => server.send(getInputFocus()));
  await t.throwsAsync(XServer.open(x.display), {
    message: /^no X server is responding on display :\d+ \(connect ECONN/,
  });
});

test.serial('a server other than X is recognized', async (t) => {
  const folder = await createFolder(t);
  const answer = async (name: string, bytes: Buffer) => {
    const server = createServer((socket) => socket.end(bytes));
    t.teardown(() => server.close());
    await new Promise<void>((resolve) => server.listen(join(folder, name), resolve));
    return join(folder, name);
  };
  const silent = await answer('silent', Buffer.alloc(0));
  await t.throwsAsync(XServer.open(silent), { message: `the X server at ${silent} closed the connection immediately` });
  const other = await answer('other', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'));
  await t.throwsAsync(XServer.open(other), { message: new RegExp(`^the X server at ${other} (closed|refuses)`) });
});
