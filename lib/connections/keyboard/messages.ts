// What the hub and the keyboard's own process say to each other. Which keys a person presses stays in that process: it
// tells nothing but which hotkey fired.

import { z } from 'zod';
import { maxKeys } from './combination.ts';

/**
 * To the process. First of all `listen`: the keys of each hotkey, whether there will be presses, and the codes of the keys
 * that its predecessor may have left down. Then `press`: the keys of one combination; the next follows upon `pressed`.
 */
export type ToProcess =
  | { readonly listen: readonly (readonly string[])[]; readonly presses: boolean; readonly release: readonly number[] }
  | { readonly press: readonly string[] };

/**
 * From the process, checked on arrival; `fired` is a place in the list of `listen`, `fault` its last words. `holding` are
 * the codes of the keys that the press under way is about to press: whatever happens to it, they have to be released.
 */
export const fromProcess = z.union([
  z.strictObject({ opening: z.string() }),
  z.strictObject({ ready: z.literal(true) }),
  z.strictObject({ fired: z.int().min(0) }),
  z.strictObject({ holding: z.array(z.int().min(0)).max(maxKeys).readonly() }),
  z.strictObject({ pressed: z.literal(true), failure: z.string() }),
  z.strictObject({ fault: z.string() }),
]);
export type FromProcess = z.output<typeof fromProcess>;
