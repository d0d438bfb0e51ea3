// The warm-up of a hub that runs: it goes all the way through a hub, and leaves nothing behind; `--no-warm-up` leaves it out.

import test from 'ava';
import { warmUp } from '../../../lib/command/run/run.ts';
import { JsonBytes } from '../../../lib/connections/store/packed-rows.ts';
import { eventually } from '../../support/deadline.ts';
import { createFolder } from '../../support/folder.ts';
import { start } from '../../support/system/process.ts';
import '../../support/own-process.ts';

test.serial('a warm-up ends by itself, within its time, and leaves neither sockets nor listeners behind', async (t) => {
  const before = openSockets();
  for (const types of [new Set<string>(), new Set(['store'])]) {
    await warmUp(types);
    await eventually(() => openSockets().join() === before.join(), 'no socket of it');
  }
  t.pass();
});

test.serial('`patchbay run` warms up, unless the option is off', async (t) => {
  const folder = await createFolder(t, { 'flow.json5': { connections: { desk: { type: 'dummy' } } } });
  for (const args of [[], ['--no-warm-up']]) {
    const hub = start(t, ['--log-level', 'debug', '--log-format', 'json', folder, ...args]);
    await hub.shows(/patchbay \S+ started with/);
    if (args.length === 0) await hub.shows(/"warmed up in \d+ ms"/);
    hub.process.kill('SIGTERM');
    const { output } = await hub.ended();
    t.is(/ started with .*"warmed up in \d+ ms"/s.test(output), args.length === 0, output);
  }
});

test.serial('the warm-up of a hub with a store packs changes as the store does', async (t) => {
  const { putInteger } = JsonBytes.prototype;
  let packed = 0;
  JsonBytes.prototype.putInteger = function (integer) {
    packed++;
    putInteger.call(this, integer);
  };
  t.teardown(() => {
    JsonBytes.prototype.putInteger = putInteger;
  });
  await warmUp();
  t.is(packed, 0);
  await warmUp(new Set(['store']));
  t.true(packed > 1000, `${packed} numbers`);
});

/** The kinds of what would keep the process alive that have to do with the network. */
function openSockets(): string[] {
  return process
    .getActiveResourcesInfo()
    .filter((kind) => /TCP|Poll|Server/i.test(kind))
    .sort();
}
