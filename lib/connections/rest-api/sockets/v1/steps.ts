// Work for one client that goes on as fast as the client reads, in steps: each sends what it finds, whatever room there is.

/** What stops it. */
export type Stopped = 'done' | 'full' | 'more';

/** Goes on until a time, until the client has no room, or until there is no more: a step returns whether there may be. */
export function stepUntil(endMs: number, client: { readonly isFull: boolean }, step: () => boolean): Stopped {
  for (;;) {
    if (client.isFull) return 'full';
    if (!step()) return 'done';
    if (performance.now() >= endMs) return 'more';
  }
}
