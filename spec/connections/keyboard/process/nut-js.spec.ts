// What presses keys on Windows and macOS, here under X11.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { next } from '../../../support/keyboard/keyboard.ts';
import { startXServer } from '../../../support/keyboard/x-server.ts';

const program = join(import.meta.dirname, '../../../support/keyboard/nut-js-press.ts');

test('nut-js presses keys in order and releases them in reverse, also when one cannot be pressed', async (t) => {
  const x = await startXServer(t);
  const heard = next(await x.keys$(), 8);
  const { stdout } = await promisify(execFile)(process.execPath, [program, 'ctrl-f2', 'shift-fn-a', 'a']);
  t.deepEqual(stdout.split('\n'), ['', '[nut.js] - Error: Invalid key code specified.', '', '']);
  t.deepEqual(await heard, [
    ...['press Control_L 0', 'press F2 4', 'release F2 4', 'release Control_L 4'],
    ...['press Shift_L 0', 'release Shift_L 1', 'press a 0', 'release a 0'],
  ]);
});
