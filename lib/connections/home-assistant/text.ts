// Messages in the form that `patchbay wire` shows and that tests use: `7 call light.turn_on light.kitchen {"brightness":128}`, `4 states
// light.kitchen=on {"brightness":128}; sensor.door=closed`, `7 error "…"`. All other messages have the form `<ID> <type> <the rest as
// JSON>`.

import { messageOf } from '../../model/error.ts';
import { isJsonObject } from '../../model/json-object.ts';

type Message = Readonly<Record<string, unknown>>;

const entityPattern = /\s*([a-z0-9_]+\.[a-z0-9_]+)(?:=("(?:[^"\\]|\\.)*"|[^\s;{]+))?\s*/y;

/** Returns a message in readable form. JSON that is not a message, and text that is not JSON, are returned unchanged. */
export function showMessage(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  try {
    const json: unknown = JSON.parse(text);
    const all = Array.isArray(json) ? json : [json];
    return all.every(isJsonObject) ? all.map(showOne).join(' + ') : text;
  } catch {
    return text;
  }
}

function showOne({ id, type, ...rest }: Message): string {
  const head = id === undefined ? [] : [String(id)];
  const {
    target,
    domain,
    service,
    service_data: data,
    event,
    message,
    error,
    success,
    result,
    access_token: token,
  } = rest;
  const of = (...parts: readonly (string | undefined)[]) =>
    [...head, ...parts.filter((part) => part !== undefined && part !== '')].join(' ');
  if (type === 'auth') return of('auth', String(token));
  if (type === 'auth_invalid') return of('auth_invalid', JSON.stringify(message));
  if (type === 'auth_required' || type === 'auth_ok') return of(type);
  if (type === 'call_service') {
    const entity = isJsonObject(target) ? String(target.entity_id) : undefined;
    return of('call', `${domain}.${service}`, entity, data === undefined ? undefined : JSON.stringify(data));
  }
  if (type === 'result' && success === true)
    return of('result', result === null || result === undefined ? undefined : JSON.stringify(result));
  if (type === 'result') return of('error', JSON.stringify(isJsonObject(error) ? error.message : error));
  if (type === 'event' && isJsonObject(event)) return of(showEvent(event) ?? `event ${JSON.stringify(event)}`);
  return of(String(type), Object.keys(rest).length === 0 ? undefined : JSON.stringify(rest));
}

/** Returns the readable form of an event from a subscription to entities if the event contains only states; otherwise undefined. */
function showEvent({ a, c, r, ...others }: Message): string | undefined {
  if (Object.keys(others).length > 0 || [a, c, r].filter((one) => one !== undefined).length !== 1) return undefined;
  if (Array.isArray(r)) return `remove ${r.join('; ')}`;
  const shown = Object.entries((a ?? c) as Message).map(([id, one]) => {
    const { s, a: attributes = {}, '-': removed } = ((a === undefined ? (one as Message)['+'] : one) ?? {}) as Message;
    if (removed !== undefined || (isJsonObject(one) && one['-'] !== undefined)) return undefined;
    const state = s === undefined ? '' : `=${/^[^\s;{"]+$/.test(String(s)) ? s : JSON.stringify(s)}`;
    return `${id}${state}${Object.keys(attributes as object).length === 0 ? '' : ` ${JSON.stringify(attributes)}`}`;
  });
  if (shown.includes(undefined)) return undefined;
  return `${a === undefined ? 'change' : 'states'} ${shown.join('; ')}`.trim();
}

/** Reads a test's message in readable form or as JSON. Errors: `Error` with a readable message. */
export function readMessage(text: string): Uint8Array {
  const trimmed = text.trim();
  if (/^[{[]/.test(trimmed)) return Buffer.from(trimmed);
  const [, id, type, rest] = /^(?:(\d+)\s+)?([a-z_/]+)\s*(.*)$/s.exec(trimmed) ?? [];
  if (type === undefined) throw new Error(`expected a message such as "4 states light.kitchen=on", got "${trimmed}"`);
  const head = id === undefined ? {} : { id: Number(id) };
  return Buffer.from(JSON.stringify({ ...head, ...bodyOf(type, rest ?? '') }));
}

function bodyOf(type: string, rest: string): Message {
  switch (type) {
    case 'auth':
      return { type, access_token: rest };
    case 'auth_invalid':
      return { type, message: parse(rest || '""') };
    case 'error':
      return { type: 'result', success: false, error: { code: 'home_assistant_error', message: parse(rest || '""') } };
    case 'result':
      return { type, success: true, result: rest === '' ? null : parse(rest) };
    case 'states':
      return {
        type: 'event',
        event: { a: Object.fromEntries(readEntities(rest).map(([key, s, a]) => [key, { s, a, c: 'test', lc: 0 }])) },
      };
    case 'change':
      return {
        type: 'event',
        event: {
          c: Object.fromEntries(
            readEntities(rest).map(([key, s, a]) => [
              key,
              { '+': { ...(s !== undefined && { s }), ...(Object.keys(a).length > 0 && { a }), lc: 0 } },
            ]),
          ),
        },
      };
    case 'remove':
      return { type: 'event', event: { r: rest.split(';').map((one) => one.trim()) } };
    case 'call': {
      const [, domain, service, entity, data] =
        /^(\w+)\.(\w+)\s*([a-z0-9_]+\.[a-z0-9_]+)?\s*(\{.*\})?$/s.exec(rest) ?? [];
      return {
        ...{ type: 'call_service', domain, service },
        ...(data !== undefined && { service_data: parse(data) }),
        ...(entity !== undefined && { target: { entity_id: entity } }),
      };
    }
    default: {
      const more = rest === '' ? {} : parse(rest);
      return type === 'event' ? { type, event: more } : { type, ...(isJsonObject(more) ? more : {}) };
    }
  }
}

type Read = readonly [id: string, state: string | undefined, attributes: object];

/** Reads a list of entities, such as `light.kitchen=on {"brightness":128}; sensor.door="a b"`. */
function readEntities(text: string): readonly Read[] {
  const found: Read[] = [];
  let at = 0;
  while (at < text.length) {
    entityPattern.lastIndex = at;
    const [whole, id, state] = entityPattern.exec(text) ?? [];
    if (id === undefined) throw new Error(`expected an entity such as light.kitchen=on, got "${text.slice(at)}"`);
    at += whole!.length;
    const end = text[at] === '{' ? endOfObject(text, at) : at;
    const attributes = (end === at ? {} : parse(text.slice(at, end))) as object;
    found.push([id, state?.startsWith('"') === true ? String(parse(state)) : state, attributes]);
    at = end;
    while (/[\s;]/.test(text[at] ?? '')) at++;
  }
  return found;
}

/** Returns the position after the object that begins at the given position. */
function endOfObject(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const sign = text[at];
    if (sign === '"') while (++at < text.length && text[at] !== '"') if (text[at] === '\\') at++;
    if (sign === '{') depth++;
    if (sign === '}' && --depth === 0) return at + 1;
  }
  return text.length;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`expected JSON, got ${text}: ${messageOf(error)}`);
  }
}
