// The hub's error class, and the catalogue of all errors in input from outside. A message is one sentence: the location, what was expected,
// the received value and its type.

/** Every error code with its title. Other codes do not exist, and the meaning of a code never changes. */
export const errorCatalogue = {
  'bad-address': 'Malformed address',
  'bad-dashboard': 'Error in a dashboard',
  'bad-flow': 'Error in a flow file',
  'bad-json5': 'Not JSON5',
  'bad-request': 'Malformed request',
  'body-too-large': 'Body too large',
  'body-type': 'Unsupported body type',
  'cannot-start': 'Connection cannot start',
  conflict: 'Conflict with the current state',
  forbidden: 'Not allowed',
  'foreign-host': 'Foreign host',
  'foreign-origin': 'Foreign origin',
  internal: 'Internal error',
  'method-not-allowed': 'Method not allowed',
  'not-convertible': 'Value not convertible',
  'not-confirmed': 'Not confirmed by the device',
  'not-found': 'Not found',
  'not-implemented': 'Method not implemented',
  'out-of-range': 'Value out of range',
  'precondition-failed': 'Precondition failed',
  'range-not-satisfiable': 'Range not satisfiable',
  'read-only': 'Parameter is read-only',
  'state-unknown': 'State Unknown',
  'test-failed': 'Flow test failed',
  'too-many-attempts': 'Too many attempts with wrong credentials',
  'too-many-clients': 'Too many clients',
  'too-many-requests': 'Too many requests or writes',
  unauthorized: 'Unauthorized',
  unavailable: 'Temporarily unavailable',
  'unknown-parameter': 'Unknown parameter',
  unprocessable: 'Content not accepted',
  'upgrade-required': 'Upgrade required',
} as const;

export type ErrorCode = keyof typeof errorCatalogue;

/**
 * An error with a code from the catalogue. `message` is one sentence in a form suitable for display, and `where` is the address, file or
 * setting.
 */
export class HubError extends Error {
  readonly code: ErrorCode;
  readonly where: string | undefined;

  constructor(code: ErrorCode, message: string, options: { where?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'HubError';
    this.code = code;
    this.where = options.where;
  }
}

export function noSuchParameter(address: string): HubError {
  const message = `${address}: no parameter has this address`;
  return new HubError('unknown-parameter', message);
}

const describedLength = 60;

/** Stands for a value on another hub. `describe` returns the description from that hub. */
export class Described {
  readonly shown: string;

  constructor(shown: string) {
    this.shown = shown;
  }
}

/** Describes any value with its type, truncated if necessary: `"abc" (string)`, `70000 (number)`, `null`, `[1,2] (array)`. Never throws. */
export function describe(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  try {
    if (value instanceof Described) return value.shown;
    const type = Array.isArray(value) ? 'array' : typeof value;
    const text = type === 'number' ? String(value) : beginningOf(value, describedLength);
    return `${text.length > describedLength ? `${text.slice(0, describedLength - 3)}…` : text} (${type})`;
  } catch {
    return `a value that cannot be shown (${typeof value})`; // an object created by a flow may throw on any access
  }
}

/**
 * Returns the JSON of a value, or its string form if the value has no JSON. Stops soon after `length` characters, because a value may have
 * any length and depth.
 */
function beginningOf(value: unknown, length: number): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, length + 1));
  if (typeof value === 'number') return JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return String(value);
  const isList = Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));
  const keys = isList ? (value as unknown[]).keys() : Object.keys(value);
  let text = isList ? '[' : '{';
  let separator = '';
  for (const key of keys) {
    if (text.length > length) return text;
    const item = (value as Record<string, unknown>)[key];
    if (item === undefined && !isList) continue;
    const name = isList ? '' : `${beginningOf(key, length)}:`;
    text += separator + name + beginningOf(item ?? null, length - text.length - name.length);
    separator = ',';
  }
  return text + (isList ? ']' : '}');
}

/** Returns the message of a thrown value, for a log or a response. */
export function messageOf(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error);
  } catch {
    return 'something was thrown that cannot be shown';
  }
}
