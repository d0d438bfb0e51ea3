// What whoever asks may see.

import { globToRegExp } from '../../../model/glob.ts';
import type { Sight } from '../../archive.ts';

/** Tells whether a recorded address may be seen. */
export type Sees = (address: string) => boolean;

/** Without a sight all may be seen. */
export function createSight(sight: Sight | undefined): Sees {
  if (sight === undefined) return () => true;
  const [read, deny] = [sight.read, sight.deny].map((globs) => globs.map(globToRegExp)) as [RegExp[], RegExp[]];
  const known = new Map<string, boolean>();
  return (address) => {
    let isSeen = known.get(address);
    if (isSeen === undefined) {
      isSeen = read.some((one) => one.test(address)) && !deny.some((one) => one.test(address));
      known.set(address, isSeen);
    }
    return isSeen;
  };
}
