// JSON objects. Most input from outside has to be one.

import { describe, HubError } from './error.ts';

/** Whether a JSON value is an object, not a list and not null. */
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The wording of an error: `body: expected JSON, but it cannot be parsed: …`, `body: expected an object with p, v, got 5 (number)`. */
export interface ExpectedObject {
  /** The input: `body`. Omitted: the message names none. */
  readonly where?: string;
  readonly json?: string;
  readonly object?: string;
}

/** Parses a JSON object. Errors: `bad-request`. */
export function readJsonObject(text: string, expected: ExpectedObject = {}): Readonly<Record<string, unknown>> {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch (error) {
    const { where, json = 'JSON' } = expected;
    throw new HubError(
      'bad-request',
      `${where === undefined ? '' : `${where}: `}expected ${json}, but it cannot be parsed: ${(error as Error).message}`,
    );
  }
  return expectJsonObject(data, expected);
}

/** Returns a JSON value that must be an object. Errors: `bad-request`. */
export function expectJsonObject(
  data: unknown,
  { where, object = 'an object' }: ExpectedObject = {},
): Readonly<Record<string, unknown>> {
  if (isJsonObject(data)) return data;
  const prefix = where === undefined ? '' : `${where}: `;
  throw new HubError('bad-request', `${prefix}expected ${object}, got ${describe(data)}`);
}
