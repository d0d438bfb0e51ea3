// `patchbay reload` and `patchbay shadow`, and what HTTP says of rules in shadow.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { reload, shadow } from '../../../lib/command/remote/shadow-command.ts';
import { explain } from '../../../lib/command/remote/why-command.ts';
import { eventually } from '../../support/deadline.ts';
import { api, startTestHub, writer } from '../../support/hub.ts';

test('an operator tries a change in shadow, sees its effect, and applies it', async (t) => {
  const flow = (map: string) => ({
    connections: { api, desk: { type: 'dummy', parameters: ['mic,B,false', 'lamp,B', 'bell,T', 'ding,T'] } },
    rules: [
      { name: 'lamp', from: 'desk/mic', map, to: 'desk/lamp' },
      { name: 'ding', from: 'desk/bell', to: 'desk/ding', shadow: true },
    ],
  });
  const hub = await startTestHub(t, flow('value'));
  const options = { url: `http://127.0.0.1:${hub.port}`, username: '', password: '', token: '' };
  const lines: string[] = [];
  const console = {
    print: (line: string) =>
      void lines.push(line.replace(/\d\d:\d\d:\d\d\.\d{3}/g, 'T').replaceAll(`${hub.folder}/`, '')),
    printError: t.fail,
  };
  const printed = () => lines.splice(0);

  await shadow(options, console);
  t.deepEqual(printed(), ['in shadow since T: ding', 'no differences']);
  await writeFile(join(hub.folder, 'flow.json5'), JSON.stringify(flow('!value')));
  await reload({ ...options, shadow: true }, console);
  t.deepEqual(printed(), [
    'in shadow since T: lamp, ding',
    'later changes run in shadow as well, until `patchbay reload`',
  ]);
  hub.write('desk/mic', true, writer);
  hub.write('desk/bell', 1, writer);
  await eventually(async () => {
    printed();
    await shadow(options, console);
    return lines.length === 5;
  });
  t.deepEqual(printed(), [
    'in shadow since T: lamp, ding',
    'T  desk/lamp = true by rule "lamp" (flow.json5), would be false by rule "lamp" (flow.json5)',
    'T  desk/ding did not fire, would have fired once by rule "ding" (flow.json5)',
    'desk/lamp: 1 deviation, different now',
    'desk/ding: 1 deviation, the same now',
  ]);
  await explain('desk/lamp', options, console);
  t.deepEqual(printed(), [
    'T  desk/lamp = true, set by rule "lamp" (flow.json5)',
    'T    desk/mic = true (was false), set by client spec',
    'in shadow, it would be false:',
    'T  desk/lamp = false, set by rule "lamp" (flow.json5)',
    'T    desk/mic = true (was false), set by client spec',
  ]);
  await explain('desk/ding', options, console);
  t.deepEqual(printed()[0], 'desk/ding: the state is unknown');
  await reload(options, console);
  t.deepEqual(printed(), ['rules changed: lamp']);
  await shadow({ ...options, json: true }, console);
  t.like(JSON.parse(printed()[0]!), { kind: 'rules', rules: ['ding'], count: 0 });

  await writeFile(join(hub.folder, 'flow.json5'), JSON.stringify(flow('!valu')));
  await t.throwsAsync(reload(options, console), { message: /^reload failed: .*did you mean/ });
});
