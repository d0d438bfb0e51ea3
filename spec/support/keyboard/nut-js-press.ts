// Presses combinations by nut-js, in a process that the library may end: node nut-js-press.ts ctrl-f2 shift-a. Prints why each
// of them failed, empty: it did not.

import { readCombination } from '../../../lib/connections/keyboard/combination.ts';
import { openNutJs } from '../../../lib/connections/keyboard/process/desktop-keyboard.ts';
import { pressCombination } from '../../../lib/connections/keyboard/process/hotkeys.ts';

const presser = await openNutJs();
for (const written of process.argv.slice(2)) {
  const { keys } = readCombination(written, 'output');
  console.log(await pressCombination(presser, await presser.find(keys)));
}
process.exit();
