// Tries a TypeScript flow in a separate thread before the hub imports it. In that thread, an import that never settles, an endless loop, an
// attempt to end the process or a fault during the import does no harm.
import { extname } from 'node:path';
import { cpuUsage } from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { readRegularFileSync } from '../../files/regular-file.ts';
import { messageOf } from '../../model/error.ts';
import { withinTicks } from '../../model/time/wall-clock.ts';
import { maxFlowBytes, ownName } from './flow-code.ts';
import { type FailedImport, type Imports, placeOfImport } from './imports.ts';
import { placeOfThrow } from './program-places.ts';
import { type Frame, type Place, placeIn, stackOfThread } from './stack.ts';
import type { TrialAnswer, TrialRequest } from './trial-thread.ts';

/** The time limit for importing a flow, including the call of its `rules(on)`, in milliseconds. */
export const importDeadlineMs = 2000;
/** The time limit if the machine is so busy that this process has received less than `importDeadlineMs` of CPU time, in milliseconds. */
const starvedDeadlineMs = 10_000;
/** The time limit while a newer save is waiting, in milliseconds. */
const hurriedDeadlineMs = 300;
/** A thread that is busy for less than this share of the time counts as waiting. */
const waitingShare = 0.5;
/** The memory limit for a thread, in MB: its objects, and the data in its buffers. */
const memoryMb = 512;
/** The interval at which a thread's memory is checked, in milliseconds. */
const lookMs = 50;
/**
 * The limit at which V8 itself ends a thread, in MB. If the thread then requests a large block, for example for a growing array, V8 ends
 * the whole process instead. Therefore, this limit is far above `memoryMb`, which is checked first.
 */
const heapMb = 4 * memoryMb;

const program = new URL(`./trial-thread${extname(import.meta.filename)}`, import.meta.url);

/** Returns the displayed name of a file in the flow, given its absolute path, or undefined if the file does not belong to the author. */
type NameOf = (path: string) => string | undefined;

/** The result of a successful trial: the imports in the flow's files, and the flow's connections, reduced to data. */
interface Tried {
  readonly imports: Imports;
  readonly connections: unknown;
}

/**
 * The reason why a flow is rejected, in one sentence. `place` is the location in the flow's file, and `imports` contains the known imports
 * of its files.
 */
export class TrialError extends Error {
  readonly place: Place | undefined;
  readonly imports: Imports;

  constructor(message: string, place?: Place, imports: Imports = {}) {
    super(message);
    this.place = place;
    this.imports = imports;
  }
}

/** Finds the location at which a thrown value that is not an Error, and thus has no stack, is thrown. */
function placeOfThrown(message: string, path: string, name: string): Place | undefined {
  const [, thrown] =
    /^(?:cannot be loaded|rules: failed|failed as soon as it was loaded): (.*) was thrown, which is not an Error$/s.exec(
      message,
    ) ?? [];
  const place = thrown === undefined ? undefined : placeOfThrow(textIfAny(path), thrown);
  return place && { ...place, name };
}

function placeOfFailedImport({ from, specifier }: FailedImport, nameOf: NameOf): Place | undefined {
  const place = placeOfImport(textIfAny(from), specifier);
  const name = nameOf(from);
  return place && name !== undefined ? { ...place, name } : undefined;
}

/** Returns the location of an `await`. V8 reports the location of the awaited expression. */
function placeOfAwait({ path, line, column }: Frame, nameOf: NameOf): Place | undefined {
  const name = nameOf(path);
  const before =
    textIfAny(path)
      .split('\n')
      [line - 1]?.slice(0, column - 1) ?? '';
  const found = /\b(?:for\s+)?await\b[^;]*$/.exec(before);
  return name === undefined ? undefined : { name, line, column: found === null ? column : found.index + 1 };
}

/** Returns the text of a file that was just imported, or an empty string if the file can no longer be read. */
function textIfAny(path: string): string {
  try {
    return readRegularFileSync(path, maxFlowBytes).toString();
  } catch {
    return '';
  }
}

/** A thread that tries the flows of one load, one after another. After a fault, the thread is unusable. */
export class Trial {
  readonly #worker = new Worker(program, {
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: heapMb },
  });
  readonly #ready: Promise<TrialAnswer>;
  readonly #ending = new AbortController();
  #isHurried = false;
  #isAsked = false;
  /** Whether the thread has used more than `memoryMb`. */
  #isGreedy = false;
  #watching: Promise<void> | undefined;

  constructor() {
    this.#ready = this.#answer();
    this.#ready.catch(() => {}); // `run` awaits the promise and reports the error
    this.#worker.on('error', () => {}); // `#answer` reports it; a flow may also fail later
    this.#worker.unref();
  }

  /** Tries a flow, given the absolute path and the name of its file. Errors: `TrialError`, after which the thread has ended. */
  async run(path: string, name: string): Promise<Tried> {
    const nameOf = (file: string) => ownName(file, { path, name });
    this.#worker.ref();
    try {
      await this.#ready;
      this.#watching ??= this.#watchMemory();
      this.#isHurried = false;
      let tried = await this.#ask(path, nameOf);
      if ('isReady' in tried) {
        await this.#answer(); // the thread has loaded the whole hub
        tried = await this.#ask(path, nameOf);
      }
      if ('message' in tried) {
        const { failedImport } = tried;
        const place = failedImport
          ? placeOfFailedImport(failedImport, nameOf)
          : (placeIn(tried.stack, nameOf) ?? placeOfThrown(tried.message, path, name));
        throw new TrialError(tried.message, place, tried.imports);
      }
      if ('imports' in tried) return tried;
      throw new TrialError('cannot be loaded: the thread that tests it has ended');
    } catch (error) {
      this.end();
      throw error;
    } finally {
      this.#worker.unref();
    }
  }

  /** Makes the thread try a flow, and returns the thread's answer. Errors: `TrialError` if the thread does not answer in time. */
  async #ask(path: string, nameOf: NameOf): Promise<TrialAnswer> {
    const answer = this.#answer();
    const before = this.#worker.performance.eventLoopUtilization();
    const used = cpuUsage();
    const waits = () => this.#worker.performance.eventLoopUtilization(before).utilization < waitingShare;
    const isLate = (ms: number) => {
      if (this.#isGreedy) return true;
      if (this.#isHurried) return ms >= hurriedDeadlineMs;
      if (ms < importDeadlineMs) return false;
      return ms >= starvedDeadlineMs || waits() || workedMs(used) >= importDeadlineMs;
    };
    this.#worker.postMessage({ href: pathToFileURL(path).href } satisfies TrialRequest);
    this.#isAsked = true;
    try {
      const tried = await withinTicks(answer, isLate);
      if (tried !== undefined) return tried;
      throw await this.#explainTimeout(nameOf, waits());
    } finally {
      this.#isAsked = false;
    }
  }

  /**
   * Watches the thread until it ends. If the thread uses too much memory, the pending request fails, or the thread ends if no request is
   * pending.
   */
  async #watchMemory(): Promise<void> {
    while (!this.#isGreedy) {
      await setTimeout(lookMs, undefined, { ref: false });
      const takenMb = await takenBy(this.#worker);
      if (takenMb === undefined) return;
      this.#isGreedy = takenMb > memoryMb;
    }
    if (!this.#isAsked) this.end();
  }

  /** Shortens the time limit because a newer save is waiting. Only a faulty flow reaches the limit. */
  hurry(): void {
    this.#isHurried = true;
  }

  end(): void {
    this.#ending.abort();
    void this.#worker.terminate();
  }

  async #explainTimeout(nameOf: NameOf, waits: boolean): Promise<TrialError> {
    if (this.#isHurried)
      return new TrialError('cannot be loaded: it did not load in time, and a newer version has been saved');
    const inTime = `cannot be loaded: expected a file that loads within ${importDeadlineMs / 1000} s`;
    if (waits && !this.#isGreedy) {
      const waitsAt = await this.#askWhere();
      const place = waitsAt && placeOfAwait(waitsAt, nameOf);
      return new TrialError(`${inTime}: a top-level await is still pending`, place);
    }
    const stack = await stackOfThread(this.#worker.threadId, this.#ending.signal).catch(() => '');
    const fault = this.#isGreedy
      ? `cannot be loaded: expected a file that uses at most ${memoryMb} MB of memory, but it uses more`
      : `${inTime}: the file is still running, perhaps in an endless loop`;
    return new TrialError(fault, placeIn(stack ?? '', nameOf));
  }

  /** Returns where the flow on trial is waiting, or undefined if the thread does not answer. */
  async #askWhere(): Promise<Frame | undefined> {
    const answer = this.#answer().catch(() => undefined);
    this.#worker.postMessage({ asksWhere: true } satisfies TrialRequest);
    const answered = await withinTicks(answer, (ms) => ms >= importDeadlineMs);
    return answered && 'waitsAt' in answered ? answered.waitsAt : undefined;
  }

  /** Waits for the thread's next answer. Rejects if the thread ends instead. */
  #answer(): Promise<TrialAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<TrialAnswer>();
    const fail = (error: unknown) => reject(new TrialError(`cannot be loaded: ${messageOf(error)}`));
    const exit = () => fail('it ended its thread');
    this.#worker.once('message', resolve).once('error', fail).once('exit', exit);
    return promise.finally(() => {
      this.#worker.off('message', resolve).off('error', fail).off('exit', exit);
    });
  }
}

/** Returns the memory that a thread uses, in MB, or undefined if the thread has ended. */
async function takenBy(thread: Worker): Promise<number | undefined> {
  try {
    const { total_heap_size: heap, external_memory: buffers } = await thread.getHeapStatistics();
    return (heap + buffers) / 2 ** 20;
  } catch {
    return undefined;
  }
}

/** Returns the CPU time that all threads of this process have used, in milliseconds. */
function workedMs(since: NodeJS.CpuUsage): number {
  const { user, system } = cpuUsage(since);
  return (user + system) / 1000;
}

// The threads that try flows: one for the load in progress, and one that is ready for the next load.

export class Trials {
  #present: Trial | undefined;
  #spare: Trial | undefined;

  /** Tries a flow, given the absolute path and the name of its file. Errors: `TrialError`. */
  async run(path: string, name: string): Promise<Tried> {
    this.#present ??= this.#takeSpare() ?? new Trial();
    try {
      return await this.#present.run(path, name);
    } catch (error) {
      this.#present = undefined;
      throw error;
    }
  }

  /** Stops waiting for a slow flow, because a newer save is waiting. */
  hurry(): void {
    if (this.#present === undefined) return;
    this.#present.hurry();
    this.prepare();
  }

  /** Starts a thread in advance, for the next load. */
  prepare(): void {
    this.#spare ??= new Trial();
  }

  /** Ends the load and its thread, because flows that were tried in the thread must not affect the next load. */
  end(): void {
    this.#present?.end();
    this.#present = undefined;
  }

  close(): void {
    this.end();
    this.#takeSpare()?.end();
  }

  #takeSpare(): Trial | undefined {
    const spare = this.#spare;
    this.#spare = undefined;
    return spare;
  }
}
