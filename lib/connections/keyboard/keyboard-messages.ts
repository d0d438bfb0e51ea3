// The messages between the hub and the keyboard process. The process reports which hotkey fired, and nothing else of what a person types.
import { z } from 'zod';
import { maxKeys } from './combination.ts';

/**
 * Messages to the process. The first one has the keys of each hotkey and of each combination that may be pressed, and the codes of keys that
 * the previous process may have left down. Each further one has a combination to press; the next one follows after `pressed`.
 */
export type ToProcess =
  | {
      readonly listen: readonly (readonly string[])[];
      readonly press: readonly (readonly string[])[];
      readonly release: readonly number[];
    }
  | { readonly press: readonly string[] };

/** A combination by its position in the list of its side, and why it cannot be detected or pressed. */
const unusable = z.strictObject({ side: z.enum(['input', 'output']), place: z.int().min(0), reason: z.string() });
export type Unusable = z.output<typeof unusable>;

/**
 * Messages from the process, checked on arrival. `fired` is a position in the list of `listen`. `unusable` has all combinations for which
 * the keyboard lacks a key, before `ready` and after each change of its layout. `holding` has the codes of keys that are about to be pressed:
 * they have to be released even if the process dies. `fault` is the last message.
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
