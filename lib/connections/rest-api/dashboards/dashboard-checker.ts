// Checks dashboards in a worker thread, whose entry point is this file as well. The thread is started when needed and ends after it has
// been idle for a while.

import { extname } from 'node:path';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { type DashboardFindings, findingsIn, parseDashboard } from '../../../dashboard/parse-dashboard.ts';
import { type ErrorCode, HubError, messageOf } from '../../../model/error.ts';
import { JsonText, jsonTextOf } from '../http/answer/reply.ts';

const name = 'dashboards';
const restsAfterMs = 30_000;
/** The maximum duration of the check of one file, in milliseconds. */
const longestMs = 10_000;
/** The limits for the heap of the worker thread. */
const resourceLimits = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 };

interface Question {
  readonly file: string;
  readonly text: string;
  /** Whether the text is being edited; the answer then contains findings instead of a dashboard. */
  readonly isEdit: boolean;
}

type Answer =
  | { readonly text: string; readonly etag: string }
  | { readonly findings: DashboardFindings }
  | { readonly code: ErrorCode; readonly message: string; readonly where: string | undefined };

/** Returns the JSON of a dashboard, or an error that lists all errors in the dashboard. */
export function checkDashboard(file: string, text: string): JsonText | HubError {
  try {
    return jsonTextOf(parseDashboard(file, text));
  } catch (error) {
    if (error instanceof HubError) return error;
    return new HubError('internal', `${file}: ${messageOf(error)}`, { cause: error });
  }
}

export class DashboardChecker {
  #worker: Worker | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #resting: NodeJS.Timeout | undefined;

  /** Runs `checkDashboard` in the worker thread, one file at a time. */
  async check(file: string, text: string): Promise<JsonText | HubError> {
    const answer = await this.#queue({ file, text, isEdit: false });
    if (answer instanceof HubError) return answer;
    if ('text' in answer) return new JsonText(answer.text, answer.etag);
    return new HubError('internal', `${file}: the thread that checks dashboards sent an unexpected answer`);
  }

  /** Resolves to the errors and the addresses in the edited text of a dashboard. Errors: `bad-dashboard` if the text cannot be checked. */
  async findings(file: string, text: string): Promise<DashboardFindings> {
    const answer = await this.#queue({ file, text, isEdit: true });
    if (answer instanceof HubError) throw answer;
    return 'findings' in answer ? answer.findings : { mistakes: [], addresses: [] };
  }

  #queue(question: Question): Promise<Answer | HubError> {
    const answer = this.#last.then(() => this.#ask(question));
    this.#last = answer;
    return answer;
  }

  #ask(question: Question): Promise<Answer | HubError> {
    clearTimeout(this.#resting);
    this.#worker ??= startWorker();
    const worker = this.#worker;
    const { promise, resolve } = Promise.withResolvers<Answer | HubError>();
    const fail = (reason: string) => {
      if (this.#worker === worker) this.#worker = undefined;
      void worker.terminate();
      resolve(new HubError('bad-dashboard', `${question.file}: the dashboard cannot be checked: ${reason}`));
    };
    const late = setTimeout(fail, longestMs, `it takes longer than ${longestMs / 1000} s`);
    worker.once('message', (answer: Answer) => resolve(readAnswer(answer)));
    worker.once('error', (error) => fail(messageOf(error)));
    worker.once('exit', () => fail('it crashes the thread that checks dashboards'));
    worker.postMessage(question);
    return promise.finally(() => {
      clearTimeout(late);
      worker.removeAllListeners('message').removeAllListeners('exit').removeAllListeners('error');
      worker.on('error', () => {});
      this.#resting = setTimeout(() => this.#rest(), restsAfterMs).unref();
    });
  }

  #rest(): void {
    void this.#worker?.terminate();
    this.#worker = undefined;
  }
}

function startWorker(): Worker {
  const program = new URL(`./dashboard-checker${extname(import.meta.filename)}`, import.meta.url);
  const execArgv = ['--disable-warning=ExperimentalWarning'];
  const worker = new Worker(program, { name, workerData: name, execArgv, resourceLimits });
  worker.unref(); // the thread must not keep the process alive
  return worker;
}

function readAnswer(answer: Answer): Answer | HubError {
  if (!('code' in answer)) return answer;
  const { code, message, where } = answer;
  return new HubError(code, message, where === undefined ? {} : { where });
}

function answerTo({ file, text, isEdit }: Question): Answer {
  if (isEdit) return { findings: findingsIn(file, text) };
  const checked = checkDashboard(file, text);
  return checked instanceof HubError
    ? { code: checked.code, message: checked.message, where: checked.where }
    : { text: checked.text, etag: checked.etag };
}

if (workerData === name) parentPort!.on('message', (question: Question) => parentPort!.postMessage(answerTo(question)));
