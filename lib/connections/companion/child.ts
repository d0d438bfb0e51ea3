// The process of a driver module, as the hub sees it. The process has no environment, may only read its own files, and has little memory
// and low priority. The hub reads its output in small parts, and kills a process that does not answer or takes too much.

import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { constants, setPriority } from 'node:os';
import { dirname, extname, join, resolve } from 'node:path';
import { execPath } from 'node:process';
import type { Duplex, Readable } from 'node:stream';
import { asyncScheduler, type SchedulerLike, type Subscription } from 'rxjs';
import { LineReader } from '../../device/line-reader.ts';
import { PacedReader, ReadingRounds } from '../../device/paced-reader.ts';
import { HubError } from '../../model/error.ts';
import type { DriverField, DriverPage, DriverQuestion } from '../hub-port.ts';
import { endWithHub } from '../orphans.ts';
import {
  type Description,
  type FromProcess,
  fieldsAnswer,
  maxLineBytes,
  pageAnswer,
  readLine,
  type Start,
  type ToProcess,
} from './messages.ts';
import type { Driver } from './package.ts';
import { maxAnswer } from './process/catalogue.ts';

/** How often the hub asks the process for a sign of life, and how long the process may take to answer, in milliseconds. */
const pingMs = 2000;
export const answerMs = 15_000;
/** How long the process may take to send its first line, in milliseconds. */
const startMs = 60_000;
/** How long the process may take to end on its own, in milliseconds. */
const stopMs = 2000;
/** The memory that Node.js itself needs in addition to the module's memory, in MiB. */
export const ownMemoryMiB = 96;
/** How much of the end of the error output is kept, in characters. */
const keptOutput = 2000;
/** The number of unsent bytes at which the process counts as not answering. */
const maxUnsentBytes = 1_048_576;
/** How long the process may take to answer a question, in milliseconds, and how many questions may be open at a time. */
const listMs = 5000;
const maxQuestions = 20;

const program = join(import.meta.dirname, `process/main${extname(import.meta.filename)}`);
/** The folder with the code that the process loads: `lib` or `dist`. */
const codeFolder = resolve(import.meta.dirname, '../..');

export interface ChildOptions {
  readonly driver: Driver;
  readonly start: Start;
  readonly memoryMiB: number;
  readonly scheduler: SchedulerLike;
}

export interface ChildEvents {
  line(line: FromProcess): void;
  /** The fields of the module's config. */
  config(fields: readonly DriverField[]): void;
  /** The last event: why the process has ended, and whether the hub had to kill it. */
  ended(reason: string, isKilled: boolean): void;
}

/** A question that the process has not answered yet. */
interface Asked {
  text: string;
  readonly timer: Subscription;
  answer(page: DriverPage): void;
  fail(error: HubError): void;
}

export class DriverProcess {
  readonly #options: ChildOptions;
  readonly #events: ChildEvents;
  readonly #child: ChildProcess;
  readonly #pipe: Duplex;
  readonly #exited: Promise<void>;
  #watching: Subscription | undefined;
  #pings = 0;
  #heardMs: number;
  #hasSpoken = false;
  #reason: string | undefined;
  #output = '';
  #isKilled = false;
  #isOutOfMemory = false;
  readonly #asked = new Map<number, Asked>();
  #questions = 0;
  #config = '';
  #usedMiB: number | undefined;
  #isStopped = false;

  constructor(options: ChildOptions, events: ChildEvents) {
    const { driver, memoryMiB, start, scheduler } = options;
    this.#options = options;
    this.#events = events;
    this.#heardMs = scheduler.now();
    const readable = [driver.folder, codeFolder, join(dirname(codeFolder), 'package.json')];
    this.#child = spawn(
      execPath,
      [
        '--permission',
        ...readable.map((path) => `--allow-fs-read=${path}`),
        `--max-old-space-size=${memoryMiB}`,
        '--max-semi-space-size=4',
        '--single-threaded-gc', // so that the process never takes more than one processor
        '--disable-warning=ExperimentalWarning',
        '--disable-warning=SecurityWarning',
        program,
      ],
      {
        cwd: driver.folder,
        stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
        env: { MODULE_MANIFEST: driver.manifest, CONNECTION_ID: start.label, VERIFICATION_TOKEN: 'patchbay' },
      },
    );
    endWithHub(this.#child);
    const { pid } = this.#child;
    if (pid !== undefined)
      try {
        setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
      } catch {} // the process has already ended
    this.#pipe = this.#child.stdio[3] as Duplex;
    this.#pipe.on('error', () => {});
    this.#exited = new Promise((finished) => {
      this.#child.once('error', (error) => {
        this.#reason ??= error.message;
        this.#finish();
        finished();
      });
      // `close` is emitted once the pipes have been read
      this.#child.once('close', (code, signal) => {
        this.#reason ??= this.#whyEnded(code, signal);
        this.#finish();
        finished();
      });
    });
    const rounds = new ReadingRounds();
    this.#readLines(rounds);
    this.#readOutput(rounds);
    this.send({ start });
    this.#watch();
  }

  send(line: ToProcess): void {
    if (this.#pipe.destroyed || this.#child.exitCode !== null) return;
    if (this.#pipe.writableLength > maxUnsentBytes) this.#kill('it does not read what the hub sends');
    else this.#pipe.write(`${JSON.stringify(line)}\n`);
  }

  /** The memory of the process, in MiB; undefined if unknown. */
  get usedMiB(): number | undefined {
    return this.#usedMiB;
  }

  /** Asks the module what it offers. Errors: `unavailable`. */
  list(question: DriverQuestion): Promise<DriverPage> {
    if (this.#asked.size >= maxQuestions) throw new HubError('unavailable', 'too many requests to this module at once');
    const list = ++this.#questions;
    return new Promise((answer, fail) => {
      const timer = this.#options.scheduler.schedule(() => {
        this.#asked.delete(list);
        fail(new HubError('unavailable', `the module did not answer within ${listMs / 1000} s`));
      }, listMs);
      this.#asked.set(list, { text: '', timer, answer, fail });
      this.send({ list, question });
    });
  }

  #takeAnswer(listed: number, part: string): void {
    if (listed === 0) {
      this.#config += part;
      if (this.#config.length > maxAnswer) this.#kill('it sent a config that is too long');
      else if (part === '') this.#readConfig();
      return;
    }
    const asked = this.#asked.get(listed);
    if (asked === undefined) return; // the answer is too late
    asked.text += part;
    if (asked.text.length > maxAnswer) this.#kill('it sent an answer that is too long');
    if (part !== '') return;
    asked.timer.unsubscribe();
    this.#asked.delete(listed);
    try {
      asked.answer(pageAnswer.parse(JSON.parse(asked.text)));
    } catch {
      asked.fail(new HubError('unavailable', "cannot read the module's list of variables, feedbacks and actions"));
    }
  }

  #readConfig(): void {
    try {
      this.#events.config(fieldsAnswer.parse(JSON.parse(this.#config)));
    } catch {
      this.#kill('it sent a config that cannot be read');
    }
  }

  /** Ends the process. Resolves when the process has ended; `ended` is no longer reported. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#watching?.unsubscribe();
    this.send({ stop: true });
    const killing = setTimeout(() => this.#child.kill('SIGKILL'), stopMs);
    await this.#exited;
    clearTimeout(killing);
  }

  #readLines(rounds: ReadingRounds): void {
    const lines = new LineReader(maxLineBytes);
    const reader = new PacedReader(rounds, {
      take: (bytes) => {
        try {
          for (const line of lines.push(bytes)) if (!this.#isStopped && this.#reason === undefined) this.#take(line);
        } catch (error) {
          this.#kill((error as Error).message);
        }
      },
      pause: (isPaused) => void (isPaused ? this.#pipe.pause() : this.#pipe.resume()),
      closed: () => {},
    });
    this.#pipe.on('data', (bytes: Buffer) => reader.push(bytes));
    this.#pipe.on('close', () => reader.close());
  }

  /** Keeps the end of the error output. If there is a flood of output, only a small part is read per round. */
  #readOutput(rounds: ReadingRounds): void {
    const errors = this.#child.stderr as Readable;
    const reader = new PacedReader(rounds, {
      take: (bytes) => {
        const output = this.#output + bytes.toString();
        this.#isOutOfMemory ||= /heap out of memory|Allocation failed/.test(output);
        this.#output = output.slice(-keptOutput);
      },
      pause: (isPaused) => void (isPaused ? errors.pause() : errors.resume()),
      closed: () => {},
    });
    errors.on('data', (bytes: Buffer) => reader.push(bytes));
    errors.on('close', () => reader.close());
  }

  #take(text: string): void {
    this.#hasSpoken = true;
    const line = readLine(text);
    if (line === undefined) this.#kill('it sent the hub a line that is not part of the protocol');
    else if ('pong' in line) this.#heardMs = this.#options.scheduler.now();
    else if ('fault' in line) this.#reason = line.fault;
    else if ('listed' in line) this.#takeAnswer(line.listed, line.part);
    else this.#events.line(line);
  }

  #watch(): void {
    const { scheduler } = this.#options;
    const dueMs = scheduler.now() + pingMs;
    this.#watching = scheduler.schedule(() => {
      const now = scheduler.now();
      this.#heardMs += Math.max(0, now - dueMs); // while the hub itself was busy, it could not receive answers
      const limitMs = this.#hasSpoken ? answerMs : startMs;
      if (now - this.#heardMs > limitMs) {
        this.#kill(`it did not answer within ${limitMs / 1000} s`);
        return;
      }
      this.send({ ping: ++this.#pings });
      void this.#checkMemory();
      this.#watch();
    }, pingMs);
  }

  /** Kills a process whose memory outside the heap has grown too large, on systems that report this memory. */
  async #checkMemory(): Promise<void> {
    const most = this.#options.memoryMiB + ownMemoryMiB;
    const status = await readFile(`/proc/${this.#child.pid}/status`, 'latin1').catch(() => '');
    const [, kilobytes = '0'] = /^VmRSS:\s+(\d+)/m.exec(status) ?? [];
    this.#usedMiB = kilobytes === '0' ? undefined : Math.round(Number(kilobytes) / 1024);
    if (Number(kilobytes) > most * 1024) this.#kill(`it used more than ${most} MiB of memory`);
  }

  #kill(reason: string): void {
    this.#isKilled = true;
    this.#reason ??= reason;
    this.#child.kill('SIGKILL');
  }

  #whyEnded(code: number | null, signal: string | null): string {
    if (this.#isOutOfMemory) return `it used more than ${this.#options.memoryMiB} MiB of memory`;
    const how = signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}`;
    const said = this.#output
      .split('\n')
      .filter((line) => /^(?:[A-Z]\w*)?Error\b|: /.test(line.trim()))
      .at(-1);
    return said === undefined ? how : `${how}: ${said.trim().slice(0, 300)}`;
  }

  #finish(): void {
    this.#watching?.unsubscribe();
    for (const { timer, fail } of this.#asked.values()) {
      timer.unsubscribe();
      fail(new HubError('unavailable', 'the module has ended'));
    }
    this.#asked.clear();
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#events.ended(this.#reason ?? 'it ended', this.#isKilled || this.#isOutOfMemory);
  }
}

/** Runs a module without a network until it has described what it offers. Errors: `cannot-start`. */
export async function describeDriver(driver: Driver, config: Readonly<Record<string, unknown>>): Promise<Description> {
  const { api, entrypoint } = driver;
  const start = { api, entrypoint, label: driver.id, config, secrets: {}, allowHosts: [], values: {}, describes: true };
  let [text, stop] = ['', () => Promise.resolve()];
  try {
    return await new Promise<Description>((done, fail) => {
      const child = new DriverProcess(
        { driver, start, memoryMiB: 256, scheduler: asyncScheduler },
        {
          line: (line) => {
            if (!('described' in line)) return;
            if (line.described === '') done(JSON.parse(text) as Description);
            else text += line.described;
          },
          config: () => {},
          ended: (reason) => fail(new HubError('cannot-start', `module ${driver.id} ${driver.version}: ${reason}`)),
        },
      );
      stop = () => child.stop();
    });
  } finally {
    await stop();
  }
}
