// A device in a recording: replay and shadow connect to nothing, and what the device said, refused and was away for comes back.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { record, replay } from '../../lib/command/remote/record-command.ts';
import { eventually } from '../support/deadline.ts';
import { createFolder } from '../support/folder.ts';
import { api, startHubFrom, writer } from '../support/hub.ts';
import { startPeer } from '../support/peer.ts';

const description = `{ about: 'It', frame: { end: '\\n' }, poll: '50ms', timeout: '200ms', parameters: {
  level: { type: 'I', ask: { send: 'L?', reply: 'L={value:int}' },
    write: { send: 'L={value:int}', reply: 'OK', fail: 'NO', then: 'ask' } } } }`;
const desk = { type: 'dummy', parameters: ['up,T', 'seen,I', 'ping,T', 'ok,B'] };
const up = { name: 'up', from: 'desk/up', map: "wanted('it/level') + 1", to: 'it/level' };
const seen = { name: 'seen', from: 'it/level', to: 'desk/seen' };
const ok = { name: 'ok', from: 'desk/ping', map: "fresh('it/level')", to: 'desk/ok' };

async function startRecorded(t: ExecutionContext, changed: readonly object[], more: object = {}) {
  const rig = { level: 1, connects: 0 };
  const peer = await startPeer(t, {
    end: '\n',
    greeting: () => {
      rig.connects++;
      return '';
    },
    answer(request) {
      if (request === 'L?') return `L=${rig.level}\n`;
      const value = Number(request.slice(2));
      if (value > 3) return 'NO\n';
      rig.level = value;
      return 'OK\n';
    },
  });
  const it = { type: 'device', tcp: `127.0.0.1:${peer.port}`, protocol: './it.device.json5' };
  const flow = { connections: { api, desk, it }, rules: [up, seen, ok] };
  const hub = await startHubFrom(t, { 'flow.json5': { ...flow, ...more }, 'it.device.json5': description });
  const folder = await createFolder(t, {
    'flow.json5': { connections: { desk, it }, rules: [up, seen, ok] },
    'it.device.json5': description,
    'changed/flow.json5': { connections: { desk, it }, rules: changed },
    'changed/it.device.json5': description,
  });
  await eventually(() => hub.find('it/level')?.value === 1);
  const lines: string[] = [];
  const console = { print: (line: string) => void lines.push(line), printError: t.fail };
  const file = join(folder, 'a.recording');
  const options = { url: `http://127.0.0.1:${hub.port}`, username: '', password: '', token: '', maxBytes: '1000000' };
  const has = (text: string) => eventually(async () => (await readFile(file, 'utf8').catch(() => '')).includes(text));
  const doReplay = () =>
    replay(file, [join(folder, 'flow.json5')], { flows: [join(folder, 'changed')], limit: '50' }, console);
  return { hub, rig, peer, file, options, lines, console, has, doReplay };
}

test('replay: confirmed values, refused writes and the time that the device was away come back; nothing connects', async (t) => {
  const changed = [up, seen, { ...ok, map: "!fresh('it/level')" }];
  const { hub, rig, peer, file, options, lines, console, has, doReplay } = await startRecorded(t, changed);
  const stop = Promise.withResolvers<string>();
  const recording = record(file, options, console, () => stop.promise);
  await has('"it/level"');
  hub.write('desk/up', 1, writer);
  hub.write('desk/up', 1, writer);
  await eventually(() => hub.find('desk/seen')?.value === 3);
  hub.write('desk/up', 1, writer); // refused
  await eventually(() => hub.find('it/level')?.wanted === undefined);
  hub.write('desk/ping', 1, writer);
  await peer.stop();
  await eventually(() => hub.find('it/level')?.device?.staleSince !== undefined);
  hub.write('desk/ping', 1, writer);
  await has('"desk/ping",1');
  rig.level = 2;
  await peer.start();
  await eventually(() => hub.find('desk/seen')?.value === 2 && hub.find('it/level')?.device?.staleSince === undefined);
  await has('["fresh","it"]');
  stop.resolve('');
  await recording;
  const text = await readFile(file, 'utf8');
  t.true(text.includes('["refused","it/level"]') && text.includes('["stale","it"]'));
  const connects = rig.connects;
  lines.length = 0;
  await doReplay();
  t.is(rig.connects, connects, 'no other connection');
  const of = (address: string) => lines.filter((line) => line.includes(address));
  t.deepEqual(of('desk/seen'), [], lines.join('\n'));
  t.deepEqual(of('it/level'), [], lines.join('\n'));
  t.true(of('desk/ok').length >= 2, lines.join('\n'));
});

test('replay: another write to the device is a deviation', async (t) => {
  const changed = [{ ...up, map: "wanted('it/level') + 2" }, seen, ok];
  const { hub, file, options, lines, console, has, doReplay } = await startRecorded(t, changed);
  const stop = Promise.withResolvers<string>();
  const recording = record(file, options, console, () => stop.promise);
  await has('"it/level"');
  hub.write('desk/up', 1, writer);
  await eventually(() => hub.find('desk/seen')?.value === 2);
  await has('"it/level",2');
  stop.resolve('');
  await recording;
  lines.length = 0;
  await doReplay();
  t.true(
    lines.some((line) => line.includes('it/level') && line.includes('3')),
    lines.join('\n'),
  );
});

test('shadow: a rule that does the same to a device deviates in nothing, whenever the device confirms', async (t) => {
  const more = { rules: [up, seen, ok, { ...up, name: 'again', shadow: true }] };
  const { hub, rig } = await startRecorded(t, [], more);
  const connects = rig.connects;
  hub.write('desk/up', 1, writer);
  await eventually(() => hub.find('desk/seen')?.value === 2);
  hub.write('desk/up', 1, writer);
  await eventually(() => hub.find('desk/seen')?.value === 3);
  hub.write('desk/up', 1, writer);
  await eventually(() => hub.find('it/level')?.wanted === undefined);
  const report = JSON.parse(await (await fetch(`http://127.0.0.1:${hub.port}/hub/shadow`)).text());
  t.deepEqual(report.deviations ?? [], [], JSON.stringify(report));
  t.is(rig.connects, connects, 'shadow connects to nothing');
});
