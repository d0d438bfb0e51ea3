// Flow files in TypeScript: each is tried in a thread of its own, then imported, anew whenever its content has changed.

import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { MistakeList } from '../../json5/mistake.ts';
import { describe } from '../../model/error.ts';
import {
  type CodeFile,
  type FlowCode,
  formatPlace,
  inFlow,
  placeIn,
  shownName,
  stackOf,
  wordsOf,
} from './flow-code.ts';
import { versionOfFile, whyLeftOut } from './left-out.ts';
import { importDeadlineMs, Trial, TrialError, type Tried, withinTicks } from './trial.ts';

export interface ProgramOptions {
  /** Keeps a thread ready for the next trial, so that a save takes effect at once. */
  readonly keepsReady?: boolean;
  /** Is given all flows in TypeScript before one of them is imported. */
  readonly protect?: (flows: readonly FlowCode[]) => void;
  /** Whether flows that have stopped the hub before are left out, with a word to the operator. */
  readonly tellLeftOut?: (flow: string, reason: string) => void;
}

/** What this process has imported, by URL and content: as Node.js keeps it, so it need not be tried again. */
const imported = new Map<string, FlowCode>();

export class FlowPrograms {
  readonly #options: ProgramOptions;
  readonly #flows = new Map<string, FlowCode>();
  /** The thread of the load that is under way. */
  #trial: Trial | undefined;
  /** One that is ready for the next load. */
  #spare: Trial | undefined;

  constructor(options: ProgramOptions = {}) {
    this.#options = options;
  }

  /** Tries and imports a flow file; returns what it exports, or undefined after it has added the mistake. */
  async read(name: string, version: string, mistakes: MistakeList): Promise<object | undefined> {
    const path = resolve(name);
    const href = `${pathToFileURL(path)}?${version}`;
    const { protect, tellLeftOut } = this.#options;
    let code = imported.get(href);
    try {
      if (code === undefined) {
        const tried = await this.#try(path, name);
        code = codeOf(name, path, version, tried);
        const reason = tellLeftOut && whyLeftOut(code);
        if (reason !== undefined) {
          tellLeftOut!(name, reason);
          return { connections: tried.connections };
        }
      }
      this.#flows.set(path, code);
      protect?.([...this.#flows.values()]);
      imported.set(href, code);
      const module = await withinTicks(
        inFlow.run(name, () => import(href) as Promise<{ default?: unknown }>),
        () => importDeadlineMs,
      );
      if (module === undefined) throw new TrialError('cannot be loaded: its import does not settle');
      if (typeof module.default === 'object' && module.default !== null) return module.default;
      mistakes.addFile(name, `expected export default defineFlow({ … }), got ${describe(module.default)}`);
    } catch (error) {
      this.#addMistake(mistakes, name, asTrialError(error, code));
    }
    return undefined;
  }

  /** A newer save waits: a flow that takes long is not waited for. */
  hurry(): void {
    if (this.#trial === undefined) return;
    this.#trial.hurry();
    this.#spare ??= new Trial();
  }

  /** A load is over: what it has tried must not be there for the next. */
  rest(): void {
    this.#trial?.end();
    this.#trial = undefined;
    if (this.#options.keepsReady && this.#flows.size > 0) this.#spare ??= new Trial();
  }

  close(): void {
    for (const trial of [this.#trial, this.#spare]) trial?.end();
    this.#trial = undefined;
    this.#spare = undefined;
  }

  #addMistake(mistakes: MistakeList, name: string, { message, place }: TrialError): void {
    if (place?.name === name) mistakes.addFile(name, message, place);
    else mistakes.addFile(name, place === undefined ? message : `${message} (${formatPlace(place)})`);
  }

  async #try(path: string, name: string): Promise<Tried> {
    this.#trial ??= this.#spare ?? new Trial();
    if (this.#trial === this.#spare) this.#spare = undefined;
    try {
      return await this.#trial.run(path, name);
    } catch (error) {
      this.#trial = undefined;
      throw error;
    }
  }
}

function asTrialError(error: unknown, code: FlowCode | undefined): TrialError {
  if (error instanceof TrialError) return error;
  const place = placeIn(stackOf(error), (file) => code?.files.get(file)?.name);
  return new TrialError(`cannot be loaded: ${wordsOf(error)}`, place);
}

function codeOf(name: string, path: string, version: string, { imports }: Tried): FlowCode {
  const files = new Map<string, CodeFile>([[path, { name, version }]]);
  for (const file of imports) files.set(file, { name: shownName(file, { path, name }), version: versionOfFile(file) });
  return { name, path, files };
}
