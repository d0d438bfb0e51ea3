// HTTP messages: requests and their patterns, answers with a status and headers, and server-sent events. In text form, a request consists
// of a first line such as `PUT /lamp?id=1`, headers, an empty line and the body. An answer begins with a line such as `HTTP 200 OK`.

import { describe, HubError } from '../model/error.ts';
import { toText, type Value } from '../model/value.ts';
import { type Matcher, Message, type TreeFormat, TreePattern } from './message.ts';
import { type CompileExpression, Pattern, PatternError, type Values } from './pattern.ts';
import type { HttpHead, ServerEvent } from './transport.ts';

export const httpMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

/** A request as written in a description. */
export interface DescribedRequest {
  readonly method?: (typeof httpMethods)[number] | undefined;
  readonly path: string;
  readonly query?: Readonly<Record<string, Value>> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: unknown;
  readonly form?: Readonly<Record<string, Value>> | undefined;
}

/** A request that was parsed from its text form. */
export interface HttpRequest {
  readonly method: string;
  /** The path and the query of the request's URL. */
  readonly target: string;
  /** The headers of the request, keyed by their lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

const requestLine = /^([A-Z]+) (\/[^\s]*)(?: ([^\n]*))?(?:\n|$)/;

/**
 * Parses the text form of a request. The body may also follow the path on the first line. Returns undefined if the text is not a request.
 */
export function readRequest(text: string): HttpRequest | undefined {
  const first = requestLine.exec(text);
  if (first === null) return undefined;
  const [line, method, target, shortBody] = first;
  const end = text.indexOf('\n\n', line.length - 1);
  const lines = text.slice(line.length, end < 0 ? undefined : Math.max(end, line.length)).split('\n');
  return {
    method: method!,
    target: target!,
    headers: readHeaders(lines),
    body: end >= 0 ? text.slice(end + 2) : shortBody,
  };
}

/** Returns the text form of a request. */
export function writeRequest({ method, target, headers, body }: HttpRequest): string {
  const lines = Object.entries(headers).map(([name, value]) => `\n${name}: ${value}`);
  return `${method} ${target}${lines.join('')}${body === undefined ? '' : `\n\n${body}`}`;
}

function readHeaders(lines: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const at = line.indexOf(':');
    if (at > 0) headers[line.slice(0, at).trim().toLowerCase()] = line.slice(at + 1).trim();
  }
  return headers;
}

/** Returns an answer as text for people to read. Credentials are removed from the headers. */
export function writeAnswer({ status, statusText, headers }: HttpHead, body: string): string {
  let text = `HTTP ${status}`;
  if (statusText !== '') text += ` ${statusText}`;
  for (const name in headers) {
    const value = headers[name]!;
    text += `\n${name}: ${name === 'set-cookie' ? value.replace(/=[^;]*/, '=***') : value}`;
  }
  return body === '' ? text : `${text}\n\n${body}`;
}

/**
 * Converts the value of a `Retry-After` header to milliseconds. The value is a number of seconds or a date (RFC 9110, section 10.2.3).
 * Returns undefined for other values.
 */
export function retryAfterMs(written: string | undefined, nowMs: number): number | undefined {
  if (written === undefined) return undefined;
  if (/^\s*\d{1,9}\s*$/.test(written)) return Number(written) * 1000;
  const ms = Date.parse(written) - nowMs;
  return Number.isNaN(ms) ? undefined : Math.max(ms, 0);
}

/** An answer from an HTTP device, or a server-sent event. */
export class HttpMessage extends Message {
  readonly #format: TreeFormat;
  readonly head: HttpHead | undefined;
  readonly event: ServerEvent | undefined;

  constructor(text: string, format: TreeFormat, head: HttpHead | undefined, event: ServerEvent | undefined) {
    super(text, format);
    this.#format = format;
    this.head = head;
    this.event = event;
  }

  /** Returns an answer with the same body and other headers. The body is not parsed again. */
  withHead(head: HttpHead): HttpMessage {
    const message = new HttpMessage(this.text, this.#format, head, undefined);
    message.takeTree(this);
    return message;
  }

  get isOk(): boolean {
    return this.head === undefined || (this.head.status >= 200 && this.head.status < 300);
  }
}

/**
 * Parses the messages of a device in a test: `HTTP 404 Not Found`, events in their wire format, or the body of an answer with
 * status 200.
 */
export function readPlayed(text: string, format: TreeFormat): readonly HttpMessage[] {
  const first = /^HTTP(?:\/\d(?:\.\d)?)? (\d{3}) ?([^\n]*)(?:\n|$)/.exec(text);
  if (first !== null) {
    const end = text.indexOf('\n\n', first[0].length - 1);
    const lines = text.slice(first[0].length, end < 0 ? undefined : Math.max(end, first[0].length)).split('\n');
    const head = { status: Number(first[1]), statusText: first[2]!, headers: readHeaders(lines) };
    return [new HttpMessage(end < 0 ? '' : text.slice(end + 2), format, head, undefined)];
  }
  if (/^(?:event|data|id|retry): ?\S/.test(text)) {
    const events = new EventReader().push(`${text}\n\n`);
    return events.map((event) => new HttpMessage(event.data, format, undefined, event));
  }
  return [new HttpMessage(text, format, { status: 200, statusText: 'OK', headers: {} }, undefined)];
}

/** The maximum length of a server-sent event, in characters. */
export const maxEventLength = 1_048_576;
/** The maximum length of an event ID that the hub repeats in Last-Event-ID, in characters. */
const maxIdLength = 1024;

/** Parses a stream of server-sent events (WHATWG HTML, section 9.2.6). Errors: `Error` if an event is too long. */
export class EventReader {
  /** The beginning of a line whose end has not arrived yet. */
  #rest = '';
  /** Whether the last character was `\r`. A following `\n` then belongs to the same line end. */
  #isAfterReturn = false;
  #data: string[] = [];
  #length = 0;
  #name = '';
  #id = '';
  #retryMs: number | undefined;
  #isFirst = true;

  push(text: string): readonly ServerEvent[] {
    const events: ServerEvent[] = [];
    let at = 0;
    if (this.#isFirst && text !== '') {
      if (text.startsWith('\ufeff')) at = 1;
      this.#isFirst = false;
    }
    if (this.#isAfterReturn && text !== '') {
      if (text[at] === '\n') at++; // belongs to the previous line end
      this.#isAfterReturn = false;
    }
    for (;;) {
      const end = endOfLine(text, at); // does not search `#rest` again, because a long line would then take quadratic time
      if (end === undefined) break;
      const event = this.#line(this.#rest + text.slice(at, end.from));
      this.#rest = '';
      if (event !== undefined) events.push(event);
      at = end.to;
    }
    this.#isAfterReturn ||= at > 0 && at === text.length && text[at - 1] === '\r';
    this.#rest += text.slice(at);
    if (this.#rest.length + this.#length > maxEventLength)
      throw new Error(`an event is longer than ${maxEventLength} characters`);
    return events;
  }

  #line(line: string): ServerEvent | undefined {
    if (line === '') return this.#dispatch();
    const colon = line.indexOf(':');
    if (colon === 0) return undefined; // a comment that keeps the stream alive
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'data') {
      this.#length += value.length + 1;
      if (this.#length > maxEventLength) throw new Error(`an event is longer than ${maxEventLength} characters`);
      this.#data.push(value);
    } else if (field === 'event') this.#name = value.slice(0, maxIdLength);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: an ID with a control character could not be sent as a header
    else if (field === 'id' && !/[\0-\x1f\x7f]/.test(value) && value.length <= maxIdLength) this.#id = value;
    else if (field === 'retry' && /^\d{1,9}$/.test(value)) this.#retryMs = Number(value);
    return undefined;
  }

  #dispatch(): ServerEvent | undefined {
    const [name, data] = [this.#name, this.#data];
    this.#name = '';
    this.#data = [];
    this.#length = 0;
    if (data.length === 0) return undefined;
    return { name: name === '' ? 'message' : name, id: this.#id, data: data.join('\n'), retryMs: this.#retryMs };
  }
}

/** Returns the offset of the next line end and the offset after it, or undefined if there is no further line end. */
function endOfLine(text: string, at: number): { readonly from: number; readonly to: number } | undefined {
  for (let place = at; place < text.length; place++) {
    const code = text.charCodeAt(place);
    if (code === 10) return { from: place, to: place + 1 };
    if (code !== 13) continue;
    return { from: place, to: text.charCodeAt(place + 1) === 10 ? place + 2 : place + 1 };
  }
  return undefined;
}

interface NamedPattern {
  readonly name: string;
  readonly pattern: Pattern;
}

/**
 * The pattern for a request, with values in braces. Each value is encoded according to its position, so that it cannot change the structure
 * of the request.
 */
export class RequestPattern implements Matcher {
  readonly text: string;
  readonly names = new Set<string>();
  readonly #method: string;
  readonly #path: Pattern;
  readonly #query: readonly NamedPattern[];
  readonly #headers: readonly NamedPattern[];
  readonly #form: readonly NamedPattern[] | undefined;
  readonly #body: { readonly tree: TreePattern } | { readonly text: Pattern } | undefined;
  readonly #isXml: boolean;
  /** Whether the request contains no values and is therefore always the same, like most polls. */
  readonly #isFixed: boolean;
  #fixed: string | undefined;

  /** `path` is the path to the request in the description, which mistakes refer to. Errors: `RequestMistake`. */
  constructor(
    { method, path, query = {}, headers = {}, body, form }: DescribedRequest,
    common: Readonly<Record<string, string>>,
    format: TreeFormat,
    compile: CompileExpression,
  ) {
    const pattern = (key: string, name: string | undefined, written: Value) => {
      try {
        const parsed = Pattern.parse(toText(written), false, compile);
        for (const one of parsed.names) this.names.add(one);
        return parsed;
      } catch (error) {
        throw new RequestMistake(name === undefined ? [key] : [key, name], error as PatternError);
      }
    };
    const all = (key: string, written: Readonly<Record<string, Value>>) =>
      Object.entries(written).map(([name, value]) => ({ name, pattern: pattern(key, name, value) }));
    this.#isXml = format === 'xml';
    this.#method = method ?? (body === undefined && form === undefined ? 'GET' : 'POST');
    this.text = `${this.#method} ${path}`;
    this.#path = pattern('path', undefined, path);
    this.#query = all('query', query);
    this.#form = form === undefined ? undefined : all('form', form);
    const own = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
    const inherited = Object.entries(common).filter(([name]) => !own.has(name.toLowerCase()));
    this.#headers = all('headers', { ...Object.fromEntries(inherited), ...headers });
    const has = (name: string) => this.#headers.some((one) => one.name.toLowerCase() === name);
    const type = form !== undefined ? formType : typeof body === 'string' ? textTypes[format] : undefined;
    if (type !== undefined && !has('content-type'))
      this.#headers = [...this.#headers, { name: 'content-type', pattern: pattern('headers', 'content-type', type) }];
    if (typeof body === 'string') this.#body = { text: pattern('body', undefined, body) };
    else if (body !== undefined)
      try {
        const tree = new TreePattern(body, compile);
        for (const name of tree.names) this.names.add(name);
        this.#body = { tree };
      } catch (error) {
        throw new RequestMistake(['body'], error as PatternError);
      }
    const named = [...this.#query, ...this.#headers, ...(this.#form ?? [])].map(({ pattern: one }) => one);
    const patterns = [
      this.#path,
      ...named,
      ...(this.#body !== undefined && 'text' in this.#body ? [this.#body.text] : []),
    ];
    const isTree = this.#body !== undefined && 'tree' in this.#body;
    this.#isFixed = !isTree && patterns.every(({ isLiteral }) => isLiteral);
  }

  match(): undefined {
    return undefined;
  }

  /**
   * Returns the text form of the request with these values. Errors: any error from `Pattern.format`, and `out-of-range` if a value would
   * change the path or a header.
   */
  format(values: Values): string {
    if (!this.#isFixed) return this.#format(values);
    this.#fixed ??= this.#format(values);
    return this.#fixed;
  }

  #format(values: Values): string {
    const pairs = (list: readonly NamedPattern[]) =>
      list.map(({ name, pattern }) => `${encodePart(name)}=${encodePart(pattern.format(values))}`).join('&');
    let target = this.#path.format(values, encodePart);
    target = target.replaceAll(unsafe, encodePart);
    const path = target.split('?', 1)[0]!;
    if (/(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i.test(path))
      throw new HubError('out-of-range', `expected a path without the segments . and .., got ${describe(path)}`);
    if (this.#query.length > 0) target += `${target.includes('?') ? '&' : '?'}${pairs(this.#query)}`;
    let text = `${this.#method} ${target}`;
    for (const { name, pattern } of this.#headers) {
      const value = pattern.format(values);
      // a line break would start a new header
      if (/[^\t\x20-\x7e\x80-\xff]/.test(value))
        throw new HubError(
          'out-of-range',
          `expected a single line of Latin-1 text in the header ${name}, got ${describe(value)}`,
        );
      if (value !== '') text += `\n${name.toLowerCase()}: ${value}`;
    }
    const body = this.#form !== undefined ? pairs(this.#form) : this.#formatBody(values);
    return body === undefined ? text : `${text}\n\n${body}`;
  }

  #formatBody(values: Values): string | undefined {
    const body = this.#body;
    if (body === undefined) return undefined;
    if ('tree' in body) return body.tree.format(values);
    return body.text.format(values, this.#isXml ? escapeXml : undefined);
  }
}

/** The characters that must be encoded in a path, even if they are written in the description. */
const unsafe = /[^\x21-\x7e]+|["#<>\\^`{|}]/g;

/** Encodes a string for use in a path, a query or a form. An unpaired surrogate becomes U+FFFD. */
function encodePart(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

const formType = 'application/x-www-form-urlencoded';
/** The content types of bodies that are written as strings. A JSON body can also be written as an object. */
const textTypes: Readonly<Record<TreeFormat, string>> = { json: 'text/plain; charset=utf-8', xml: 'application/xml' };

/** Escapes a string for XML. Errors: `out-of-range` for control characters, which XML cannot contain. */
function escapeXml(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: XML 1.0 2.2
  if (/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/.test(text))
    throw new HubError('out-of-range', 'expected a value that contains no control characters');
  const named: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return text.replace(/[&<>"]/g, (character) => named[character]!);
}

/** A mistake in a part of a request. */
export class RequestMistake extends PatternError {
  readonly path: readonly string[];

  constructor(path: readonly string[], { message, offset }: PatternError) {
    super(message, offset);
    this.path = path;
  }
}

export interface DescribedAnswer {
  readonly status?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly event?: string | undefined;
}

/** The pattern for an answer or an event: its body, and its status, headers or event name. */
export class AnswerPattern implements Matcher {
  readonly text: string;
  readonly names: ReadonlySet<string>;
  readonly ofBody: Matcher | undefined;
  readonly status: number | undefined;
  readonly #event: string | undefined;
  readonly #headers: readonly NamedPattern[];

  /** `body` is undefined if every body matches. Errors: `PatternError`. */
  constructor(body: Matcher | undefined, written: DescribedAnswer, compile: CompileExpression) {
    this.ofBody = body;
    this.status = written.status;
    this.#event = written.event;
    this.#headers = Object.entries(written.headers ?? {}).map(([name, text]) => ({
      name: name.toLowerCase(),
      pattern: Pattern.parse(text, false, compile),
    }));
    this.text = body?.text ?? String(written.status ?? written.event);
    this.names = new Set([...(body?.names ?? []), ...this.#headers.flatMap(({ pattern }) => [...pattern.names])]);
  }

  match(message: Message, known?: Values): Map<string, Value> | undefined {
    if (!(message instanceof HttpMessage)) return undefined;
    const { head, event } = message;
    if (this.status !== undefined && head?.status !== this.status) return undefined;
    if (this.#event !== undefined && event?.name !== this.#event) return undefined;
    const found = this.ofBody === undefined ? new Map<string, Value>() : this.ofBody.match(message, known);
    if (found === undefined) return undefined;
    for (const { name, pattern } of this.#headers) {
      const value = head?.headers[name];
      const read = value === undefined ? undefined : pattern.match(value, known);
      if (read === undefined) return undefined;
      for (const [key, one] of read) found.set(key, one);
    }
    return found;
  }

  format(): string {
    throw new HubError('not-convertible', 'expected a request, got the pattern of an answer');
  }
}
