// Parses percent-encoded paths, and prepares them for messages.

import { HubError } from '../../../model/error.ts';
import { printable } from '../../../model/printable.ts';

/** Decodes a percent-encoded path. Errors: `bad-address`. */
export function decodePath(path: string): string {
  if (!path.includes('%')) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    throw new HubError('bad-address', `expected a percent-encoded UTF-8 path, got "${path}"`);
  }
}

/** The prefix of the paths that end with the name of a flow file. */
const source = '/hub/source/';

/**
 * Returns a path in the form shown to people in messages: decoded if possible; for the source of a flow file, only the name of the file.
 */
export function shownPath(url: string): string {
  let path = url;
  try {
    path = decodePath(url);
  } catch {} // shown as received
  path = printable(path);
  return path.startsWith(source) ? path.slice(source.length) : path;
}
