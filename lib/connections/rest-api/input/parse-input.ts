// Checks clients' input against a schema.
import { z } from 'zod';
import { describe, HubError, messageOf } from '../../../model/error.ts';
import type { HttpRequest } from '../../../net/uws.ts';
import type { Log } from '../../connection.ts';

/** Returns a client's message, checked and converted by a schema. Errors: `bad-request` with the first error. */
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
      ? `unknown key ${issue!.keys.map((key) => JSON.stringify(key)).join(', ')}`
      : `expected ${issue!.message}, got ${describe(issue!.input)}`;
  throw new HubError('bad-request', path === '' ? expected : `${path}: ${expected}`);
}

/**
 * Returns the values in a query, checked and converted by a schema. A repeated name yields the first value or, if the shape expects a list,
 * all values. Names that are not in the shape are ignored. Errors: `bad-request`.
 */
export function readQuery<Query extends z.ZodObject>(shape: Query, query: URLSearchParams): z.output<Query> {
  const given = Object.entries(shape.shape)
    .filter(([name]) => query.has(name))
    .map(([name, one]) => [name, inputOf(one, query.getAll(name))]);
  const { success, data, error } = shape.safeParse(Object.fromEntries(given));
  if (success) return data;
  const [{ code, path, message }] = error.issues as [z.core.$ZodIssue];
  const name = String(path[0]);
  const mistake = code === 'custom' ? message : `expected ${message}, got ${describe(query.get(name))}`;
  throw new HubError('bad-request', `${name}: ${mistake}`);
}

function inputOf(shape: z.core.$ZodType, texts: readonly string[]): unknown {
  if (shape instanceof z.ZodOptional || shape instanceof z.ZodDefault) return inputOf(shape.unwrap(), texts);
  if (shape instanceof z.ZodArray) return texts;
  const [text = ''] = texts;
  return shape instanceof z.ZodNumber && /^\d{1,15}$/.test(text) ? Number(text) : text;
}

/** The message for a write that may or may not have taken effect, because another hub may have taken over in the meantime. */
export const unconfirmed = 'not confirmed, another hub may run the connection by now; the write may have taken effect';

// Every error passes through here before it is sent to a client. Clients see errors that they caused; of a fault in the hub, they only
// learn that it occurred.

/**
 * Returns an error that may be sent to the client: an error from the catalogue is returned unchanged. Any other error is a fault of the
 * hub: its reason is logged, and the client is referred to the log.
 */
export function asHubError(error: unknown, log: Log): HubError {
  if (error instanceof HubError) return error;
  log.error({ err: error }, `a request failed: ${messageOf(error)}`, 'request');
  return new HubError('internal', 'the request failed; see the log of the hub for the reason', { cause: error });
}

// A list header may span several lines (RFC 9110 section 5.3). The library returns only the first line.

/** Returns whether a comma-separated list, such as `keep-alive, Upgrade`, contains a word, ignoring case. `word` must be in lower case. */
export function lists(list: string, word: string): boolean {
  return list.split(',').some((item) => item.trim().toLowerCase() === word);
}

/**
 * Returns one string for each name: the values of all lines of that header, joined by commas, or an empty string if the header is missing.
 * Visits every header of the request.
 */
export function joinedHeaders(request: HttpRequest, ...names: readonly string[]): string[] {
  const joined = names.map(() => '');
  request.forEach((name, value) => {
    const index = names.indexOf(name);
    if (index < 0 || value === '') return;
    joined[index] = joined[index] === '' ? value : `${joined[index]}, ${value}`;
  });
  return joined;
}
