// Key combinations in flow files: what is read, and the words for what is not.

import test from 'ava';
import { identityOf, readCombination } from '../../../lib/connections/keyboard/combination.ts';
import { keyboard } from '../../../lib/connections/keyboard/keyboard.ts';
import { loadFlows } from '../../../lib/hub/index.ts';
import { createFolder } from '../../support/folder.ts';

for (const [written, keys] of [
  ['ctrl-f1', ['ctrl', 'f1']],
  ['F1-Ctrl', ['f1', 'ctrl']],
  ['shift-alt-a', ['shift', 'alt', 'a']],
  ['media-play', ['media-play']],
  ['ctrl-media-play', ['ctrl', 'media-play']],
  ['volume-up-up', ['volume-up', 'up']],
  ['lctrl-rctrl-minus', ['lctrl', 'rctrl', 'minus']],
] as const)
  test(`reads ${written}`, (t) => t.deepEqual(readCombination(written, 'output'), { written, keys: [...keys] }));

for (const [written, message] of [
  ['ctlr-f1', 'unknown key "ctlr" in "ctlr-f1" (string), did you mean "ctrl"?'],
  ['ctrl-f25', 'unknown key "f25" in "ctrl-f25" (string), did you mean "f2"?'],
  ['media-plya', 'unknown key "media-plya" in "media-plya" (string), did you mean "media-play"?'],
  ['ctrl--', 'unknown key "" in "ctrl--" (string), did you mean "minus"?'],
  ['', 'unknown key "" in "" (string), did you mean "minus"?'],
  ['control-/', 'unknown key "control" in "control-/" (string), did you mean "ctrl"?'],
  ['ctrl+f1', 'unknown key "ctrl+f1" in "ctrl+f1" (string); see patchbay keys'],
  ['constructor', 'unknown key "constructor" in "constructor" (string); see patchbay keys'],
  ['quantisation', 'unknown key "quantisation" in "quantisation" (string); see patchbay keys'],
  ['ctrl-ctrl', 'expected each key once, got "lctrl" twice in "ctrl-ctrl" (string)'],
  ['ctrl-rctrl-a', 'expected each key once, got "rctrl" twice in "ctrl-rctrl-a" (string)'],
  ['a-b-c-d-e-f-g-h-i', 'expected at most 8 keys, got 9 in "a-b-c-d-e-f-g-h-i" (string)'],
] as const)
  test(`refuses "${written}"`, (t) => {
    t.throws(() => readCombination(written, 'input'), { code: 'bad-flow', message });
  });

test('a key that no platform hears is refused as a hotkey', (t) => {
  t.notThrows(() => readCombination('ctrl-fn', 'output'));
  t.throws(() => readCombination('ctrl-fn', 'input'), {
    message: 'expected a key that can be detected, but "fn" can only be pressed (an output key)',
  });
  for (const side of ['input', 'output'] as const)
    for (const key of ['pause', 'media-pause', 'media-eject', 'intlbackslash'])
      t.notThrows(() => readCombination(`ctrl-${key}`, side));
});

test('two spellings of one combination are the same, of two they are not', (t) => {
  const identity = (written: string) => identityOf(readCombination(written, 'input'));
  t.is(identity('ctrl-f1'), identity('F1-Ctrl'));
  t.not(identity('ctrl-f1'), identity('lctrl-f1'));
});

test('parameters are named as the author wrote the combinations', (t) => {
  const settings = keyboard.settingsSchema.parse({ inputKeys: ['Ctrl-F1'], outputKeys: ['ctrl-f1', 'media-play'] });
  t.deepEqual(keyboard.parameters(settings, String), [
    { id: 'input/Ctrl-F1', type: 'T', access: 'read-only' },
    { id: 'output/ctrl-f1', type: 'T', access: 'write-only' },
    { id: 'output/media-play', type: 'T', access: 'write-only' },
  ]);
});

test('every mistake of a flow file is reported at once, with its place', async (t) => {
  const folder = await createFolder(t, {
    'flow.json5': {
      connections: {
        keys: {
          type: 'keyboard',
          inputKeys: ['ctrl-f1', 'f2', 'ctlr-a', 7, 'fn'],
          outputKeys: ['pause', 'ctrl-f2', 'F2-Ctrl'],
        },
      },
    },
  });
  const { message } = (await t.throwsAsync(loadFlows([folder]), { code: 'bad-flow' }))!;
  const reported = message.split('\n').map((line) => line.replace(/^.*?: connections\.keys\./, ''));
  t.deepEqual(reported, [
    'inputKeys[2]: unknown key "ctlr" in "ctlr-a" (string), did you mean "ctrl"?',
    'inputKeys[3]: expected a key combination such as "ctrl-f1", got 7 (number)',
    'inputKeys[4]: expected a key that can be detected, but "fn" can only be pressed (an output key)',
    'outputKeys[2]: expected each combination once, but "F2-Ctrl" is the same as "ctrl-f2"',
  ]);
});
