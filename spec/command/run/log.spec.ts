// `patchbay run` whose log cannot be written: clients are served, operators read of it at /hub/health and /hub/log, the hub
// ends in time.

import { spawn } from 'node:child_process';
import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs';
import test from 'ava';
import { makeFifo } from '../../support/folder.ts';
import { startUnreadHub } from '../../support/system/unread-log.ts';

const { O_RDONLY, O_NONBLOCK } = constants;

/** Almost all that a pipe holds: a hub of so many connections has more to say than there is room for. */
const filling = '\n'.repeat(60_000);
const count = 200;

test.serial('an unread pipe neither stops the hub nor prevents its end; waiting lines are read later', async (t) => {
  const path = await makeFifo(t);
  const reader = openSync(path, O_RDONLY | O_NONBLOCK);
  t.teardown(() => closeSync(reader));
  const writer = openSync(path, 'w');
  writeSync(writer, filling);
  const { ask, until, stop } = await startUnreadHub(t, count, (program, args) =>
    spawn(program, args, { stdio: ['ignore', writer, 'inherit'] }),
  );
  closeSync(writer);
  const { status, log } = await until((health) => health.log.state === 'degraded');
  t.deepEqual(
    { status, log },
    { status: 'degraded', log: { state: 'degraded', reason: 'nothing is reading the output', lost: 0 } },
  );
  t.regex(await ask('/hub/log?level=warn'), /the log cannot be written: nothing is reading the output/);
  t.is(await ask('/update?parameter=desk-7/a&value=7'), 'OK');
  const bytes = Buffer.alloc(1024 * 1024);
  let text = '';
  const read = () => {
    try {
      text += bytes.toString('utf8', 0, readSync(reader, bytes));
    } catch {} // nothing there yet
  };
  const reading = setInterval(read, 5);
  t.teardown(() => clearInterval(reading));
  t.is((await until((health) => health.log.state === 'running')).status, 'ok');
  clearInterval(reading);
  const ended = await stop();
  t.is(ended.status, 0);
  t.true(ended.ms < 2000, `${ended.ms} ms`);
  read();
  const messages = text
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { msg: string }).msg);
  t.is(messages.filter((message) => /^connection "desk-\d+" is running$/.test(message)).length, count);
  t.is(messages.filter((message) => /^the log can be written again; 0 lines were lost/.test(message)).length, 1);
  t.deepEqual(messages.slice(-2), ['stopping: SIGTERM', 'stopped']);
});

test.serial('a hub with an unread pipe ends in two seconds', async (t) => {
  const path = await makeFifo(t);
  const reader = openSync(path, O_RDONLY | O_NONBLOCK);
  t.teardown(() => closeSync(reader));
  const writer = openSync(path, 'w');
  writeSync(writer, filling);
  const { until, stop } = await startUnreadHub(t, count, (program, args) =>
    spawn(program, args, { stdio: ['ignore', writer, 'inherit'] }),
  );
  closeSync(writer);
  await until((health) => health.log.state === 'degraded');
  const { status, ms } = await stop();
  t.is(status, 0);
  t.true(ms < 2000, `${ms} ms`);
});

test.serial('a disk without room', async (t) => {
  const full = openSync('/dev/full', 'w');
  const { ask, until, stop } = await startUnreadHub(t, 1, (program, args) =>
    spawn(program, args, { stdio: ['ignore', full, 'inherit'] }),
  );
  closeSync(full);
  const { log } = await until((health) => health.log.state === 'degraded');
  t.is(log.reason, 'no space left on device (ENOSPC)');
  t.is(await ask('/update?parameter=desk-0/a&value=7'), 'OK');
  const { status, ms } = await stop();
  t.is(status, 0);
  t.true(ms < 2000, `${ms} ms`);
});

test.serial('a pipe whose reader has gone', async (t) => {
  const { ask, until, stop } = await startUnreadHub(t, 1, (program, args) => {
    const hub = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    hub.stdout!.destroy();
    return hub;
  });
  const { log } = await until((health) => health.log.state === 'degraded');
  t.is(log.reason, 'broken pipe (EPIPE)');
  t.is(await ask('/update?parameter=desk-0/a&value=7'), 'OK');
  t.is((await stop()).status, 0);
});
