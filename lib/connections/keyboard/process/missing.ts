// What the operator reads when an optional package is not there.

import { messageOf } from '../../../model/error.ts';

/** Errors: always. */
export function missing(library: string): (error: unknown) => never {
  return (error) => {
    throw new Error(`the optional package ${library} is not installed or does not load: ${messageOf(error)}`);
  };
}
