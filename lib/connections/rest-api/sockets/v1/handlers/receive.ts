// What clients of patchbay.v1 send (lib/client/README.md): a message is read, and handed to the handler of its kind.

import { describe, HubError } from '../../../../../model/error.ts';
import { isJsonObject, readJsonObject } from '../../../../../model/json-object.ts';
import { maxMessageBytes } from '../../../../../wire/limits.ts';
import { LimitError } from '../../../limits/limit-error.ts';
import type { Client } from '../client.ts';
import type { Desk, Handler, Rest, Subject } from './handler.ts';
import { handlePing } from './ping.ts';
import { handleSet } from './set.ts';
import { handleSub } from './sub.ts';
import { handleUnsub } from './unsub.ts';

/** The key that says of which kind a message is; the first of these that it has counts. */
const handlers: Readonly<Record<string, Handler>> = {
  set: handleSet,
  sub: handleSub,
  unsub: handleUnsub,
  ping: handlePing,
};
const kinds = Object.keys(handlers);

/** Takes a message; returns what is left to do of it. Errors: `bad-request`; then nothing has changed. */
export function receive(desk: Desk, client: Client, message: ArrayBuffer, isBinary: boolean): Rest | undefined {
  if (isBinary) throw new HubError('bad-request', 'expected a text frame with JSON, got a binary frame');
  if (message.byteLength > maxMessageBytes)
    throw new LimitError(
      'messageBytes',
      'bad-request',
      `expected at most ${maxMessageBytes} bytes, got ${message.byteLength}`,
    );
  const data = readJsonObject(Buffer.from(message).toString());
  const kind = kinds.find((name) => name in data);
  if (kind === undefined)
    throw new HubError('bad-request', `expected a message with one of ${kinds.join(', ')}, got ${describe(data)}`);
  return handlers[kind]!(desk, client, data);
}

/** Finds what a message was about that made no sense, also when it is too long. */
export function subjectOf(message: ArrayBuffer): Subject {
  try {
    const data: unknown = JSON.parse(Buffer.from(message).toString());
    if (!isJsonObject(data)) return {};
    if ('set' in data) return Number.isSafeInteger(data.ack) ? { ack: data.ack as number } : {};
    return typeof data.sub === 'number' ? { sub: data.sub } : {};
  } catch {
    return {};
  }
}
