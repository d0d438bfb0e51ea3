// A page is a JSON answer. A page is produced in slices that alternate with the slices of other clients. It is sent with an ETag or, if it
// is long, as fast as the client can read. Only a few pages that take several slices are in progress at the same time, because unsent JSON
// is held in memory.

import type { Account } from '../../../model/held-bytes.ts';
import type { HttpRequest, HttpResponse } from '../../../net/uws.ts';
import type { Log } from '../../connection.ts';
import { asHubError } from '../input/parse-input.ts';
import { shareOf } from '../limits/rates.ts';
import type { FairQueue, Task } from '../pacing/fair-queue.ts';
import { remoteAddressOf } from '../proxies/trusted-proxies.ts';
import type { Principal } from '../users/principal.ts';
import { expectPresent } from '../users/view.ts';
import type { Handler } from './admission.ts';
import { acceptOf, wantsJsonErrors } from './answer/accept.ts';
import { type Preconditions, preconditionsOf } from './answer/conditional.ts';
import { begin, jsonType } from './answer/headers.ts';
import { JsonText, jsonAnswerOf, replyJson, taggedText } from './answer/reply.ts';
import { holdFor, send } from './answer/send.ts';
import { type Exchange, keepResponse } from './exchange.ts';

/** The content of a page that is not JSON and that caches must not store. */
export class PlainText {
  readonly type: string;
  readonly text: string;

  constructor(type: string, text: string) {
    this.type = type;
    this.text = text;
  }
}

/** The content of a page that is a JSON list with one item per line. An undefined item means that finding the next item takes a while. */
export class Lines<Item> {
  readonly items: Iterable<Item | undefined>;

  constructor(items: Iterable<Item | undefined>) {
    this.items = items;
  }
}

/** The content of a page: data, in which a list may be produced item by item, or its finished text. */
export type Page = object | JsonText | PlainText | Lines<unknown>;

/** A request for a page. */
export interface PageRequest {
  /** The path as the client sent it, percent-encoded. */
  readonly path: string;
  readonly query: string;
  readonly principal: Principal;
}

/** Returns the content of a page, or a promise if the data arrives later. */
export type ReadPage = (request: PageRequest) => Page | Promise<Page>;

/** The number of characters that are produced before the hub begins to send a page. A longer page has no ETag. */
const mostWithTag = 1024 * 1024;
const chunkLength = 16 * 1024;
/** The maximum number of pages in progress that take several slices. One user or network may use at most half of the free slots. */
const mostInProgress = 16;
/** The number of characters between two checks of the clock. */
const lookEvery = 4096;

/**
 * Creates a handler that answers with JSON, or with 304. A short page is answered immediately, unless other clients have used up the time
 * in this round.
 */
export function servePage(read: ReadPage, queue: FairQueue, log: Log): Handler {
  return (response, request, principal) => queue.do(new PageAnswer(read, queue, log, response, request, principal));
}

class PageAnswer implements Task {
  readonly share: string;
  readonly line = undefined;
  readonly #read: ReadPage;
  readonly #queue: FairQueue;
  readonly #log: Log;
  readonly #request: PageRequest;
  readonly #preconditions: Preconditions;
  readonly #asJson: boolean;
  readonly #exchange: Exchange;
  #page: Page | undefined = undefined;
  #pieces: Iterator<string> | undefined = undefined;
  /** The characters that have been produced but not sent yet. */
  #text = '';
  #hasBegun = false;
  #isWaiting = false;
  #isInProgress = false;
  /** The account for the characters that have been produced but that the client has not read yet. */
  #account: Account | undefined = undefined;

  constructor(
    read: ReadPage,
    queue: FairQueue,
    log: Log,
    response: HttpResponse,
    request: HttpRequest,
    principal: Principal,
  ) {
    const path = request.getUrl();
    this.share = shareOf(principal, remoteAddressOf(response));
    this.#read = read;
    this.#queue = queue;
    this.#log = log;
    this.#request = { path, query: request.getQuery() ?? '', principal };
    this.#preconditions = preconditionsOf(request);
    this.#asJson = wantsJsonErrors(path, acceptOf(request));
    this.#exchange = keepResponse(response);
    this.#exchange.whenAborted(() => this.#release());
  }

  advance(endMs: number): boolean {
    const hasWaited = this.#isWaiting;
    this.#isWaiting = false;
    const hasMore = this.#advance(endMs);
    if (hasWaited) pagesInProgress.goOn(); // a page that completes within this slice never calls `end`
    return hasMore;
  }

  #advance(endMs: number): boolean {
    if (this.#exchange.isAborted) return false;
    try {
      expectPresent(this.#request.principal); // even if the page arrives late
      if (this.#page === undefined) {
        if (!pagesInProgress.mayBegin(this.share)) return this.#wait();
        const page = this.#read(this.#request);
        if (page instanceof Promise) {
          page.then((late) => this.#goOn(late)).catch((error) => this.#fail(error));
          return false;
        }
        this.#page = page;
      }
      return this.#answer(this.#page, endMs);
    } catch (error) {
      this.#fail(error);
      return false;
    }
  }

  #wait(): false {
    this.#isWaiting = true;
    pagesInProgress.wait(this.share, () => this.#queue.add(this));
    return false;
  }

  #goOn(page: Page): void {
    this.#page = page;
    this.#queue.do(this);
  }

  #fail(error: unknown): void {
    this.#release();
    this.#exchange.fail(asHubError(error, this.#log), this.#asJson);
  }

  #answer(page: Page, endMs: number): boolean {
    if (page instanceof JsonText) return this.#reply(page);
    if (page instanceof PlainText) {
      this.#exchange.reply((response) => replyText(response, page));
      return false;
    }
    this.#pieces ??= page instanceof Lines ? linesOf(page) : jsonPieces(page);
    let untilLook = lookEvery; // a short page is produced in one slice, even if the machine is busy with other programs
    for (;;) {
      const { done, value } = this.#pieces.next();
      if (done) return this.#end();
      this.#text += value;
      if (this.#text.length > (this.#hasBegun ? chunkLength : mostWithTag) && !this.#write()) return false;
      untilLook = value === '' ? 0 : untilLook - value.length;
      if (untilLook > 0) continue;
      untilLook = lookEvery;
      if (performance.now() < endMs) continue;
      this.#count(this.#text.length);
      if (!this.#isInProgress && !this.#hasBegun) pagesInProgress.begin(this.share);
      this.#isInProgress = !this.#hasBegun;
      return true;
    }
  }

  /** Releases the memory that is charged for the page, and its slot. */
  #release(): void {
    this.#account?.set(0);
    if (!this.#isInProgress) return;
    this.#isInProgress = false;
    pagesInProgress.end(this.share);
  }

  #count(bytes: number): void {
    if (this.#exchange.isAborted) return;
    this.#account ??= holdFor(this.#exchange.response, 'answers', this.share);
    this.#account.set(bytes);
  }

  #end(): false {
    this.#release();
    const text = `${this.#text}\n`;
    if (!this.#hasBegun) return this.#reply(taggedText(text));
    this.#exchange.reply((response) => response.end(text));
    return false;
  }

  /** Answers with a complete page and its ETag, or with 304. Errors: `precondition-failed`. */
  #reply(text: JsonText): false {
    const made = jsonAnswerOf(text, this.#preconditions);
    this.#exchange.reply((response) => replyJson(response, made));
    return false;
  }

  /** Sends everything produced so far; returns whether the client can receive more immediately. */
  #write(): boolean {
    let isTaken = true;
    if (!this.#hasBegun) this.#release();
    this.#exchange.reply((response) => {
      if (!this.#hasBegun)
        begin(response).writeHeader('Content-Type', jsonType).writeHeader('Cache-Control', 'no-cache');
      this.#hasBegun = true;
      isTaken = response.write(this.#text);
    });
    this.#count(isTaken ? 0 : this.#text.length);
    this.#text = '';
    if (!isTaken) void this.#exchange.writable().then(() => this.#queue.add(this));
    return isTaken;
  }
}

/** Counts the pages in progress, and holds the pages that wait for a free slot. */
class PagesInProgress {
  readonly #counts = new Map<string, number>();
  readonly #waiting = new Map<string, (() => void)[]>();
  #count = 0;

  mayBegin(share: string): boolean {
    return (this.#counts.get(share) ?? 0) < mostInProgress - this.#count;
  }

  begin(share: string): void {
    this.#count++;
    this.#counts.set(share, (this.#counts.get(share) ?? 0) + 1);
  }

  end(share: string): void {
    this.#count--;
    const count = this.#counts.get(share)! - 1;
    if (count > 0) this.#counts.set(share, count);
    else this.#counts.delete(share);
    this.goOn();
  }

  /** Lets one waiting page continue if a slot is free. The page calls this method again when it is complete or has begun. */
  goOn(): void {
    for (const [share, all] of this.#waiting) {
      if (!this.mayBegin(share)) continue;
      this.#waiting.delete(share);
      const next = all.shift()!;
      if (all.length > 0) this.#waiting.set(share, all); // the share moves to the end of the queue
      next();
      return;
    }
  }

  /** Calls `goOn` as soon as a page of the share may begin. */
  wait(share: string, goOn: () => void): void {
    const all = this.#waiting.get(share);
    if (all === undefined) this.#waiting.set(share, [goOn]);
    else all.push(goOn);
  }
}

const pagesInProgress = new PagesInProgress();

function replyText(response: HttpResponse, { type, text }: PlainText): void {
  begin(response).writeHeader('Content-Type', type).writeHeader('Cache-Control', 'no-store');
  send(response, text);
}

// For a hundred thousand items, JSON.stringify takes longer than other clients may have to wait, so each item in a list is encoded
// separately.

/** Yields the JSON of plain data in pieces. An iterable becomes a list, whose items are read as needed. */
export function* jsonPieces(data: unknown): Generator<string, void, void> {
  if (isList(data)) {
    let separator = '[';
    for (const item of data) {
      yield `${separator}${JSON.stringify(item) ?? 'null'}`;
      separator = ',';
    }
    yield separator === '[' ? '[]' : ']';
  } else if (isRecord(data) && Object.values(data).some((value) => isList(value) || isRecord(value))) {
    let separator = '{';
    for (const [key, value] of Object.entries(data)) {
      if (value === undefined) continue;
      yield `${separator}${JSON.stringify(key)}:`;
      yield* jsonPieces(value);
      separator = ',';
    }
    yield separator === '{' ? '{}' : '}';
  } else yield JSON.stringify(data) ?? 'null';
}

function* linesOf({ items }: Lines<unknown>): Generator<string, void, void> {
  let separator = '[\n';
  for (const item of items) {
    yield item === undefined ? '' : separator + JSON.stringify(item);
    if (item !== undefined) separator = ',\n';
  }
  yield separator === '[\n' ? '[\n]' : '\n]';
}

function isList(data: unknown): data is Iterable<unknown> {
  return typeof data === 'object' && data !== null && Symbol.iterator in data;
}

function isRecord(data: unknown): data is Readonly<Record<string, unknown>> {
  return typeof data === 'object' && data !== null;
}
