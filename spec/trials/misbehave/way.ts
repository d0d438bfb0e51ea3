// A way to misbehave, and what the log says of it.

import type { Parts } from './flow.ts';

export interface Way {
  readonly about: string;
  readonly flow: Parts;
  /** What the log says; undefined: it does no harm, so that there is nothing to say. */
  readonly told?: RegExp;
  /** The process ends, and the next start leaves the flow out. */
  readonly ends?: true;
}
