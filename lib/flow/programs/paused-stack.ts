// Finds where another thread is at this moment. It asks the inspector of V8, which interrupts even a loop without end.

import { Session } from 'node:inspector';

/** How long a thread that is busy may take to say where it is. */
const deadlineMs = 5000;

/** A line to the inspector of the other thread. */
interface Line {
  send(method: string): void;
  close(): void;
}

interface Said {
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

/** Where the main thread is: a line per call, innermost first, `file:///…:12:5`; undefined: it runs no code. For threads. */
export function stackOfMainThread(): Promise<string | undefined> {
  return pause((tell) => {
    const session = new Session();
    session.connectToMainThread();
    session.on('inspectorNotification', tell);
    return { send: (method) => session.post(method), close: () => session.disconnect() };
  });
}

/**
 * Where a thread is that this thread has started, as `stackOfMainThread`. Who is to end the thread, or the process, aborts this first:
 * a thread that is interrupted when nobody is there any more waits for ever, and the process for it.
 */
export function stackOfThread(threadId: number, signal?: AbortSignal): Promise<string | undefined> {
  return pause((tell) => {
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
      if (params.sessionId === sessionId) tell(JSON.parse(params.message) as Said);
    });
    session.post('NodeWorker.enable', { waitForDebuggerOnStart: false });
    return { send, close: () => session.disconnect() };
  }, signal);
}

async function pause(connect: (tell: (said: Said) => void) => Line, signal?: AbortSignal): Promise<string | undefined> {
  const urls = new Map<string, string>();
  const paused = Promise.withResolvers<string | undefined>();
  const line = connect(({ method, params }) => {
    if (method === 'Debugger.scriptParsed') urls.set((params as Script).scriptId, (params as Script).url);
    if (method === 'Debugger.paused') paused.resolve(formatFrames(params as Paused, urls));
  });
  const late = setTimeout(() => paused.resolve(undefined), deadlineMs);
  signal?.addEventListener('abort', () => paused.resolve(undefined));
  line.send('Debugger.enable');
  line.send('Debugger.pause');
  const stack = await paused.promise;
  clearTimeout(late);
  line.send('Debugger.disable');
  line.close();
  return stack;
}

function formatFrames({ callFrames }: Paused, urls: ReadonlyMap<string, string>): string {
  return callFrames
    .map(({ location: { scriptId, lineNumber, columnNumber = 0 } }) => {
      return `${urls.get(scriptId) ?? ''}:${lineNumber + 1}:${columnNumber + 1}`;
    })
    .join('\n');
}
