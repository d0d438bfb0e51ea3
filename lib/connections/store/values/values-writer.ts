// The thread that writes values, seen from the hub's: one question at a time, each with its answer.

import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { messageOf } from '../../../model/error.ts';
import type { Answer, Batch, Opened, OpenRequest, Request, Written } from '../thread/messages.ts';

const program = new URL(`../thread/values-thread${extname(import.meta.filename)}`, import.meta.url);
/** SQLite is part of Node.js, which calls it experimental: that is no news for operators. */
export const quiet = ['--disable-warning=ExperimentalWarning'];

export class ValuesWriter {
  readonly #worker = new Worker(program, { name: 'store values', execArgv: quiet });
  #last: Promise<unknown> = Promise.resolve();
  #isEnded = false;

  constructor() {
    this.#worker.once('exit', () => {
      this.#isEnded = true;
    });
    this.#worker.on('error', () => {}); // who waits for an answer is told
  }

  /** Opens the database, whatever has become of it. Errors: when the thread has ended. */
  async open(request: Omit<OpenRequest, 'ask'>): Promise<Opened> {
    const answer = await this.#ask({ ask: 'open', ...request });
    return (answer as { opened: Opened }).opened;
  }

  /** Writes a batch; when it resolves as written, it is on the disk. Errors: when the thread has ended. */
  async write(batch: Batch): Promise<Written> {
    return ((await this.#ask({ ask: 'write', batch })) as { written: Written }).written;
  }

  /** Forgets the values of all other addresses. Errors: when the thread has ended. */
  async makeRoom(addresses: readonly string[]): Promise<Written> {
    return ((await this.#ask({ ask: 'make room', addresses })) as { written: Written }).written;
  }

  /** Closes the database and ends the thread. */
  async end(): Promise<void> {
    await this.#ask({ ask: 'close' }).catch(() => {});
    await this.#worker.terminate();
  }

  #ask(request: Request): Promise<Answer> {
    const answer = this.#last.then(() => this.#askNow(request));
    this.#last = answer.catch(() => {});
    return answer;
  }

  #askNow(request: Request): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const fail = (error: unknown) => reject(new Error(`the thread that writes values has ended: ${messageOf(error)}`));
    const exit = () => fail('it did so by itself');
    if (this.#isEnded) exit();
    else {
      this.#worker.once('message', resolve).once('error', fail).once('exit', exit);
      this.#worker.postMessage(request);
    }
    return promise.finally(() => this.#worker.off('message', resolve).off('error', fail).off('exit', exit));
  }
}
