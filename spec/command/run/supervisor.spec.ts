// What systemd hears of a hub, by systemd's own program: it runs, its event loop turns, it stops.

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import test from 'ava';
import { eventually } from '../../support/deadline.ts';
import { createFolder } from '../../support/folder.ts';
import { needs } from '../../support/programs.ts';
import { dependent } from '../../support/system/dependent.ts';
import { runWithoutDescriptors } from '../../support/system/no-descriptors.ts';
import { start } from '../../support/system/process.ts';

needs('systemd-notify', 'python3');

/** Prints the datagrams that a socket is sent, one a line. */
const listen = `import socket, sys
heard = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
heard.bind(sys.argv[1])
print('listens', flush=True)
while True: print(heard.recv(4096).decode(), flush=True)`;

test('systemd learns that the hub runs, that its event loop turns, and that it stops', async (t) => {
  const folder = await createFolder(t, {
    'flow.json5': { connections: { desk: { type: 'dummy', parameters: ['lamp,B'] } } },
  });
  const socket = join(folder, 'notify');
  const listener = spawn(...dependent('/usr/bin/python3', ['-c', listen, socket]));
  t.teardown(() => listener.kill());
  const heard: string[] = [];
  createInterface(listener.stdout).on('line', (line) => heard.push(line.trim()));
  const count = (state: string) => heard.filter((one) => one === state).length;
  await eventually(() => count('listens') === 1, 'a socket');

  const env = { NOTIFY_SOCKET: socket, WATCHDOG_USEC: '400000' };
  const hub = start(t, ['run', join(folder, 'flow.json5'), '--log-format', 'json'], { env });
  await eventually(() => count('WATCHDOG=1') >= 2, 'signs of life');
  t.is(
    heard.find((one) => one.includes('=')),
    'READY=1',
  );
  t.is(count('READY=1'), 1);

  hub.process.kill('SIGTERM');
  t.like(await hub.ended(), { status: 0 });
  await eventually(() => count('STOPPING=1') === 1, 'the end');
});

test('if no process can be created, because all descriptors are used, systemd gets no message and the hub continues', async (t) => {
  const reported = await runWithoutDescriptors(
    'command/run/run-supervisor.ts',
    `const supervisor = imported.createSupervisor({ NOTIFY_SOCKET: '/nowhere' });
     supervisor.ready();
     setImmediate(() => {
       supervisor.stopping();
       console.log('goes on');
     });`,
  );
  t.is(reported, 'goes on\n');
});
