// What clients of patchbay.v1 send (lib/client/README.md), one handler per message.

import { z } from 'zod';
import { describe, HubError } from '../../../../../model/error.ts';
import { readJsonObject } from '../../../../../model/json-object.ts';
import { maxMessageBytes, maxSubscriptions } from '../../../../../wire/limits.ts';
import type { Target } from '../../../../../wire/v1/client-messages.ts';
import type { Mistake } from '../../../../../wire/v1/hub-messages.ts';
import type { Log } from '../../../../connection.ts';
import type { HubPort } from '../../../../hub-port.ts';
import { asHubError } from '../../../input/fault-gate.ts';
import { parse } from '../../../input/parse.ts';
import { LimitError } from '../../../limits/limit-error.ts';
import { limits } from '../../../limits/limits.ts';
import type { FanOut } from '../../fan-out.ts';
import type { Client } from '../client.ts';
import { encode } from '../frames.ts';
import type { Views } from '../groups.ts';
import { type SubscriptionRequest, subscriptionId } from '../subscription.ts';

const maxSteps = limits.clientSteps.default;

export interface Receiver {
  readonly hub: HubPort;
  readonly log: Log;
  readonly epoch: string;
  readonly fanOut: FanOut;
  readonly views: Views;
  /** Errors: `bad-request`. */
  readonly readSubscription: (message: object) => SubscriptionRequest;
}

/** What is left to do of a message, in turns: it may take long. */
export interface Rest {
  /** What a mistake is answered with. */
  readonly sub: number | undefined;
  /** Works until then, and returns whether there is more to do. Errors: `bad-request`; then nothing has changed. */
  advance(endMs: number): boolean;
}

type Handler = (receiver: Receiver, client: Client, message: object) => Rest | undefined;

const handlers: Readonly<Record<string, Handler>> = {
  set: receiveSet,
  sub: receiveSub,
  unsub: receiveUnsub,
  ping: receivePing,
};
const kinds = Object.keys(handlers);

/** Takes a message; returns what is left to do of it. Errors: `bad-request`; then nothing has changed. */
export function receive(receiver: Receiver, client: Client, message: ArrayBuffer, isBinary: boolean): Rest | undefined {
  if (isBinary) throw new HubError('bad-request', 'expected a text frame with JSON, got a binary frame');
  if (message.byteLength > maxMessageBytes)
    throw new LimitError(
      'messageBytes',
      'bad-request',
      `expected at most ${maxMessageBytes} bytes, got ${message.byteLength}`,
    );
  const data = readJsonObject(Buffer.from(message).toString());
  const kind = 'set' in data ? 'set' : kinds.find((name) => name in data);
  if (kind === undefined)
    throw new HubError('bad-request', `expected a message with one of ${kinds.join(', ')}, got ${describe(data)}`);
  return handlers[kind]!(receiver, client, data);
}

/** `{"set":[["desk/lamp",true],[8,0.5]],"ack":5}`: one turn. */
function receiveSet(
  { hub, log, fanOut }: Receiver,
  client: Client,
  message: { set?: unknown; ack?: unknown },
): undefined {
  const { set, ack } = message;
  if (!Array.isArray(set)) throw new HubError('bad-request', `set: expected a list, got ${describe(set)}`);
  if (ack !== undefined && !Number.isSafeInteger(ack))
    throw new HubError('bad-request', `ack: expected an integer, got ${describe(ack)}`);
  const surplus = Object.keys(message).find((key) => key !== 'set' && key !== 'ack');
  if (surplus !== undefined) throw new HubError('bad-request', `expected no key "${surplus}"`);
  for (let index = 0; index < set.length; index++) if (!isItem(set[index])) throw noItem(index, set[index]);
  const errors: Mistake[] = [];
  hub.turn(() => {
    for (const [target, value] of set as readonly [Target, unknown][]) {
      try {
        const parameter = typeof target === 'string' ? hub.find(target) : fanOut.parameterOf(target);
        if (parameter === undefined) errors.push([target, 'unknown parameter']);
        else hub.writeTo(parameter, value, client.origin);
      } catch (error) {
        errors.push([target, asHubError(error, log).message]);
      }
    }
  });
  if (ack !== undefined) client.send(encode({ ack: ack as number, errors }));
  else if (errors.length > 0) client.send(encode({ errors }));
}

function isItem(item: unknown): boolean {
  return Array.isArray(item) && item.length === 2 && (typeof item[0] === 'string' || typeof item[0] === 'number');
}

function noItem(index: number, item: unknown): HubError {
  return new HubError('bad-request', `set[${index}]: expected [address, value], got ${describe(item)}`);
}

/** Patterns are compiled, and matched with the parameters, when it is the client's turn. */
function receiveSub(receiver: Receiver, client: Client, message: { sub?: unknown }): Rest {
  let request: SubscriptionRequest | undefined;
  return {
    sub: typeof message.sub === 'number' ? message.sub : undefined,
    advance(endMs) {
      request ??= readRequest(receiver, client, message);
      if (request.subscription.selection.prepare(() => receiver.hub.parameters(), endMs)) return true;
      subscribe(receiver, client, request);
      return false;
    },
  };
}

function readRequest(receiver: Receiver, client: Client, message: object): SubscriptionRequest {
  const request = receiver.readSubscription(message);
  const { id, selection } = request.subscription;
  const others = client.subscriptions.filter((one) => one.id !== id);
  const steps = others.reduce((sum, one) => sum + one.selection.work, selection.work);
  if (steps > maxSteps)
    throw new LimitError(
      'clientSteps',
      'bad-request',
      `sub: expected patterns of at most ${maxSteps} steps in all subscriptions together, got about ${Math.ceil(steps)}`,
    );
  return request;
}

function subscribe(
  { hub, epoch, views }: Receiver,
  client: Client,
  { subscription, since }: SubscriptionRequest,
): void {
  const { id, rate, delivery } = subscription;
  const before = client.subscriptions.find((one) => one.id === id);
  if (before === undefined && client.subscriptions.length >= maxSubscriptions)
    throw new LimitError('subscriptions', 'bad-request', `sub: expected at most ${maxSubscriptions} subscriptions`);
  const canResume = since?.epoch === epoch && views.canResume(since.rev);
  const isSame = since === undefined && before?.patterns === subscription.patterns;
  if (canResume) {
    client.definedAfter = Math.max(client.definedAfter, since.rev);
    client.firesDefinedAfter = hub.revision;
  }
  const from = isSame ? undefined : canResume ? since.rev : 0;
  const mode = from === 0 && !canResume ? 'snapshot' : 'resume';
  const answer = { sub: id, mode, rate, delivery } as const;
  views.subscribe(client, subscription, from, encode(answer));
}

const unsubSchema = z.strictObject({ unsub: subscriptionId });

function receiveUnsub({ views }: Receiver, client: Client, message: object): undefined {
  const { unsub } = parse(unsubSchema, message);
  if (!client.subscriptions.some(({ id }) => id === unsub))
    throw new HubError('bad-request', `unsub: there is no subscription ${unsub}`);
  views.unsubscribe(client, unsub, encode({ unsub }));
}

const pingSchema = z.strictObject({ ping: z.number({ error: 'number' }) });

function receivePing(_: Receiver, client: Client, message: object): undefined {
  client.send(encode({ pong: parse(pingSchema, message).ping }));
}
