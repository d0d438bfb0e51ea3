// An address has the form `<Connection ID>/<Parameter ID>`. This file defines the valid forms of both parts (D-01).

import { describe, HubError } from './error.ts';

/** The pattern of a Connection ID, as a regular expression. */
export const connectionIdShape = '^[a-z0-9-]{1,64}$';
/** The pattern of an address, as far as a regular expression can express it. */
export const addressShape = '^[a-z0-9-]{1,64}/[^/]+(?:/[^/]+){0,15}$';
const connectionIdPattern = new RegExp(connectionIdShape);
const controlCharacter = /\p{Cc}/u;
const maxSegments = 16;
const maxParameterIdLength = 255;

/** Returns a sentence that describes the error in a Connection ID, or undefined if the ID is valid. */
export function connectionIdMistake(id: string): string | undefined {
  return connectionIdPattern.test(id)
    ? undefined
    : `expected a Connection ID of 1 to 64 characters a-z, 0-9 and -, got ${describe(id)}`;
}

/** Returns a sentence that describes the error in a Parameter ID, or undefined if the ID is valid. */
export function parameterIdMistake(id: string): string | undefined {
  const mistake = mistakeInParts(id);
  return mistake && `expected a Parameter ID ${mistake}, got ${describe(id)}`;
}

/** Splits an address at its first slash. Errors: `bad-address`. */
export function parseAddress(address: string): { connectionId: string; parameterId: string } {
  const slash = address.indexOf('/');
  if (slash < 0) throw new HubError('bad-address', `expected <Connection ID>/<Parameter ID>, got ${describe(address)}`);
  const connectionId = address.slice(0, slash);
  const parameterId = address.slice(slash + 1);
  const mistake = connectionIdMistake(connectionId) ?? parameterIdMistake(parameterId);
  if (mistake) throw new HubError('bad-address', mistake);
  return { connectionId, parameterId };
}

/** Returns whether a value is an address. */
export function isAddress(text: unknown): text is string {
  if (typeof text !== 'string') return false;
  const slash = text.indexOf('/');
  return (
    connectionIdPattern.test(text.slice(0, Math.max(0, slash))) && mistakeInParts(text.slice(slash + 1)) === undefined
  );
}

/** Returns the Connection ID of a valid address. */
export function connectionIdOf(address: string): string {
  return address.slice(0, address.indexOf('/'));
}

/** Joins the two parts of an address: `desk`, `mic/open` → `desk/mic/open`. */
export function formatAddress(connectionId: string, parameterId: string): string {
  return `${connectionId}/${parameterId}`;
}

/** Returns the last part of an address: `desk/mic/open` → `open`. */
export function lastPartOf(address: string): string {
  return address.slice(address.lastIndexOf('/') + 1);
}

/** Returns an address as part of a URL path, with percent-encoded segments and unchanged slashes: `desk/a b` → `desk/a%20b`. */
export function pathOf(address: string): string {
  return address.split('/').map(encodeURIComponent).join('/');
}

function mistakeInParts(id: string): string | undefined {
  if (id === '' || id.startsWith('/') || id.endsWith('/') || id.includes('//'))
    return 'without empty segments between /';
  if (id.length > maxParameterIdLength && [...id].length > maxParameterIdLength)
    return `of at most ${maxParameterIdLength} characters`;
  if (controlCharacter.test(id) || !id.isWellFormed()) return 'without control characters';
  if (id.includes('/') && id.split('/').length > maxSegments) return `of at most ${maxSegments} segments`;
  return undefined;
}
