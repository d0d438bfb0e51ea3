// The messages between the hub and the keyboard process. The process reports which hotkeys have fired but no other keyboard input.
import { z } from 'zod';
import { maxKeys } from './combination.ts';

/**
 * The messages to the process. The first message contains the keys of each hotkey and of each combination that may be pressed, and the
 * codes of keys that the previous process may have left down. Each further message contains a combination to press, and is sent only after
 * `pressed` has confirmed the previous combination.
 */
export type ToProcess =
  | {
      readonly listen: readonly (readonly string[])[];
      readonly press: readonly (readonly string[])[];
      readonly release: readonly number[];
    }
  | { readonly press: readonly string[] };

/**
 * A combination that cannot be detected or pressed, with the reason. The combination is identified by its index in the list for its side.
 */
const unusable = z.strictObject({ side: z.enum(['input', 'output']), place: z.int().min(0), reason: z.string() });
export type Unusable = z.output<typeof unusable>;

/**
 * The messages from the process, which are checked on arrival. `fired` is an index in the list `listen`. `unusable` contains all
 * combinations for which the keyboard lacks a key; it is sent before `ready` and after each change of the layout. `holding` contains the
 * codes of keys that are about to be pressed, and that must be released even if the process dies. `fault` is the last message.
 */
export const fromProcess = z.union([
  z.strictObject({ opening: z.string() }),
  z.strictObject({ ready: z.literal(true) }),
  z.strictObject({ fired: z.int().min(0) }),
  z.strictObject({ unusable: z.array(unusable).readonly() }),
  z.strictObject({ holding: z.array(z.int().min(0)).max(maxKeys).readonly() }),
  z.strictObject({ pressed: z.literal(true), failure: z.string() }),
  z.strictObject({ fault: z.string() }),
]);
export type FromProcess = z.output<typeof fromProcess>;
