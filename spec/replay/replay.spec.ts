// Record and replay: what a file holds and how it is damaged. That what changes in shadow is what then occurs is for `npm run trial -- shadow`.

import { once } from 'node:events';
import { appendFile, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { record, replay } from '../../lib/command/remote/record-command.ts';
import { maxUnsentBytes } from '../../lib/connections/rest-api/endpoints/record.ts';
import { limits } from '../../lib/connections/rest-api/limits/client-limits.ts';
import { openRecording } from '../../lib/replay/replay.ts';
import { encodeLine } from '../../lib/wire/recording.ts';
import { eventually } from '../support/deadline.ts';
import { createFolder } from '../support/folder.ts';
import { api, startTestHub, writer } from '../support/hub.ts';
import { oddFiles } from '../support/odd-file.ts';

const desk = { type: 'dummy', parameters: ['mic,B,false', 'lamp,B,false', 'bell,T'] };
const rule = { name: 'lamp', from: 'desk/mic', to: 'desk/lamp' };

/** A hub that is recorded while somebody presses Mic; the lines that commands print, without times. */
async function startRecorded(t: ExecutionContext) {
  const hub = await startTestHub(t, { connections: { api, desk }, rules: [rule] });
  const folder = await createFolder(t, {
    'flow.json5': { connections: { desk }, rules: [rule] },
    'changed/flow.json5': { connections: { desk }, rules: [{ ...rule, map: '!value' }] },
  });
  const lines: string[] = [];
  const console = {
    print: (line: string) => void lines.push(line.replace(/^.*\d\d:\d\d:\d\d\.\d{3} {2}/, '').replaceAll(folder, '')),
    printError: t.fail,
  };
  const file = join(folder, 'a.recording');
  const options = { url: `http://127.0.0.1:${hub.port}`, username: '', password: '', token: '', maxBytes: '1000000' };
  const has = (text: string) => eventually(async () => (await readFile(file, 'utf8').catch(() => '')).includes(text));
  const doReplay = () =>
    replay(file, [join(folder, 'flow.json5')], { flows: [join(folder, 'changed')], limit: '10' }, console);
  return { hub, file, options, lines, console, has, doReplay };
}

test('a recording of a running hub shows the effect of a change; damage is reported with its line', async (t) => {
  const { hub, file, options, lines, console, has, doReplay } = await startRecorded(t);
  const stop = Promise.withResolvers<string>();
  const recording = record(file, options, console, () => stop.promise);
  await has('"desk/lamp"');
  hub.write('desk/mic', true, writer);
  hub.turn(() => {
    hub.write('desk/mic', true, writer);
    hub.write('desk/bell', 1, writer);
  });
  await has('"desk/bell"');
  stop.resolve('SIGINT');
  t.is(await recording, 0);
  t.regex(lines.splice(0)[0]!, /^\/a\.recording: \d+ bytes, stopped$/);
  await t.throwsAsync(
    record(file, options, console, () => stop.promise),
    { message: /cannot create the file: / },
  );

  const text = await readFile(file, 'utf8');
  t.regex(text, /"w":\[\["desk\/mic",true,"client","spec"\],\["desk\/bell",1,"client","spec"\]\]/);
  t.notRegex(text, /"w":\[\["desk\/lamp/, 'rules make it again');
  t.is(await doReplay(), 0);
  const reported = lines.splice(0);
  t.deepEqual(reported.slice(0, -1), [
    'desk/lamp = true by rule "lamp" (/flow.json5), would be false by connection desk',
    'desk/lamp: 1 deviation, different at the end',
  ]);
  t.regex(reported.at(-1)!, /^1 deviation in \d+ s, \d+ turns and 3 external writes$/);

  await appendFile(file, '0badf00d {"t":');
  t.is(await doReplay(), 0, 'a kill has cut the last line');
  const all = text.split('\n');
  const at = all.findIndex((line) => line.includes('desk/bell'));
  await writeFile(file, all.with(at, all[at]!.replace('true', 'tru3')).join('\n'));
  await t.throwsAsync(doReplay(), {
    message: `${file}:${at + 1}: expected a readable line: the recording is damaged here`,
  });
  await writeFile(file, all.slice(1).join('\n'));
  await t.throwsAsync(doReplay(), { message: /recording:1: expected the first line of a recording/ });
});

test('an invalid recording is refused with its path: a file of another kind, and an unterminated line', async (t) => {
  const folder = await createFolder(t, {});
  const path = join(folder, 'a.recording');
  const refuse = (message: RegExp) => t.throwsAsync(openRecording(path), { message });
  await refuse(/a\.recording: expected a recording, got none$/);
  for (const odd of oddFiles.filter(({ kind }) => !kind.startsWith('a huge') && !kind.includes('without a size'))) {
    await odd.make(path, t);
    await refuse(new RegExp(`a\\.recording: expected a recording, got .*${odd.reported.source}$`));
    await rm(path, { recursive: true });
    await rm(`${path}.target`, { force: true });
  }
  await writeFile(path, '');
  await truncate(path, 700 * 1024 * 1024);
  await refuse(/a\.recording:1: expected the first line of a recording/);
});

test('above the maximum number of deviations it reports the number of omitted ones', async (t) => {
  const folder = await createFolder(t, {
    'flow.json5': { connections: { desk }, rules: [rule] },
    'changed.json5': { connections: { desk }, rules: [{ ...rule, map: '!value' }] },
  });
  const turns = Array.from({ length: 7 }, (_, t) => ({ t, w: [['desk/mic', t % 2 === 0, 'client', 'a']] as const }));
  const file = join(folder, 'a.recording');
  await writeFile(file, [{ recording: 1, hub: 'a', time: 0, values: 0 } as const, ...turns].map(encodeLine).join(''));
  const lines: string[] = [];
  const console = { print: (line: string) => void lines.push(line), printError: t.fail };
  const options = { flows: [join(folder, 'changed.json5')], limit: '2', most: 3 };
  t.is(await replay(file, [join(folder, 'flow.json5')], options, console), 0);
  t.is(lines[0], 'only the newest 3 of 7 deviations were kept');
  t.deepEqual(
    lines.slice(1, 3).map((line) => Number(/\.(\d{3})/.exec(line)![1])),
    [4, 5],
  );
  t.deepEqual(lines.slice(3), [
    '… and 1 more: raise --limit to show all',
    'desk/lamp: 7 deviations, different at the end',
    '7 deviations in 0 s, 7 turns and 7 external writes',
  ]);
});

test('a recording has a limit; its end is reported, and the recording until then can be replayed', async (t) => {
  const { hub, file, options, lines, console, has, doReplay } = await startRecorded(t);
  const never = () => new Promise(() => {});
  const full = record(file, { ...options, maxBytes: '600' }, console, never);
  await has('"desk/lamp"');
  for (let press = 1; press < 40; press++) hub.write('desk/mic', press % 2 === 1, writer);
  t.is(await full, 0);
  t.regex(lines.splice(0)[0]!, /^\/a\.recording: [45]\d\d bytes, the limit of 600 bytes was reached$/);
  t.is(await doReplay(), 0);
  await t.throwsAsync(record(`${file}2`, { ...options, for: 'x' }, console, never), {
    message: /^--for: expected milliseconds or a duration/,
  });

  const lost = record(`${file}3`, options, console, never);
  await eventually(async () => (await readFile(`${file}3`, 'utf8').catch(() => '')) !== '');
  await hub.stop();
  await t.throwsAsync(lost, { message: /recording failed after \d+ bytes: / });
});

test('a client that does not read its recording loses it, and more than four at a time are refused; both are reported', async (t) => {
  const text = { type: 'dummy', parameters: ['text'] };
  const hub = await startTestHub(t, { connections: { api, text } });
  const sockets = await Promise.all(
    Array.from({ length: limits.recordings.default }, async () => {
      const socket = connect(hub.port, '127.0.0.1').on('error', () => {});
      t.teardown(() => socket.destroy());
      socket.write(`GET /hub/record HTTP/1.1\r\nHost: 127.0.0.1:${hub.port}\r\n\r\n`);
      await once(socket, 'data');
      return socket;
    }),
  );
  const refused = await fetch(`http://127.0.0.1:${hub.port}/hub/record`);
  t.is(refused.status, 409);
  t.regex(await refused.text(), /record: expected at most 4 recordings at a time, got more/);
  const [stuck, ...others] = sockets;
  for (const one of others) one.destroy();
  stuck!.pause();
  const long = 'x'.repeat(65_000);
  let isEnded = false;
  const ended = hub.logged(/recording ended/).finally(() => {
    isEnded = true;
  });
  for (let count = 0; !isEnded && count < 10_000; count++) {
    hub.write('text/text', `${count}${long}`, writer);
    if (count % 20 === 0) await setImmediate();
  }
  t.is(await ended, `recording ended: the client left ${maxUnsentBytes / 2 ** 20} MB unread`);
});
