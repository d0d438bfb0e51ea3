// The messages to and from plain WebSocket clients. With `?list=true`, notifications and writes are sent in lists (D-43).

import type { Value } from '../model/value.ts';

/** `{"p":"desk/lamp","v":"true"}`: the hub reports a value as a string. */
export interface Notification {
  readonly p: string;
  readonly v: string;
}

/** `{"p":"desk/lamp","v":true}`: a client sets a parameter, or fires a trigger. */
export interface PlainWrite {
  readonly p: string;
  readonly v: Value;
}

/** `{"error":"v: expected a value, got nothing","p":"desk/lamp"}`: the hub has not carried out a message. */
export interface PlainRefusal {
  readonly error: string;
  /** The address as given in the message; omitted if the address could not be read. */
  readonly p?: string | undefined;
}
