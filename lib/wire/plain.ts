// The messages of plain WebSocket clients, both ways. With `?list=true` notifications and writes come as lists of them (D-43).

import type { Value } from '../model/value.ts';

/** `{"p":"desk/lamp","v":"true"}`: the hub tells a value, as text. */
export interface Notification {
  readonly p: string;
  readonly v: string;
}

/** `{"p":"desk/lamp","v":true}`: a client sets a parameter, or fires a trigger. */
export interface PlainWrite {
  readonly p: string;
  readonly v: Value;
}

/** `{"error":"v: expected a value, got nothing","p":"desk/lamp"}`: a message was not carried out. */
export interface PlainRefusal {
  readonly error: string;
  /** As the message named it; left out when it could not be read. */
  readonly p?: string | undefined;
}
