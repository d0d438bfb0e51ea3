// The hub's side of a thread of the store: one request at a time, each with its answer.

import { extname } from 'node:path';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import { messageOf } from '../../model/error.ts';
import { awaitAnswer } from '../../model/waiting-threads.ts';

const options = {
  /** Node.js warns that its SQLite module is experimental, which operators need not see. */
  execArgv: ['--disable-warning=ExperimentalWarning'],
  /** V8 then has 2 MiB for new objects. Without it, each thread would take up to 32 MiB at any time, even after days. */
  resourceLimits: { maxYoungGenerationSizeMb: 3 },
} satisfies WorkerOptions;

/** Starts `thread/<name>`. Errors: the system cannot create a thread. */
export function startThread(name: string, data?: Pick<WorkerOptions, 'workerData' | 'transferList'>): Worker {
  const program = new URL(`./thread/${name}${extname(import.meta.filename)}`, import.meta.url);
  return new Worker(program, { name: `store ${name}`, ...options, ...data });
}

/** A request and its answer are data that can be sent between threads. */
export class StoreThread<Request, Answer> {
  readonly #what: string;
  readonly #worker: Worker;
  #last: Promise<unknown> = Promise.resolve();
  #isEnded = false;

  /** Starts `thread/<program>`; `what` describes it in errors: 'writes values'. Errors: the system cannot create a thread. */
  constructor(program: string, what: string) {
    this.#what = what;
    this.#worker = startThread(program);
    this.#worker.once('exit', () => {
      this.#isEnded = true;
    });
    this.#worker.on('error', () => {}); // `#askNow` reports it to the caller
  }

  /** Sends a request once all earlier ones are answered. Errors: when the thread has ended. */
  ask(request: Request, transfer: readonly ArrayBuffer[] = []): Promise<Answer> {
    const answer = this.#last.then(() => this.#askNow(request, transfer));
    this.#last = answer.catch(() => {});
    return answer;
  }

  /** Ends the thread once all requests, and then the last one, are answered. */
  async end(last?: Request): Promise<void> {
    if (last !== undefined) await this.ask(last).catch(() => {});
    await this.#last;
    await this.#worker.terminate();
  }

  /** Ends the thread at once. Unanswered requests fail. Resolves when the thread has ended, which may have to wait for the disk first. */
  async kill(): Promise<void> {
    await this.#worker.terminate();
  }

  #askNow(request: Request, transfer: readonly ArrayBuffer[]): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const fail = (error: unknown) => reject(new Error(`the thread that ${this.#what} has ended: ${messageOf(error)}`));
    const exit = () => fail('it exited unexpectedly');
    const answered = awaitAnswer(this);
    if (this.#isEnded) exit();
    else {
      this.#worker.once('message', resolve).once('error', fail).once('exit', exit);
      this.#worker.postMessage(request, transfer);
    }
    return promise.finally(() => {
      answered();
      this.#worker.off('message', resolve).off('error', fail).off('exit', exit);
    });
  }
}
