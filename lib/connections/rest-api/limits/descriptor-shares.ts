// Each connection costs a descriptor, and so does each long file that is being sent. The process has only so many. Of those that are
// free at the start, three quarters are for connections and an eighth is for files; the rest stays free for everything else.

import { descriptorLimit, openDescriptors } from '../../../net/descriptors.ts';

/** How much of what is free at the start is for connections. */
const share = 0.75;
/** How much of the rest is for files that are being sent. */
const fileShare = 0.5;

let free: number | undefined;
let openFiles = 0;

/** How many descriptors were free when the first REST API started; infinite where the system does not limit them. */
function freeDescriptors(): number {
  free ??= Math.max(8, descriptorLimit() - openDescriptors());
  return free;
}

/** How many connections there may be at once, of all REST APIs together. */
export function maxConnections(): number {
  return Math.floor(freeDescriptors() * share);
}

/** Takes a descriptor for a file that is sent as slowly as its reader reads; false: too many of them are taken. */
export function takeFile(): boolean {
  if (openFiles >= freeDescriptors() * (1 - share) * fileShare) return false;
  openFiles++;
  return true;
}

export function giveFileBack(): void {
  openFiles--;
}
