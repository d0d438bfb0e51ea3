// A thread of the store, seen from the hub's: one question at a time, each with its answer.

import { extname } from 'node:path';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import { messageOf } from '../../model/error.ts';
import { awaitAnswer } from '../../model/waiting-threads.ts';

const options = {
  /** SQLite is part of Node.js, which calls it experimental: that is no news for operators. */
  execArgv: ['--disable-warning=ExperimentalWarning'],
  /** V8 has 2 MiB for new objects then. Else it would take up to 32 of them for each thread, and that whenever it likes, be it after days. */
  resourceLimits: { maxYoungGenerationSizeMb: 3 },
} satisfies WorkerOptions;

/** Starts `thread/<name>`. Errors: the system has no room for a thread. */
export function startThread(name: string, handed?: Pick<WorkerOptions, 'workerData' | 'transferList'>): Worker {
  const program = new URL(`./thread/${name}${extname(import.meta.filename)}`, import.meta.url);
  return new Worker(program, { name: `store ${name}`, ...options, ...handed });
}

/** A question and its answer are data that threads can hand to each other. */
export class StoreThread<Question, Answer> {
  readonly #what: string;
  readonly #worker: Worker;
  #last: Promise<unknown> = Promise.resolve();
  #isEnded = false;

  /** Starts `thread/<program>`; `what` says what it does: 'writes values'. Errors: the system has no room for a thread. */
  constructor(program: string, what: string) {
    this.#what = what;
    this.#worker = startThread(program);
    this.#worker.once('exit', () => {
      this.#isEnded = true;
    });
    this.#worker.on('error', () => {}); // who waits for an answer is told
  }

  /** Asks once all earlier questions are answered. Errors: when the thread has ended. */
  ask(question: Question, transfer: readonly ArrayBuffer[] = []): Promise<Answer> {
    const answer = this.#last.then(() => this.#askNow(question, transfer));
    this.#last = answer.catch(() => {});
    return answer;
  }

  /** Ends the thread once all questions are answered, and after them the last one. */
  async end(last?: Question): Promise<void> {
    if (last !== undefined) await this.ask(last).catch(() => {});
    await this.#last;
    await this.#worker.terminate();
  }

  /** Ends the thread at once; questions that are not answered fail. Resolves when it has ended: one that waits for a disk ends after that. */
  async kill(): Promise<void> {
    await this.#worker.terminate();
  }

  #askNow(question: Question, transfer: readonly ArrayBuffer[]): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const fail = (error: unknown) => reject(new Error(`the thread that ${this.#what} has ended: ${messageOf(error)}`));
    const exit = () => fail('it did so by itself');
    const answered = awaitAnswer(this);
    if (this.#isEnded) exit();
    else {
      this.#worker.once('message', resolve).once('error', fail).once('exit', exit);
      this.#worker.postMessage(question, transfer);
    }
    return promise.finally(() => {
      answered();
      this.#worker.off('message', resolve).off('error', fail).off('exit', exit);
    });
  }
}
