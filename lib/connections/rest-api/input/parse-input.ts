// Checks what clients send against a schema.
import { z } from 'zod';
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

/**
 * Returns what a query says, as its shape has it: of a name the first text, of a list all. Names that the shape has not do not matter. Errors:
 * `bad-request` with the first mistake.
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
