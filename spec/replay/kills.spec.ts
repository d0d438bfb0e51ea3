// A kill of the recorder or of the hub, in the middle of everything, leaves a recording that replays up to then.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { record, replay } from '../../lib/command/remote/record-command.ts';
import { counted } from '../../lib/model/digits.ts';
import { openRecording } from '../../lib/replay/replay.ts';
import { eventually } from '../support/deadline.ts';
import { createFolder } from '../support/folder.ts';
import { api } from '../support/hub.ts';
import { openClient } from '../support/sockets/socket.ts';
import { startHubProcess } from '../support/system/hub-process.ts';
import { start } from '../support/system/process.ts';

const desk = { type: 'dummy', parameters: ['count,I', 'double,I'] };
const rules = [{ name: 'double', from: 'desk/count', map: 'value * 2', to: 'desk/double' }];
const other = [{ ...rules[0], map: 'value * 2 + 1' }];

test('recordings of a killed recorder and of a killed hub are complete up to then, and replay', async (t) => {
  const hub = await startHubProcess(t, { connections: { api, desk }, rules });
  const folder = await createFolder(t, {
    'flow.json5': { connections: { desk }, rules },
    'changed/flow.json5': { connections: { desk }, rules: other },
  });
  const [first, second] = [join(folder, 'first.recording'), join(folder, 'second.recording')];
  const console = { print: () => {}, printError: t.fail };
  const options = { url: hub.url, username: '', password: '', token: '', maxBytes: '100000000' };
  const recorder = start(t, ['record', first, '--url', hub.url]);
  const lost = t.throwsAsync(record(second, options, console, () => new Promise(() => {})));
  const size = async (file: string) => (await readFile(file, 'utf8').catch(() => '')).length;
  await eventually(async () => (await size(first)) > 0 && (await size(second)) > 0);

  const client = await openClient(t, hub.port);
  let sent = 0;
  const sending = setInterval(() => {
    for (let count = 0; count < 20; count++) client.send({ p: 'desk/count', v: ++sent });
  }, 2);
  t.teardown(() => clearInterval(sending));
  await eventually(async () => (await size(first)) > 20_000);
  const before = await size(first);
  recorder.process.kill('SIGKILL');
  t.is((await recorder.ended()).signal, 'SIGKILL');
  const recorded = await countsOf(first);
  t.true((await size(first)) >= before && recorded > 200, `${recorded}`);

  await eventually(async () => (await size(second)) > 2 * (await size(first)));
  hub.process.kill('SIGKILL');
  t.regex((await lost)!.message, /second\.recording: recording failed after \d+ bytes: /);
  t.true((await countsOf(second)) > recorded);

  for (const file of [first, second]) {
    const lines: string[] = [];
    const flows = { flows: [join(folder, 'changed')], limit: '1' };
    t.is(await replay(file, [join(folder, 'flow.json5')], flows, { ...console, print: (line) => lines.push(line) }), 0);
    const count = await countsOf(file);
    t.true(lines.at(-1)!.endsWith(`and ${counted(count, 'external write')}`), lines.join('\n'));
    t.regex(lines.at(-2)!, /^desk\/double: [\d,]+ deviations, different at the end$/);
  }
});

/** The last number of a recording, which has all of them from 1 on. Errors: those of the recording, and one that is missing. */
async function countsOf(file: string): Promise<number> {
  let last = 0;
  for await (const { w } of (await openRecording(file)).turns)
    for (const [, value] of w) if (value !== ++last) throw new Error(`${file}: expected ${last}, got ${value}`);
  return last;
}
