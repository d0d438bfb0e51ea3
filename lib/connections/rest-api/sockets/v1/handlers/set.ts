// `{"set":[["desk/lamp",true],[8,0.5]],"ack":5}` writes parameters, in one turn.

import { describe, HubError } from '../../../../../model/error.ts';
import type { Origin, Parameter, RemoteWrite } from '../../../../../model/parameter.ts';
import type { Target } from '../../../../../wire/v1/client-messages.ts';
import type { Mistake } from '../../../../../wire/v1/hub-messages.ts';
import type { Log } from '../../../../connection.ts';
import type { HubPort } from '../../../../hub-port.ts';
import { asHubError } from '../../../input/fault-gate.ts';
import { unconfirmed } from '../../../input/unconfirmed.ts';
import type { WriteCounts } from '../../../input/write-counts.ts';
import { inSpan } from '../../../tracing/span.ts';
import { originWithTrace } from '../../../tracing/traceparent.ts';
import type { View } from '../../../users/view.ts';
import type { Client } from '../client.ts';
import { encode } from '../frames.ts';
import type { Desk, Handler } from './handler.ts';

type Message = Readonly<Record<string, unknown>>;
type Item = readonly [target: Target, value: unknown];

interface RemoteItem extends RemoteWrite {
  readonly target: Target;
  /** Its place in the message. */
  readonly index: number;
}

/** What was refused, in any order, with its place in the message. */
interface Refused {
  readonly index: number;
  readonly mistake: Mistake;
}

export const handleSet: Handler = (desk, client, message) => {
  const { traceparent } = message;
  const origin = traceparent === undefined ? client.origin : originWithTrace(client.origin, traceparent);
  if (origin.traceparent === undefined) void write(desk, client, message, origin);
  else void inSpan(origin, 'set', (own) => write(desk, client, message, own), failureOf);
  return undefined;
};

/** What says that some of it was refused; undefined: nothing was. */
function failureOf([first]: readonly Refused[]): string | undefined {
  return first?.mistake.join(': ');
}

/** Returns what was refused; later, when other hubs have written what they own. */
function write(
  { hub, log, fanOut, hits, writes, rates }: Desk,
  client: Client,
  message: Message,
  origin: Origin,
): Refused[] | Promise<Refused[]> {
  const items = itemsOf(message, writes);
  const refused: Refused[] = [];
  let index = -1;
  let remotes: RemoteItem[] | undefined;
  const { view } = client.visitor;
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

/** The errors in the order of the message, as the owner of all of it would tell them. */
function inOrder(refused: Refused[]): Mistake[] {
  return refused.sort((one, other) => one.index - other.index).map(({ mistake }) => mistake);
}

/** Writes what other hubs own, one turn for each of them; what they refuse is added. */
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

/** Waits until it is known that what this hub has written stays; what is not confirmed is added. undefined: there is nothing to wait for. */
function confirmOwn(
  { hub, fanOut }: Pick<Desk, 'hub' | 'fanOut'>,
  items: readonly Item[],
  remotes: readonly RemoteItem[] | undefined,
  refused: Refused[],
): Promise<void> | undefined {
  const { watch } = hub.duty;
  if (watch?.confirm === undefined) return undefined;
  const others = new Set([...refused, ...(remotes ?? [])].map(({ index }) => index));
  if (others.size === items.length) return undefined;
  const nameOf = (target: Target) =>
    typeof target === 'string' ? target : (fanOut.parameterOf(target)?.address ?? target);
  return watch.confirm().then((isConfirmed) => {
    if (isConfirmed) return;
    for (const [index, [target]] of items.entries())
      if (!others.has(index)) refused.push({ index, mistake: [target, `${nameOf(target)}: ${unconfirmed}`] });
  });
}

/** The parameter of a number; undefined: there is none that the client knows of. */
function known(view: View, parameter: Parameter | undefined): Parameter | undefined {
  return parameter !== undefined && view.mayWrite(parameter) ? parameter : undefined;
}

/** Counts a message that makes no sense as one write. Errors: `bad-request`. */
function itemsOf(message: Message, writes: WriteCounts): readonly Item[] {
  try {
    return readItems(message);
  } catch (error) {
    writes.refuse(error);
    throw error;
  }
}

/** This is checked by hand, as most messages are writes. Errors: `bad-request`. */
function readItems(message: Message): readonly Item[] {
  const { set, ack } = message;
  if (!Array.isArray(set)) throw new HubError('bad-request', `set: expected a list, got ${describe(set)}`);
  if (ack !== undefined && !Number.isSafeInteger(ack))
    throw new HubError('bad-request', `ack: expected an integer, got ${describe(ack)}`);
  const surplus = Object.keys(message).find((key) => key !== 'set' && key !== 'ack' && key !== 'traceparent');
  if (surplus !== undefined) throw new HubError('bad-request', `expected no key "${surplus}"`);
  for (let index = 0; index < set.length; index++)
    if (!isItem(set[index]))
      throw new HubError('bad-request', `set[${index}]: expected [address, value], got ${describe(set[index])}`);
  return set;
}

function isItem(item: unknown): item is Item {
  return Array.isArray(item) && item.length === 2 && (typeof item[0] === 'string' || typeof item[0] === 'number');
}
