// GET and POST /update (S-08): `parameter` and `value` are in the query, a form or a JSON object.

import { z } from 'zod';
import { describe, HubError } from '../../../model/error.ts';
import type { Origin, Parameter } from '../../../model/parameter.ts';
import { parseDurationMs } from '../../../model/time/duration.ts';
import type { HttpRequest, HttpResponse } from '../../../net/uws.ts';
import {
  type Update,
  type Updated,
  updated as updatedShape,
  update as updateShape,
} from '../../../wire/http/parameter-shapes.ts';
import { text } from '../../../wire/http/shape.ts';
import type { Log } from '../../connection.ts';
import type { HubPort } from '../../hub-port.ts';
import { acceptOf, acceptsJson } from '../http/answer/accept.ts';
import { expectNoTag } from '../http/answer/conditional.ts';
import { beginValue, jsonType } from '../http/answer/headers.ts';
import { send } from '../http/answer/send.ts';
import { bodyTypeOf, readBody, readObject, wrongBodyType } from '../http/body.ts';
import { type Exchange, keepResponse } from '../http/exchange.ts';
import { asHubError, unconfirmed } from '../input/parse-input.ts';
import { shareOf, type WriteCounts } from '../limits/rates.ts';
import type { FairQueue } from '../pacing/fair-queue.ts';
import { remoteAddressOf } from '../proxies/trusted-proxies.ts';
import { followTrace, inSpan } from '../tracing/traceparent.ts';
import type { Principal } from '../users/principal.ts';
import type { View } from '../users/view.ts';
import type { Context, Endpoint } from './endpoint.ts';

const formType = 'application/x-www-form-urlencoded';

/** An update whose value has not been checked against the type of the parameter. */
type UncheckedUpdate = Omit<Update, 'value'> & { readonly value: unknown };

const answers = {
  200: {
    description: 'OK, or the new value if the client accepts JSON',
    content: { 'text/plain': z.literal('OK'), 'application/json': updatedShape },
  },
};
const errors = {
  400: 'The parameter or value is missing, or the value cannot be converted',
  404: 'Parameter not found',
  409: 'No space is left for the value, for example for another snapshot',
  503: 'The hub that owns the parameter did not answer in time, or the device is unreachable',
  504: 'The device did not confirm the value within the time of confirm',
};
const confirmQuery = text.optional().describe('How long to wait for the device to confirm the value: 2s, 500ms');
const about = {
  path: '/update',
  need: 'entry',
  tag: 'parameters',
  summary: 'Sets a parameter, or fires a trigger',
  isTraced: true,
  answers,
} as const;

export const endpoints: Endpoint[] = [
  {
    ...about,
    method: 'GET',
    getWrites: true,
    isThere: ({ getUpdates }) => getUpdates,
    id: 'updateByGet',
    query: z.object({
      parameter: text.describe('Parameter address'),
      value: text.describe('The new value'),
      confirm: confirmQuery,
    }),
    errors,
    serve: (context) => (response, request, principal) =>
      updateByGet(context, updaterOf(context, response, request, principal), response, request),
  },
  {
    ...about,
    method: 'POST',
    id: 'update',
    query: z.object({ confirm: confirmQuery }),
    body: { 'application/json': updateShape, 'application/x-www-form-urlencoded': updateShape },
    errors: { ...errors, 400: 'The body is not valid' },
    serve: (context) => (response, request, principal) =>
      updateByPost(context, updaterOf(context, response, request, principal), response, request),
  },
];

function updaterOf(
  { originOf, rates }: Pick<Context, 'originOf' | 'rates'>,
  response: HttpResponse,
  request: HttpRequest,
  principal: Principal,
): Updater {
  const address = remoteAddressOf(response);
  return {
    share: shareOf(principal, address),
    view: principal.view,
    origin: followTrace(originOf(principal, address), request),
    confirmMs: readConfirm(request.getQuery('confirm')),
    expectRate: rates.writes && (() => expectRate(rates, shareOf(principal, remoteAddressOf(response)))),
  };
}

/** The maximum time that an update waits for the device, in milliseconds. */
const longestConfirmMs = 30_000;

/** Parses the value of `confirm`, such as `2s`, and returns milliseconds. Errors: `bad-request`. */
function readConfirm(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = parseDurationMs(/^\d+$/.test(text) ? Number(text) : text);
  if (ms !== undefined && ms >= 1 && ms <= longestConfirmMs) return ms;
  throw new HubError(
    'bad-request',
    `confirm: expected a duration from 1ms to ${longestConfirmMs / 1000}s, got ${describe(text)}`,
  );
}

/** Counts one write by a share. Errors: `too-many-requests`. */
function expectRate({ writes }: Context['rates'], share: string): void {
  const refusal = writes?.({ share, id: undefined }, 1);
  if (refusal !== undefined) throw refusal;
}

interface UpdateContext {
  readonly hub: Pick<HubPort, 'find' | 'writeTo' | 'writeRemote' | 'whenConfirmed' | 'leadership'>;
  readonly writes: WriteCounts;
  readonly log: Log;
  readonly queue: FairQueue;
}

/** The client that sets a parameter, and the options of the request. */
interface Updater {
  /** The share to which the work is charged. */
  readonly share: string;
  readonly view: View;
  readonly origin: Origin;
  /** The maximum wait for the device's confirmation, in milliseconds; undefined means no wait. */
  readonly confirmMs: number | undefined;
  /** Counts one write by the client; undefined if writes are not limited. Errors: `too-many-requests`. */
  readonly expectRate: (() => void) | undefined;
}

/** Sets the parameter in the query to the value in the query. Errors: any error in the query or from the write. */
function updateByGet(context: UpdateContext, updater: Updater, response: HttpResponse, request: HttpRequest): void {
  expectNoTag(request);
  const asJson = acceptsJson(acceptOf(request));
  const updated = update(context, updater, () => readForm(request.getQuery() ?? '', 'query'));
  if (updated instanceof Promise) void answerLater(keepResponse(response), updated, asJson, context.log);
  else replyUpdated(response, updated, asJson);
}

/**
 * Sets the parameter in the body to the value in the body. Errors: `body-type`; once the body is complete, any error in the body or from
 * the write.
 */
function updateByPost(context: UpdateContext, updater: Updater, response: HttpResponse, request: HttpRequest): void {
  expectNoTag(request);
  const asJson = acceptsJson(acceptOf(request));
  const read = readers.get(bodyTypeOf(request));
  if (read === undefined) throw refused(context, wrongBodyType(request, `${formType} or ${jsonType}`));
  const exchange = keepResponse(response);
  readBody(exchange, request, { share: updater.share, queue: context.queue }, (body) => {
    try {
      if (body instanceof HubError) throw refused(context, body);
      const updated = update(context, updater, () => read(body));
      if (updated instanceof Promise) void answerLater(exchange, updated, asJson, context.log);
      else exchange.reply(() => replyUpdated(response, updated, asJson));
    } catch (error) {
      exchange.fail(asHubError(error, context.log), asJson);
    }
  });
}

/** Counts an update that cannot be parsed; returns the error. */
function refused({ writes }: UpdateContext, error: HubError): HubError {
  writes.refuse(error);
  return error;
}

const readers: ReadonlyMap<string, (body: string) => UncheckedUpdate> = new Map([
  [formType, (body: string) => readForm(body, 'body')],
  [jsonType, readJson],
]);

/**
 * Makes and counts the write that `read` returns. Returns a promise if another hub owns the parameter, or if the write must be confirmed.
 * Errors: any error from `read` or from the write, thrown or as a rejection.
 */
function update(context: UpdateContext, updater: Updater, read: () => UncheckedUpdate): Updated | Promise<Updated> {
  const { origin } = updater;
  if (origin.traceparent === undefined) return write(context, updater, read);
  return inSpan(origin, 'update', (own) => write(context, { ...updater, origin: own }, read));
}

function write(context: UpdateContext, updater: Updater, read: () => UncheckedUpdate): Updated | Promise<Updated> {
  const { view, origin, expectRate } = updater;
  const { writes } = context;
  try {
    expectRate?.();
    const { parameter: address, value } = read();
    const parameter = view.findToWrite(address);
    if (parameter?.remote !== undefined) return updateRemote(context, updater, parameter, value);
    const v =
      parameter === undefined ? view.write(address, value, origin) : context.hub.writeTo(parameter, value, origin);
    writes.taken++;
    const { confirmMs } = updater;
    const confirmed = context.hub.leadership.term?.confirm?.();
    const updated = { p: address, v };
    const written = confirmMs === undefined ? undefined : context.hub.find(address);
    if (written?.wanted !== undefined)
      return context.hub
        .whenConfirmed(written, confirmMs!)
        .then(() => confirmed ?? true)
        .then((isConfirmed) => expectConfirmed(isConfirmed, { p: address, v: written.value ?? v })); // the device may round values
    return confirmed === undefined ? updated : confirmed.then((isConfirmed) => expectConfirmed(isConfirmed, updated));
  } catch (error) {
    writes.refuse(error);
    throw error;
  }
}

/** Returns the update unless its write was not confirmed. Errors: `unavailable`. */
function expectConfirmed(isConfirmed: boolean, updated: Updated): Updated {
  if (isConfirmed) return updated;
  throw new HubError('unavailable', `${updated.p}: ${unconfirmed}`);
}

async function updateRemote(
  { hub, writes }: UpdateContext,
  { origin }: Updater,
  parameter: Parameter,
  input: unknown,
): Promise<Updated> {
  const [result] = await hub.writeRemote(parameter.remote!, [{ parameter, input }], origin);
  if (result instanceof Error) {
    writes.refuse(result);
    throw result;
  }
  writes.taken++;
  return { p: parameter.address, v: result! };
}

async function answerLater(exchange: Exchange, updating: Promise<Updated>, asJson: boolean, log: Log): Promise<void> {
  try {
    const updated = await updating;
    exchange.reply((response) => replyUpdated(response, updated, asJson));
  } catch (error) {
    exchange.fail(asHubError(error, log), asJson);
  }
}

/** Answers with `OK` or, for a client that accepts JSON, with the converted value: `{"p":"desk/lamp","v":true}`. */
function replyUpdated(response: HttpResponse, updated: Updated, asJson: boolean): void {
  send(beginValue(response, asJson), asJson ? JSON.stringify(updated) : 'OK');
}

/** Parses `parameter=desk%2Flamp&value=true`. Each of the two names must occur exactly once; other names are ignored. */
function readForm(text: string, where: string): UncheckedUpdate {
  const found = new Map<string, string>();
  for (const pair of text.split('&')) {
    const equals = pair.indexOf('=');
    const name = decodeForm(equals < 0 ? pair : pair.slice(0, equals), where);
    if (name !== 'parameter' && name !== 'value') continue;
    if (found.has(name)) throw new HubError('bad-request', `${where}: expected ${name} once, got several`);
    found.set(name, equals < 0 ? '' : decodeForm(pair.slice(equals + 1), where));
  }
  return checkUpdate({ parameter: found.get('parameter'), value: found.get('value') }, where);
}

function decodeForm(text: string, where: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw new HubError('bad-request', `${where}: expected percent-encoded UTF-8, got "${text.slice(0, 60)}"`);
  }
}

function readJson(text: string): UncheckedUpdate {
  return checkUpdate(readObject(text, 'parameter and value'), 'body');
}

function checkUpdate({ parameter, value }: { parameter?: unknown; value?: unknown }, where: string): UncheckedUpdate {
  if (typeof parameter !== 'string' || parameter === '')
    throw new HubError(
      'bad-request',
      `${where}: expected parameter=<Connection ID>/<Parameter ID>, got ${describe(parameter)}`,
    );
  if (value === undefined) throw new HubError('bad-request', `${where}: expected a value, got nothing`);
  return { parameter, value };
}
