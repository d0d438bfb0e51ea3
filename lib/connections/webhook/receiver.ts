// A webhook that the hub receives. Checks the sender, recognizes repeated deliveries, and sets the values that a delivery contains.

import { createHash, createHmac } from 'node:crypto';
import { partAt } from '../../device/message.ts';
import { acceptedValue, Payload, readPath, readValue } from '../../device/payload.ts';
import { compileExpression, type Expression } from '../../expression/expression.ts';
import { describe, HubError, messageOf } from '../../model/error.ts';
import type { Value } from '../../model/value.ts';
import type { ConnectionContext, ConnectionEvent } from '../connection.ts';
import type { Delivery, Hook } from '../hub-port.ts';
import { aboutOf, type HookSettings, pathOf, type ValueSettings } from './settings.ts';
import { isSameText, isTimed, schemeOf, verify } from './signature.ts';

/** The maximum number of past deliveries that are remembered for each webhook. */
export const maxRemembered = 50_000;
/** The maximum number of delivery keys in one store item. */
const keysPerRow = 250;
/**
 * The maximum length of a delivery ID that is used completely, in characters. Longer IDs are distinguished by their beginning and their
 * length.
 */
const longestIdLength = 1024;

/** The numbers of accepted, repeated and refused deliveries since the connection started. */
export interface HookTotals {
  accepted: number;
  repeated: number;
  refused: number;
}

export class Receiver implements Hook {
  readonly totals: HookTotals = { accepted: 0, repeated: 0, refused: 0 };
  readonly #name: string;
  readonly #settings: HookSettings;
  readonly #context: ConnectionContext<unknown>;
  readonly #emit: (event: ConnectionEvent) => void;
  readonly #readers: readonly Reader[];
  readonly #seen: SeenDeliveries;
  /** The number of deliveries that may currently arrive, and the time at which this number was computed, in milliseconds. */
  #tokens: number;
  #tokensAtMs: number;

  constructor(
    name: string,
    settings: HookSettings,
    context: ConnectionContext<unknown>,
    emit: (event: ConnectionEvent) => void,
    left: unknown,
  ) {
    this.#name = name;
    this.#settings = settings;
    this.#context = context;
    this.#emit = emit;
    this.#readers = Object.entries(settings.values).map(([id, value]) => createReader(name, id, value));
    const keepMs =
      isTimed(schemeOf(settings.signature)) && settings.secret !== undefined ? 2 * settings.tolerance : undefined;
    this.#seen = new SeenDeliveries(name, keepMs, context, keysOf(left));
    this.#tokens = settings.perSecond;
    this.#tokensAtMs = context.scheduler.now();
  }

  /** The keys of the deliveries that the connection's next run must recognize as repetitions. */
  get seen(): readonly string[] {
    return this.#seen.kept;
  }

  receive(delivery: Delivery): { undo(): void } {
    try {
      return this.#receive(delivery);
    } catch (error) {
      this.totals.refused++;
      this.#note(delivery, messageOf(error));
      throw error;
    }
  }

  /** Receives the body of a delivery without a signature, as sent by a test. Errors: the same as for `receive`. */
  take(body: Buffer): void {
    this.#apply(this.#read(body, isJson(body) ? 'application/json' : 'text/plain'));
  }

  #receive(delivery: Delivery): { undo(): void } {
    const { maxBytes } = this.#settings;
    const keys = this.#admit(delivery);
    if (this.#seen.hasAny(keys)) return this.#repeated(delivery);
    if (delivery.body.length > maxBytes)
      throw new HubError('body-too-large', `body: expected at most ${maxBytes} bytes, got ${delivery.body.length}`);
    this.#expectRate();
    const values = this.#read(delivery.body, delivery.type);
    const remembered = [...keys, ...this.#idInBody(delivery)];
    if (this.#seen.hasAny(remembered)) return this.#repeated(delivery);
    if (!this.#seen.add(remembered))
      throw new HubError(
        'too-many-requests',
        'expected fewer deliveries: the list of recent deliveries, which detects repeated ones, is full: try again later',
      );
    this.#apply(values);
    this.totals.accepted++;
    this.#note(delivery);
    return { undo: () => this.#seen.remove(remembered) };
  }

  /** Checks the sender and returns the keys that identify the delivery. Errors: `unauthorized`. */
  #admit({ header, query, body }: Delivery): string[] {
    const { secret, token, signature, tolerance, id: idHeader, where } = this.#settings;
    const ownId = idHeader === undefined ? '' : header(idHeader.toLowerCase());
    if (token !== undefined) {
      createHmac('sha256', token).update(body).digest(); // so that the response time does not reveal which names exist
      if (!isSameText(token, tokenOf(where, header, query))) throw wrongSecret();
      return keyOfId(ownId);
    }
    const scheme = schemeOf(signature);
    const verified = verify(scheme, secret!, header, body);
    if (verified === undefined) throw wrongSecret();
    const { timestamp, id, isIdSigned, signature: digest } = verified;
    if (timestamp !== undefined) {
      const offMs = this.#context.timeOfDay() - timestamp * 1000;
      if (Math.abs(offMs) > tolerance)
        throw new HubError(
          'unauthorized',
          `delivery time: expected a time within ${tolerance / 1000} s of now, got ${Math.round(Math.abs(offMs) / 1000)} s ${offMs > 0 ? 'ago' : 'ahead'}`,
        );
    }
    const bySignature =
      (timestamp !== undefined && !isIdSigned) || scheme.isUnique ? [`s${digest.toString('base64')}`] : [];
    return [...keyOfId(ownId === '' ? id : ownId), ...bySignature];
  }

  #idInBody({ body, type }: Delivery): string[] {
    const { idPath } = this.#settings;
    const path = idPath ?? (this.#settings.signature === 'stripe' ? 'id' : undefined);
    if (path === undefined || !isJsonType(type)) return [];
    const id = partAt(new Payload(body).json, readPath(path));
    return typeof id === 'string' || typeof id === 'number' ? keyOfId(String(id)) : [];
  }

  /** Checks that deliveries do not arrive too fast. Errors: `too-many-requests`. */
  #expectRate(): void {
    const { perSecond } = this.#settings;
    const now = this.#context.scheduler.now();
    this.#tokens = Math.min(perSecond, this.#tokens + ((now - this.#tokensAtMs) / 1000) * perSecond);
    this.#tokensAtMs = now;
    if (this.#tokens < 1)
      throw new HubError('too-many-requests', `expected at most ${perSecond} deliveries per second, got more`);
    this.#tokens--;
  }

  /** Reads the values in a body and returns an event for each value. Errors: `body-type`, `unprocessable`. */
  #read(body: Buffer, type: string): ConnectionEvent[] {
    const content = readContent(body, type);
    return this.#readers.flatMap((reader) => reader.read(content));
  }

  /** Sets the values and then fires the webhook's trigger, all in one turn. */
  #apply(values: readonly ConnectionEvent[]): void {
    this.#context.turn(() => {
      for (const event of values) this.#emit(event);
      this.#emit({ set: this.#name, value: true });
    });
  }

  /** Counts a repeated delivery, which changes no values and is marked as a repetition in `patchbay wire`. */
  #repeated(delivery: Delivery): { undo(): void } {
    this.totals.repeated++;
    this.#note(delivery, undefined, ' repeated');
    return { undo() {} };
  }

  #note({ body, sender }: Delivery, fault?: string, kind = ''): void {
    const frame = Buffer.concat([Buffer.from(`${this.#name}${kind} from ${sender} `), body]);
    this.#context.wire('in', frame, fault);
  }
}

/** Returns the error for a wrong secret or an unknown webhook name. */
export function wrongSecret(): HubError {
  return new HubError('unauthorized', 'expected the name and the secret of a webhook on this hub');
}

function tokenOf(where: HookSettings['where'], header: Delivery['header'], query: string): string {
  if (where === undefined) return /^bearer +(\S+) *$/i.exec(header('authorization'))?.[1] ?? '';
  if ('header' in where) return header(where.header.toLowerCase());
  return new URLSearchParams(query).get(where.query) ?? '';
}

/** Returns the keys that identify a delivery with this ID. Keys are digests, because senders may use IDs of any length. */
function keyOfId(id: string): string[] {
  return id === '' ? [] : [`i${id.slice(0, longestIdLength)}${id.length > longestIdLength ? id.length : ''}`];
}

// Bodies and their values

interface Content {
  readonly text: string;
  /** The body as a JSON value or as the fields of a form; undefined if the body is plain text. */
  readonly tree: unknown;
  readonly isTree: boolean;
}

interface Reader {
  read(content: Content): ConnectionEvent[];
}

function isJsonType(type: string): boolean {
  return type === 'application/json' || /^application\/[\w.+-]+\+json$/.test(type);
}

function isJson(body: Buffer): boolean {
  return /^\s*[[{]/.test(body.toString('latin1', 0, 64));
}

/** Parses the body of a delivery according to its media type. Errors: `body-type`, `unprocessable`. */
function readContent(body: Buffer, type: string): Content {
  if (body.length === 0) return { text: '', tree: {}, isTree: true };
  const isForm = type === 'application/x-www-form-urlencoded';
  if (!isForm && !isJsonType(type) && type !== 'text/plain')
    throw new HubError(
      'body-type',
      `Content-Type: expected application/json, application/x-www-form-urlencoded or text/plain in UTF-8, got ${describe(type)}`,
    );
  const text = decode(body);
  if (isForm) return { text, tree: readForm(text), isTree: true };
  if (!isJsonType(type)) return { text, tree: undefined, isTree: false };
  try {
    return { text, tree: JSON.parse(text), isTree: true };
  } catch (error) {
    throw new HubError('unprocessable', `body: expected JSON, got invalid text: ${messageOf(error)}`);
  }
}

function decode(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw new HubError('unprocessable', 'body: expected UTF-8, got invalid bytes');
  }
}

function readForm(text: string): object {
  const fields = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(text)) {
    const values = fields.get(name);
    if (values === undefined) fields.set(name, [value]);
    else values.push(value);
  }
  return Object.fromEntries([...fields].map(([name, values]) => [name, values.length === 1 ? values[0] : values]));
}

function createReader(hook: string, name: string, settings: ValueSettings): Reader {
  const { type, on, off, choices, required, value: written } = settings;
  const id = `${hook}/${name}`;
  const steps = pathOf(name, settings);
  const about = aboutOf(settings);
  const compute: Expression | undefined =
    written === undefined ? undefined : compileExpression(written, { value: undefined }).evaluate;
  const partOf = ({ text, tree, isTree }: Content): unknown => {
    if (isTree) return partAt(tree, steps);
    return settings.path === undefined || steps.length === 0 ? text : undefined;
  };
  return {
    read(content) {
      try {
        const part = partOf(content);
        if (part === undefined && required) throw new Error('expected a value, got nothing');
        const computed = compute === undefined || part == null ? part : compute({ value: numberOf(part) });
        const value = readValue(type, computed, { on, off }, choices);
        if (value === undefined) return [];
        if (value === null) return type === 'T' ? [] : [{ unset: id }];
        return [{ set: id, value: type === 'T' ? true : acceptedValue(type, about, value) }];
      } catch (error) {
        throw new HubError('unprocessable', `${name}: ${messageOf(error)}`);
      }
    },
  };
}

/**
 * Converts a part of a body to a value for expressions: a string that contains a number becomes that number, and a list or an object
 * becomes JSON.
 */
function numberOf(part: unknown): Value {
  if (typeof part === 'number' || typeof part === 'boolean') return part;
  const text = typeof part === 'string' ? part : JSON.stringify(part);
  return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
}

// Past deliveries, identified by their IDs or signatures

/** The latest deliveries of a webhook. In a store, their keys are grouped in rows. */
class SeenDeliveries {
  readonly #keepMs: number | undefined;
  readonly #context: ConnectionContext<unknown>;
  readonly #prefix: string;
  /**
   * The time at which each delivery arrived, in milliseconds on the connection's clock, and the row that contains it. Keyed by delivery
   * key, oldest first.
   */
  readonly #keys = new Map<string, { readonly atMs: number; readonly row: number }>();
  readonly #rows = new Map<number, Set<string>>();
  #row = 0;

  /**
   * `keepMs` is the time for which a key must be remembered, in milliseconds. If it is undefined, keys are remembered while there is space.
   */
  constructor(hook: string, keepMs: number | undefined, context: ConnectionContext<unknown>, left: readonly string[]) {
    this.#keepMs = keepMs;
    this.#context = context;
    this.#prefix = `seen ${hook} `;
    for (const key of [...this.#recalled(), ...left]) if (!this.#keys.has(key)) this.#put(key);
  }

  hasAny(keys: readonly string[]): boolean {
    return keys.some((key) => this.#keys.has(digestOf(key)));
  }

  /** Adds keys. Returns false if there is no space because all existing keys must still be remembered. */
  add(keys: readonly string[]): boolean {
    const now = this.#context.scheduler.now();
    for (const [oldest, { atMs }] of this.#keys) {
      const isFull = this.#keys.size + keys.length > maxRemembered;
      const isOver = this.#keepMs !== undefined && now - atMs > this.#keepMs;
      if (!isFull && !isOver) break;
      if (isFull && !isOver && this.#keepMs !== undefined) return false;
      this.#delete(oldest);
    }
    for (const key of keys) this.#put(digestOf(key));
    return true;
  }

  remove(keys: readonly string[]): void {
    for (const key of keys) this.#delete(digestOf(key));
  }

  /** The keys to leave for the connection's next run. */
  get kept(): readonly string[] {
    return [...this.#keys.keys()];
  }

  #put(key: string): void {
    if ((this.#rows.get(this.#row)?.size ?? 0) >= keysPerRow) this.#row++;
    const keys = this.#rows.get(this.#row) ?? new Set();
    this.#rows.set(this.#row, keys);
    keys.add(key);
    this.#keys.set(key, { atMs: this.#context.scheduler.now(), row: this.#row });
    this.#store(this.#row);
  }

  #delete(key: string): void {
    const found = this.#keys.get(key);
    if (found === undefined) return;
    this.#keys.delete(key);
    const keys = this.#rows.get(found.row)!;
    keys.delete(key);
    if (keys.size === 0) this.#rows.delete(found.row);
    this.#store(found.row);
  }

  #store(row: number): void {
    this.#context.memory?.changed(this.#prefix + row, () => {
      const keys = this.#rows.get(row);
      return keys === undefined ? undefined : [...keys];
    });
  }

  #recalled(): readonly string[] {
    const { memory } = this.#context;
    const rows: { readonly place: number; readonly keys: readonly string[] }[] = [];
    for (const [name, row] of memory?.recalled ?? []) {
      if (!name.startsWith(this.#prefix)) continue;
      rows.push({ place: Number(name.slice(this.#prefix.length)), keys: keysOf(row) });
      memory!.changed(name, () => undefined); // the keys in this row are stored again in other rows
    }
    rows.sort((a, b) => a.place - b.place); // oldest first, because keys are forgotten in this order
    return rows.flatMap(({ keys }) => keys).slice(-maxRemembered);
  }
}

/** Returns the keys in data from the store or from an earlier run. */
export function keysOf(data: unknown): readonly string[] {
  return Array.isArray(data) ? data.filter((key) => typeof key === 'string' && key.length <= 64) : [];
}

function digestOf(key: string): string {
  return createHash('sha256').update(key).digest('base64').slice(0, 22);
}
