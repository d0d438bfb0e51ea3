// Reads paths, which come percent-encoded.

import { HubError } from '../../../model/error.ts';

/** Decodes a percent-encoded path. Errors: `bad-address`. */
export function decodePath(path: string): string {
  if (!path.includes('%')) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    throw new HubError('bad-address', `expected a percent-encoded UTF-8 path, got "${path}"`);
  }
}
