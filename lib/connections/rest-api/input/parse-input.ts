// Checks what clients send against a schema.
import type { z } from 'zod';
import { describe, HubError, messageOf } from '../../../model/error.ts';
import type { HttpRequest } from '../../../net/uws.ts';
import type { Log } from '../../connection.ts';

/** Returns the message of a client as its schema has it. Errors: `bad-request` with the first mistake. */
export function parse<Schema extends z.ZodType>(shape: Schema, message: unknown): z.output<Schema> {
  const result = shape.safeParse(message, { reportInput: true });
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const path = issue!.path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .replace(/^\./, '');
  const expected =
    issue!.code === 'unrecognized_keys'
      ? `expected no key ${issue!.keys.map((key) => JSON.stringify(key)).join(', ')}`
      : `expected ${issue!.message}, got ${describe(issue!.input)}`;
  throw new HubError('bad-request', path === '' ? expected : `${path}: ${expected}`);
}

/** What is told of a write of which the hub does not know whether it stays: another hub may have taken over without it. */
export const unconfirmed = 'not confirmed, another hub may run it by now; it may have taken effect';

// The gate that every error passes on its way to a client. It tells clients their own mistakes, and of ours only that there was one.

/** Returns an error of the catalogue. Any other error is a fault of ours: the log tells it, and the client is told to look there. */
export function asHubError(error: unknown, log: Log): HubError {
  if (error instanceof HubError) return error;
  log.error({ err: error }, `a request failed: ${messageOf(error)}`, 'request');
  return new HubError('internal', 'the hub could not do that, its log says why', { cause: error });
}

// A header that is a list may come in several lines (RFC 9110 section 5.3). The library returns the first of them.

/** Whether a list of words, such as `keep-alive, Upgrade`, has one of them, in any case of its letters. */
export function lists(list: string, word: string): boolean {
  return list.split(',').some((item) => item.trim().toLowerCase() === word);
}

/** For each name all lines of the header, joined by commas; empty: there is none. It looks at every header of the request. */
export function joinedHeaders(request: HttpRequest, ...names: readonly string[]): string[] {
  const joined = names.map(() => '');
  request.forEach((name, value) => {
    const index = names.indexOf(name);
    if (index < 0 || value === '') return;
    joined[index] = joined[index] === '' ? value : `${joined[index]}, ${value}`;
  });
  return joined;
}
