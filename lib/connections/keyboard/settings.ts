// The settings of a keyboard connection: the combinations to detect and the combinations to press (S-17).

import { z } from 'zod';
import { messageOf } from '../../model/error.ts';
import { identityOf, readCombination } from './combination.ts';
import type { Side } from './key-table.ts';

export const settingsSchema = z.strictObject({
  inputKeys: combinations('input').describe('Global hotkeys, such as ctrl-f1; each is the trigger input/<combination>'),
  outputKeys: combinations('output').describe(
    'Key combinations to press, such as ctrl-f2; output/<combination> presses them',
  ),
});
export type KeyboardSettings = z.output<typeof settingsSchema>;

function combinations(side: Side) {
  return z
    .array(
      z.string({ error: 'a key combination such as "ctrl-f1"' }).superRefine((written, context) => {
        const mistake = mistakeIn(written, side);
        if (mistake !== undefined) context.addIssue({ code: 'custom', message: mistake });
      }),
    )
    .default([])
    .superRefine((lines, context) => refuseTwice(lines, side, context))
    .transform((lines) => lines.map((written) => readCombination(written, side)));
}

function mistakeIn(written: string, side: Side): string | undefined {
  try {
    readCombination(written, side);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

function refuseTwice(lines: readonly string[], side: Side, context: z.RefinementCtx): void {
  const known = new Map<string, string>();
  lines.forEach((written, index) => {
    if (mistakeIn(written, side) !== undefined) return;
    const identity = identityOf(readCombination(written, side));
    const first = known.get(identity);
    if (first === undefined) known.set(identity, written);
    else
      context.addIssue({
        code: 'custom',
        path: [index],
        message: `expected each combination once, but "${written}" is the same as "${first}"`,
      });
  });
}
