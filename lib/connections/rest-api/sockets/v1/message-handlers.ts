// The messages of patchbay.v1 clients (docs/protocol.md). Each message is parsed and passed to the handler for its kind.

import { z } from 'zod';
import { describe, HubError } from '../../../../model/error.ts';
import { isJsonObject, readJsonObject } from '../../../../model/json-object.ts';
import type { Origin, Parameter, RemoteWrite } from '../../../../model/parameter.ts';
import { maxMessageBytes } from '../../../../wire/limits.ts';
import type { Target } from '../../../../wire/v1/client-messages.ts';
import type { Mistake, Refusal } from '../../../../wire/v1/hub-messages.ts';
import type { Log } from '../../../connection.ts';
import type { HubPort } from '../../../hub-port.ts';
import { asHubError, parse, unconfirmed } from '../../input/parse-input.ts';
import { LimitError } from '../../limits/limit-hits.ts';
import type { Limits } from '../../limits/limit-settings.ts';
import type { WriteCounts } from '../../limits/rates.ts';
import { inSpan, originWithTrace } from '../../tracing/traceparent.ts';
import type { Principal } from '../../users/principal.ts';
import type { View } from '../../users/view.ts';
import type { ProtocolContext } from '../socket-protocol.ts';
import { costOf, type SubscriptionShares } from '../user-shares.ts';
import type { Client } from './client.ts';
import { encode } from './frames.ts';
import type { Groups } from './groups.ts';
import { type Request, subscriptionId } from './subscription.ts';

/** The objects that the message handlers need. */
export interface HandlerContext extends Pick<ProtocolContext, 'hub' | 'log' | 'writes' | 'fanOut' | 'hits' | 'rates'> {
  readonly groups: Groups;
  readonly shares: SubscriptionShares;
  /** The limits on a client's subscriptions. */
  readonly limits: Pick<Limits, 'subscriptions' | 'clientSteps'>;
  /** Parses the subscription in a message. Errors: `bad-request`. */
  readonly readSubscription: (message: object, principal: Principal) => Request;
}

/** Names the message that caused an error: by the number of its subscription, or by the `ack` of a write. */
export type Subject = Pick<Refusal, 'sub' | 'ack'>;

/** The rest of the work for a message that takes a long time. The work is done in slices. */
export interface Rest {
  readonly subject: Subject;
  /** Works until `endMs`; returns whether there is more to do. Errors: `bad-request`; the message then has no effect. */
  advance(endMs: number): boolean;
}

type Message = Readonly<Record<string, unknown>>;

/** Handles a parsed message; returns the work that remains, if any. Errors: `bad-request`; the message then has no effect. */
type Handler = (context: HandlerContext, client: Client, message: Message) => Rest | undefined;

type Item = readonly [target: Target, value: unknown];

interface RemoteItem extends RemoteWrite {
  readonly target: Target;
  /** The index of the item in the message. */
  readonly index: number;
}

/** An item of a message that was refused: its index in the message, and the error. */
interface Refused {
  readonly index: number;
  readonly mistake: Mistake;
}

/** The handlers, keyed by the key that identifies the kind of message. The first of these keys that is present in the message counts. */
const handlers: Readonly<Record<string, Handler>> = {
  set: handleSet,
  sub: handleSub,
  unsub: handleUnsub,
  ping: handlePing,
};
const kinds = Object.keys(handlers);

const unsubSchema = z.strictObject({ unsub: subscriptionId });
const pingSchema = z.strictObject({ ping: z.number({ error: 'number' }) });

/** Handles a message from a client; returns the work that remains, if any. Errors: `bad-request`; the message then has no effect. */
export function receive(
  context: HandlerContext,
  client: Client,
  message: ArrayBuffer,
  isBinary: boolean,
): Rest | undefined {
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
  return handlers[kind]!(context, client, data);
}

/** Returns the subject of an invalid message, even if the message is too long; an empty object if the subject cannot be determined. */
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

/** Handles `{"set":[["desk/lamp",true],[8,0.5]],"ack":5}`, which writes parameters in one turn. */
function handleSet(context: HandlerContext, client: Client, message: Message): undefined {
  const { traceparent } = message;
  const origin = traceparent === undefined ? client.origin : originWithTrace(client.origin, traceparent);
  if (origin.traceparent === undefined) void write(context, client, message, origin);
  else void inSpan(origin, 'set', (own) => write(context, client, message, own), failureOf);
}

/** Returns the reason why the first of the refused items was refused; undefined if no item was refused. */
function failureOf([first]: readonly Refused[]): string | undefined {
  return first?.mistake.join(': ');
}

/**
 * Makes the writes in a message, answers the client, and returns the refused items; returns a promise if other hubs own some of the
 * parameters, or if the writes must be confirmed.
 */
function write(
  { hub, log, fanOut, hits, writes, rates }: HandlerContext,
  client: Client,
  message: Message,
  origin: Origin,
): Refused[] | Promise<Refused[]> {
  const items = itemsOf(message, writes);
  const refused: Refused[] = [];
  let index = -1;
  let remotes: RemoteItem[] | undefined;
  const { view } = client.principal;
  const refusal = rates.writes?.(client, items.length);
  if (refusal !== undefined) hits.addError(refusal, client.remoteAddress);
  hub.turn(() => {
    for (const [target, value] of items) {
      index++;
      try {
        if (refusal !== undefined) throw refusal;
        const parameter =
          typeof target === 'string' ? view.findToWrite(target) : known(view, fanOut.parameterOf(target));
        if (parameter === undefined) {
          writes.refuseAs('unknown-parameter');
          refused.push({ index, mistake: [target, 'unknown parameter'] });
        } else if (parameter.remote !== undefined) {
          remotes ??= [];
          remotes.push({ target, parameter, input: value, index });
        } else {
          hub.writeTo(parameter, value, origin);
          writes.taken++;
        }
      } catch (error) {
        writes.refuse(error);
        refused.push({ index, mistake: [target, asHubError(error, log).message] });
      }
    }
  });
  const answer = () => {
    const errors = inOrder(refused);
    const ack = message.ack as number | undefined;
    if (ack !== undefined) client.send(encode({ ack, errors }));
    else if (errors.length > 0) client.send(encode({ errors }));
  };
  const sending = remotes && writeRemotes(hub, origin, remotes, writes, refused, log);
  const confirming = message.ack === undefined ? undefined : confirmOwn({ hub, fanOut }, items, remotes, refused);
  const writing = sending && confirming ? Promise.all([sending, confirming]).then(() => {}) : (sending ?? confirming);
  if (writing !== undefined || client.pendingAcks > 0) client.answerAfter(writing, answer);
  else answer();
  return writing === undefined ? refused : writing.then(() => refused);
}

/** Returns the errors in the order of the items in the message, as if this hub owned all parameters. */
function inOrder(refused: Refused[]): Mistake[] {
  return refused.sort((one, other) => one.index - other.index).map(({ mistake }) => mistake);
}

/** Writes parameters of other hubs, in one turn per hub; adds the items that these hubs refuse to `refused`. */
async function writeRemotes(
  hub: HubPort,
  origin: Origin,
  items: readonly RemoteItem[],
  writes: WriteCounts,
  refused: Refused[],
  log: Log,
): Promise<void> {
  const byHub = Map.groupBy(items, ({ parameter }) => parameter.remote!);
  const sending = [...byHub].map(async ([remote, ofOne]) => {
    const results = await hub.writeRemote(remote, ofOne, origin);
    for (const [place, { target, index }] of ofOne.entries()) {
      const result = results[place];
      if (!(result instanceof Error)) writes.taken++;
      else {
        writes.refuse(result);
        refused.push({ index, mistake: [target, asHubError(result, log).message] });
      }
    }
  });
  await Promise.all(sending);
}

/**
 * Resolves when the writes to this hub's own parameters are confirmed, and adds writes that are not confirmed to `refused`. Returns
 * undefined if there is nothing to wait for.
 */
function confirmOwn(
  { hub, fanOut }: Pick<HandlerContext, 'hub' | 'fanOut'>,
  items: readonly Item[],
  remotes: readonly RemoteItem[] | undefined,
  refused: Refused[],
): Promise<void> | undefined {
  const { term } = hub.leadership;
  if (term?.confirm === undefined) return undefined;
  const others = new Set([...refused, ...(remotes ?? [])].map(({ index }) => index));
  if (others.size === items.length) return undefined;
  const nameOf = (target: Target) =>
    typeof target === 'string' ? target : (fanOut.parameterOf(target)?.address ?? target);
  return term.confirm().then((isConfirmed) => {
    if (isConfirmed) return;
    for (const [index, [target]] of items.entries())
      if (!others.has(index)) refused.push({ index, mistake: [target, `${nameOf(target)}: ${unconfirmed}`] });
  });
}

/** Returns a parameter that was named by its ID; undefined if there is no such parameter that the client may write. */
function known(view: View, parameter: Parameter | undefined): Parameter | undefined {
  return parameter !== undefined && view.mayWrite(parameter) ? parameter : undefined;
}

/** Returns the items of a `set` message. An invalid message counts as one refused write. Errors: `bad-request`. */
function itemsOf(message: Message, writes: WriteCounts): readonly Item[] {
  try {
    return readItems(message);
  } catch (error) {
    writes.refuse(error);
    throw error;
  }
}

/**
 * Parses the items of a `set` message. For speed, this is done without a schema, because most messages are writes. Errors: `bad-request`.
 */
function readItems(message: Message): readonly Item[] {
  const { set, ack } = message;
  if (!Array.isArray(set)) throw new HubError('bad-request', `set: expected a list, got ${describe(set)}`);
  if (ack !== undefined && !Number.isSafeInteger(ack))
    throw new HubError('bad-request', `ack: expected an integer, got ${describe(ack)}`);
  const surplus = Object.keys(message).find((key) => key !== 'set' && key !== 'ack' && key !== 'traceparent');
  if (surplus !== undefined) throw new HubError('bad-request', `unknown key "${surplus}"`);
  for (let index = 0; index < set.length; index++)
    if (!isItem(set[index]))
      throw new HubError('bad-request', `set[${index}]: expected [address, value], got ${describe(set[index])}`);
  return set;
}

function isItem(item: unknown): item is Item {
  return Array.isArray(item) && item.length === 2 && (typeof item[0] === 'string' || typeof item[0] === 'number');
}

/** Handles `{"sub":1,"include":["desk/**"],"rate":60}`, which subscribes. The patterns are compiled and matched in the client's slices. */
function handleSub(context: HandlerContext, client: Client, message: Message): Rest {
  let request: Request | undefined;
  const { sub } = message;
  return {
    subject: typeof sub === 'number' ? { sub } : {},
    advance(endMs) {
      request ??= readRequest(context, client, message);
      if (request.subscription.selection.prepare(() => context.hub.parameters(), endMs)) return true;
      subscribe(context, client, request);
      return false;
    },
  };
}

function readRequest(context: HandlerContext, client: Client, message: object): Request {
  const request = context.readSubscription(message, client.principal);
  const { id, selection } = request.subscription;
  const others = client.subscriptions.filter((one) => one.id !== id);
  const steps = others.reduce((sum, one) => sum + one.selection.work, selection.work);
  const { clientSteps } = context.limits;
  if (steps > clientSteps)
    throw new LimitError(
      'clientSteps',
      'bad-request',
      `sub: expected patterns of at most ${clientSteps} steps in all subscriptions together, got about ${Math.ceil(steps)}`,
    );
  return request;
}

function subscribe(
  { hub, groups, shares, limits }: HandlerContext,
  client: Client,
  { subscription, since }: Request,
): void {
  const { id, rate, delivery } = subscription;
  const before = client.subscriptions.find((one) => one.id === id);
  if (before === undefined && client.subscriptions.length >= limits.subscriptions)
    throw new LimitError(
      'subscriptions',
      'bad-request',
      `sub: expected at most ${limits.subscriptions} subscriptions, got ${client.subscriptions.length + 1}`,
    );
  if (!client.hasLeft) {
    const others = client.subscriptions.filter((one) => one !== before);
    shares.change(client.share, costOf(client.subscriptions), costOf([...others, subscription]));
  }
  const canResume = since?.epoch === client.epoch && groups.structure.canResume(since.rev);
  if (canResume) client.resume(since.rev, hub.revision);
  const isSame = since === undefined && before?.patterns === subscription.patterns;
  const from = isSame ? undefined : canResume ? since.rev : 0;
  const mode = from === 0 && !canResume ? 'snapshot' : 'resume';
  groups.subscribe(client, subscription, from, encode({ sub: id, mode, rate, delivery }));
}

/** Handles `{"unsub":1}`, which ends a subscription. */
function handleUnsub({ groups, shares }: HandlerContext, client: Client, message: Message): undefined {
  const { unsub } = parse(unsubSchema, message);
  if (!client.subscriptions.some(({ id }) => id === unsub))
    throw new HubError('bad-request', `unsub: unknown subscription ${unsub}`);
  if (!client.hasLeft) {
    const others = client.subscriptions.filter(({ id }) => id !== unsub);
    shares.change(client.share, costOf(client.subscriptions), costOf(others));
  }
  groups.unsubscribe(client, unsub, encode({ unsub }));
}

/** Answers `{"ping":1}` with `{"pong":1}`. */
function handlePing(_: HandlerContext, client: Client, message: Message): undefined {
  client.send(encode({ pong: parse(pingSchema, message).ping }));
}
