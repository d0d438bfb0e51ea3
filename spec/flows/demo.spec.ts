// The demo with all seven connection types, run as operators run it: a hub process, a real X server,
// real files, HTTP and WebSocket.

import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import test from 'ava';
import { firstValueFrom, fromEvent, interval, type Observable } from 'rxjs';
import { concatMap, filter, map, take, timeout } from 'rxjs/operators';
import { deadlineMs } from '../support/deadline.ts';
import { startXServer } from '../support/keyboard/x-server.ts';
import { startHubProcess } from '../support/system/hub-process.ts';

const demo = readFileSync(resolve(import.meta.dirname, '../../flows/demo.json5'), 'utf8'); // a wait would have the test declared too late

const soon = <T>(stream$: Observable<T>) => firstValueFrom(stream$.pipe(timeout(deadlineMs)));

test('all seven types run together and are driven from outside', async (t) => {
  const x = await startXServer(t);
  const hub = await startHubProcess(t, demo.replace('port: 17011', "port: 0, bindIp: '127.0.0.1'"), {
    display: x.display,
  });
  await hub.logged(/connection "keys" is running/);
  const get = (address: string) => hub.get(`/parameters/${address}`);
  const becomes = (address: string, value: string) =>
    soon(
      interval(20).pipe(
        concatMap(() => get(address)),
        filter((text) => text === value),
      ),
    );

  const socket = new WebSocket(new URL('/ws?filter=desk/blinker', hub.url.replace('http', 'ws')));
  t.teardown(() => socket.close());
  const frames$ = fromEvent<MessageEvent>(socket, 'message').pipe(map(({ data }) => JSON.parse(data as string)));
  t.like(await soon(frames$.pipe(take(1))), { p: 'desk/blinker' });

  t.is(await get('desk/mic-open'), 'false');
  await x.xdotool('key', 'ctrl+F1');
  await becomes('desk/mic-open', 'true');
  await becomes('desk/red-light', 'true');
  t.is(await get('desk/message'), 'ON AIR');
  const file = join(hub.folder, 'onair.xml');
  await soon(
    interval(20).pipe(
      concatMap(() => readFile(file, 'utf8').catch(() => '')),
      filter((text) => text === '<status red-light="true">ON AIR</status>'),
    ),
  );
  await x.xdotool('key', 'ctrl+F1');
  await becomes('desk/mic-open', 'false');
  t.is(await get('desk/red-light'), 'true');
  await becomes('desk/red-light', 'false');

  t.is(await hub.get('/update?parameter=desk/doorbell&value=1'), 'OK');
  t.is(await get('desk/door-lamp'), 'true');
  await becomes('desk/door-lamp', 'false');

  const pressed$ = (await x.keys$()).pipe(filter((line) => line.startsWith('press F2')));
  const pressed = soon(pressed$);
  t.is(await hub.get('/update?parameter=keys/output/ctrl-f2&value=1'), 'OK');
  t.regex(await pressed, /^press F2/);
});
