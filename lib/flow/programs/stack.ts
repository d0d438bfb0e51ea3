// Error stacks: the locations in stacks, and descriptions of thrown values.

import { Session } from 'node:inspector';
import { fileURLToPath } from 'node:url';

/** A location in a file, in the form in which it is displayed. */
export interface Place {
  readonly name: string;
  readonly line: number;
  readonly column: number;
}

export interface Frame extends Omit<Place, 'name'> {
  /** The absolute path of the file that contains the call. */
  readonly path: string;
}

/** Matches `at call (file:///a/b.ts?version:12:5)`, and the line above a syntax error: `/a/b.ts:12`. */
const framePattern = /(file:\/\/[^\s?)]+?|^(?:[A-Za-z]:)?[\\/].*?)(?:\?[^\s:)]*)?:(\d+)(?::(\d+))?(?=[\s)]|$)/gm;

/** Returns the first location in a stack that is in a file known to `nameOf`. */
export function placeIn(stack: string, nameOf: (path: string) => string | undefined): Place | undefined {
  for (const { path, line, column } of framesOf(stack)) {
    const name = nameOf(path);
    if (name !== undefined) return { name, line, column };
  }
  return undefined;
}

/** Formats a location in a file as `flows/lamp.ts:12:5`. */
export function formatPlace({ name, line, column }: Place): string {
  return `${name}:${line}:${column}`;
}

/** Returns the stack of a thrown value, or an empty string if the value has no stack. */
export function stackOf(error: unknown): string {
  try {
    const stack = (error as Partial<Error> | null | undefined)?.stack;
    return typeof stack === 'string' ? stack : '';
  } catch {
    return '';
  }
}

/** Describes a thrown value in one line. */
export function describeThrown(error: unknown): string {
  try {
    if (!(error instanceof Error)) return `${String(error)} was thrown, which is not an Error`;
    const rejected = /The promise rejected with the reason "(.*)"\.$/s.exec(error.message);
    if (rejected !== null) return `a promise was rejected with ${rejected[1]}, which is not an Error`;
    const { message, name, cause } = error;
    const text = String(message || name).split('\n', 1)[0]!;
    return cause instanceof Error ? `${text}: ${describeThrown(cause)}` : text;
  } catch {
    return 'something was thrown that cannot be shown';
  }
}

/** Returns the locations in a stack, innermost first, without calls outside files. */
export function framesOf(stack: string): Frame[] {
  return [...stack.matchAll(framePattern)].flatMap(([, at = '', line, column = '1']) => {
    try {
      const path = at.startsWith('file:') ? fileURLToPath(at) : at;
      return [{ path, line: Number(line), column: Number(column) }];
    } catch {
      return [];
    }
  });
}

// Finds the code that another thread is currently running, using the V8 inspector, which interrupts even an endless loop.

/** The maximum time that a busy thread may take to report its location, in milliseconds. */
const deadlineMs = 5000;

/** A connection to the V8 inspector of another thread. */
interface InspectorConnection {
  send(method: string): void;
  close(): void;
}

interface InspectorMessage {
  readonly method?: string;
  readonly params?: unknown;
}

interface Script {
  readonly scriptId: string;
  readonly url: string;
}

interface Paused {
  readonly callFrames: readonly { location: { scriptId: string; lineNumber: number; columnNumber?: number } }[];
}

/**
 * Returns the stack of the main thread with one line per call, innermost first: `file:///…:12:5`. Returns undefined if the main thread is
 * not running any code. Call this from another thread.
 */
export function stackOfMainThread(): Promise<string | undefined> {
  return pause((notify) => {
    const session = new Session();
    session.connectToMainThread();
    session.on('inspectorNotification', notify);
    return { send: (method) => session.post(method), close: () => session.disconnect() };
  });
}

/**
 * Returns the stack of a thread started by this thread, in the form that `stackOfMainThread` returns. Abort `signal` before ending that
 * thread or the process: a thread that is interrupted after its observer is gone waits forever, and the process waits for the thread.
 */
export function stackOfThread(threadId: number, signal?: AbortSignal): Promise<string | undefined> {
  return pause((notify) => {
    const session = new Session();
    session.connect();
    let sessionId: string | undefined;
    let next = 1;
    const waiting: string[] = [];
    const send = (method: string) => {
      const message = JSON.stringify({ id: next++, method });
      if (sessionId === undefined) waiting.push(message);
      else session.post('NodeWorker.sendMessageToWorker', { sessionId, message });
    };
    session.on('NodeWorker.attachedToWorker', ({ params }) => {
      if (!params.workerInfo.title.startsWith(`[worker ${threadId}]`)) return;
      sessionId = params.sessionId;
      for (const message of waiting.splice(0)) session.post('NodeWorker.sendMessageToWorker', { sessionId, message });
    });
    session.on('NodeWorker.receivedMessageFromWorker', ({ params }) => {
      if (params.sessionId === sessionId) notify(JSON.parse(params.message) as InspectorMessage);
    });
    session.post('NodeWorker.enable', { waitForDebuggerOnStart: false });
    return { send, close: () => session.disconnect() };
  }, signal);
}

async function pause(
  connect: (notify: (message: InspectorMessage) => void) => InspectorConnection,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const urls = new Map<string, string>();
  const paused = Promise.withResolvers<string | undefined>();
  const inspector = connect(({ method, params }) => {
    if (method === 'Debugger.scriptParsed') urls.set((params as Script).scriptId, (params as Script).url);
    if (method === 'Debugger.paused') paused.resolve(formatFrames(params as Paused, urls));
  });
  const late = setTimeout(() => paused.resolve(undefined), deadlineMs);
  signal?.addEventListener('abort', () => paused.resolve(undefined));
  inspector.send('Debugger.enable');
  inspector.send('Debugger.pause');
  const stack = await paused.promise;
  clearTimeout(late);
  inspector.send('Debugger.disable');
  inspector.close();
  return stack;
}

function formatFrames({ callFrames }: Paused, urls: ReadonlyMap<string, string>): string {
  return callFrames
    .map(({ location: { scriptId, lineNumber, columnNumber = 0 } }) => {
      return `${urls.get(scriptId) ?? ''}:${lineNumber + 1}:${columnNumber + 1}`;
    })
    .join('\n');
}
