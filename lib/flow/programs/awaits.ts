// Finds where the files of a flow wait at their top level. No error stack leads to such a place, but every `await` creates a promise, so
// the stack of each promise created during the load is kept. A file is waiting at the last promise that its top level created.

import { promiseHooks } from 'node:v8';
import { type Frame, framesOf } from './stack.ts';

/** The maximum number of recorded promises, so that a flow that creates more promises does not load more slowly. */
const maxPromises = 10_000;
/** The maximum number of stacks that are kept; the latest stacks are kept. */
const maxKept = 5000;
/** The number of stack frames to capture: the hook itself, the calls in Node.js and V8 in between, and the file. */
const maxFrames = 8;

let wantsSites = false;
let canSee = false;

/** From now on, makes the individual calls in an error stack available. Call this before `Error` is locked. */
function exposeCallSites(): void {
  if (canSee) return;
  canSee = true;
  const { prepareStackTrace } = Error;
  const format = (error: Error, sites: NodeJS.CallSite[]) =>
    prepareStackTrace?.(error, sites) ?? [String(error), ...sites.map((site) => `    at ${site}`)].join('\n');
  Error.prepareStackTrace = (error, sites) => (wantsSites ? sites : format(error, sites));
}

export class Awaits {
  /** The captured stacks, not yet formatted: V8 formats a stack on first access, which is slow. */
  readonly #stacks: { stack?: unknown }[] = [];
  #count = 0;
  #end: (() => void) | undefined;

  constructor() {
    exposeCallSites();
  }

  /** Discards the recorded promises, and records promises from now on. */
  begin(): void {
    this.#stacks.length = 0;
    this.#count = 0;
    this.#end ??= promiseHooks.onInit(() => this.#keep()) as () => void;
  }

  end(): void {
    this.#end?.();
    this.#end = undefined;
  }

  /** Returns the place at which the top level of each file created its last promise, keyed by the file's absolute path. */
  last(): ReadonlyMap<string, Frame> {
    const inOrder = [...this.#stacks.slice(this.#count % maxKept), ...this.#stacks.slice(0, this.#count % maxKept)];
    const frames = inOrder.flatMap((kept) => frameOf(sitesOf(kept)) ?? []);
    return new Map(frames.map((frame) => [frame.path, frame]));
  }

  #keep(): void {
    if (this.#count >= maxPromises) {
      this.end();
      return;
    }
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = maxFrames;
    const kept = {};
    Error.captureStackTrace(kept);
    Error.stackTraceLimit = stackTraceLimit;
    this.#stacks[this.#count++ % maxKept] = kept;
  }
}

function sitesOf(kept: { stack?: unknown }): readonly NodeJS.CallSite[] {
  wantsSites = true;
  try {
    return Array.isArray(kept.stack) ? kept.stack : [];
  } finally {
    wantsSites = false;
  }
}

/** Returns the innermost call within a file if that call is at the file's top level, and undefined otherwise. */
function frameOf(sites: readonly NodeJS.CallSite[]): Frame | undefined {
  const site = sites.find((one) => one.getFileName()?.startsWith('file:') && one.getFileName() !== import.meta.url);
  if (site === undefined || !isTopLevel(site)) return undefined;
  return framesOf(`${site.getFileName()}:${site.getLineNumber()}:${site.getColumnNumber()}`)[0];
}

/**
 * Returns whether a call is at the top level. In V8, the top level of a file is an unnamed function that begins where the file begins. V8
 * creates an internal promise there.
 */
function isTopLevel(site: NodeJS.CallSite): boolean {
  const isWhole = site.getEnclosingLineNumber() === 1 && site.getEnclosingColumnNumber() === 1;
  const isBegin = site.getLineNumber() === 1 && site.getColumnNumber() === 1;
  return site.getFunctionName() === null && isWhole && !isBegin;
}
