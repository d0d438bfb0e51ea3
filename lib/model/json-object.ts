// JSON objects. Most input from outside has to be an object.

import { describe, HubError } from './error.ts';

/** Returns whether a JSON value is an object, and neither a list nor null. */
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * How an error describes the expected object: `body: expected JSON, but it cannot be parsed: …`, `body: expected an object with p, v, got 5
 * (number)`.
 */
export interface ExpectedObject {
  /** The name of the input, such as `body`. If omitted, the message does not begin with a name. */
  readonly where?: string;
  readonly json?: string;
  readonly object?: string;
}

/** Parses a string as a JSON object. Errors: `bad-request`. */
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

/** Checks that a JSON value is an object, and returns it. Errors: `bad-request`. */
export function expectJsonObject(
  data: unknown,
  { where, object = 'an object' }: ExpectedObject = {},
): Readonly<Record<string, unknown>> {
  if (isJsonObject(data)) return data;
  const prefix = where === undefined ? '' : `${where}: `;
  throw new HubError('bad-request', `${prefix}expected ${object}, got ${describe(data)}`);
}
