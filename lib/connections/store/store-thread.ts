// The hub's side of a store thread, which answers one request at a time.

import { extname } from 'node:path';
import { type TransferListItem, Worker, type WorkerOptions } from 'node:worker_threads';
import { messageOf } from '../../model/error.ts';
import { awaitAnswer } from '../../model/waiting-threads.ts';

const options = {
  /** Suppresses the warning from Node.js that its SQLite module is experimental, which operators do not need to see. */
  execArgv: ['--disable-warning=ExperimentalWarning'],
  /** Limits the space for new objects to 2 MiB. Otherwise, each thread would take up to 32 MiB, even after days. */
  resourceLimits: { maxYoungGenerationSizeMb: 3 },
} satisfies WorkerOptions;

/** The data that a thread receives when it starts. */
export interface ThreadData<Data = undefined> {
  /** The memory to which the thread writes its kernel ID, or -1 if it has no kernel ID. */
  readonly number: Int32Array;
  readonly data: Data;
}

/** Starts a thread with the program `thread/<name>`. Throws if the system cannot create a thread. */
export function startThread<Data>(name: string, data?: Data, transferList: readonly TransferListItem[] = []): Worker {
  const program = new URL(`./thread/${name}${extname(import.meta.filename)}`, import.meta.url);
  const number = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const workerData = { number, data };
  const worker = new Worker(program, {
    name: `store ${name}`,
    ...options,
    workerData,
    transferList: [...transferList],
  });
  interrupting.add(number);
  worker.once('exit', () => interrupting.delete(number));
  if (settling === undefined) settling = setTimeout(neverInterrupt, settleMs).unref();
  return worker;
}

/**
 * How long newly started threads are collected, in milliseconds. A single process then sets the policy of all of them, because a process
 * costs as much as a short thread.
 */
const settleMs = 1000;
let settling: NodeJS.Timeout | undefined;
/** The kernel IDs of threads that may interrupt other threads when they wake up. */
const interrupting = new Set<Int32Array>();

async function neverInterrupt(): Promise<void> {
  const known = [...interrupting].filter((number) => Atomics.load(number, 0) !== 0);
  for (const number of known) interrupting.delete(number);
  settling = interrupting.size === 0 ? undefined : setTimeout(neverInterrupt, settleMs).unref();
  const threads = known.map((number) => Atomics.load(number, 0)).filter((number) => number > 0);
  if (threads.length === 0) return;
  const { spawn } = await import('node:child_process'); // most threads that use this module never get here
  const command = 'for thread; do chrt --batch --pid 0 "$thread"; done'; // chrt is part of util-linux; Node.js has no such call
  const shell = spawn('sh', ['-c', command, 'sh', ...threads.map(String)], { stdio: 'ignore' });
  shell.on('error', () => {}); // the system has no shell or no chrt
  shell.unref();
}

/** A message with a piece of an answer. A complete answer does not have the key `pieceOfAnswer`. */
export interface Piece {
  readonly pieceOfAnswer: unknown;
}

function isPiece(message: unknown): message is Piece {
  return typeof message === 'object' && message !== null && 'pieceOfAnswer' in message;
}

/** A thread of a store, which answers one request at a time. Requests and answers must be data that can be sent between threads. */
export class StoreThread<Request, Answer> {
  readonly #program: string;
  readonly #what: string;
  #worker: Worker | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #isEnded = false;

  /** The first request starts the program `thread/<program>`. `what` describes the thread in errors, such as `writes values`. */
  constructor(program: string, what: string) {
    this.#program = program;
    this.#what = what;
  }

  /**
   * Starts the thread ahead of the first request, which then takes less time. An idle thread does not keep the process alive. If the system
   * cannot create a thread, the first request tries again and reports the error.
   */
  start(): void {
    try {
      this.#started();
    } catch {}
  }

  /**
   * Sends a request once all earlier requests have been answered, and resolves to the answer. The thread may send a large answer in pieces,
   * which `onPiece` receives before the answer. Rejects if the thread has ended or the system cannot create a thread.
   */
  ask(
    request: Request,
    transfer: readonly ArrayBuffer[] = [],
    onPiece: (piece: unknown) => void = () => {},
  ): Promise<Answer> {
    const answer = this.#last.then(() => this.#askNow(request, transfer, onPiece));
    this.#last = answer.catch(() => {});
    return answer;
  }

  /** Ends the thread once all requests have been answered, including `last`, which is sent as the last request. */
  async end(last?: Request): Promise<void> {
    await this.#last;
    if (last !== undefined && this.#worker !== undefined) await this.ask(last).catch(() => {});
    await this.#last;
    await this.kill();
  }

  /** Ends the thread immediately. Unanswered requests fail. Resolves when the thread has ended, which may take until the disk responds. */
  async kill(): Promise<void> {
    this.#isEnded = true;
    await this.#worker?.terminate();
  }

  #started(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const worker = startThread(this.#program);
    worker.unref();
    worker.once('exit', () => {
      this.#isEnded = true;
    });
    worker.on('error', () => {}); // `#askNow` reports it to the caller
    this.#worker = worker;
    return worker;
  }

  async #askNow(
    request: Request,
    transfer: readonly ArrayBuffer[],
    onPiece: (piece: unknown) => void,
  ): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const take = (message: Answer | Piece) => (isPiece(message) ? onPiece(message.pieceOfAnswer) : resolve(message));
    const fail = (error: unknown) => reject(new Error(`the thread for ${this.#what} failed: ${messageOf(error)}`));
    const exit = () => fail('it exited unexpectedly');
    if (this.#isEnded) {
      exit();
      return promise;
    }
    const worker = this.#started();
    const answered = awaitAnswer(this);
    worker.ref();
    worker.on('message', take).once('error', fail).once('exit', exit);
    try {
      worker.postMessage(request, transfer);
      return await promise;
    } finally {
      answered();
      worker.off('message', take).off('error', fail).off('exit', exit);
    }
  }
}
