// The messages between the hub and the process that opens MIDI ports.

import { z } from 'zod';

/** The port to open: system ports by name, a new port for other programs, or raw devices by path. */
export interface PortTask {
  readonly port?: Sides;
  readonly virtual?: string;
  readonly path?: Sides;
}

interface Sides {
  readonly in?: string | undefined;
  readonly out?: string | undefined;
}

export type ToProcess = PortTask | { readonly send: Uint8Array } | { readonly taken: number };

/** What the process reports. `received` is a part of the stream, and `dropped` is the number of bytes that the hub did not take in time. */
export const fromProcess = z.union([
  z.strictObject({ opened: z.literal(true) }),
  z.strictObject({ alive: z.literal(true) }),
  z.strictObject({ received: z.instanceof(Uint8Array), dropped: z.number() }),
  z.strictObject({ fault: z.string() }),
]);
export type FromProcess = z.output<typeof fromProcess>;

/** The maximum size of a part, and the maximum number of bytes that the hub has not taken yet. */
export const maxPartBytes = 4096;
export const maxUntakenBytes = 65_536;
/** The maximum number of bytes that a raw device has not taken yet. When it is exceeded, the link ends. */
export const maxUnwrittenBytes = 65_536;
/** How often the process shows that it is alive, in milliseconds. */
export const aliveEveryMs = 1000;
