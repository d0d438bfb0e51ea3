// Flow files in TypeScript: each is tried in a thread of its own and then imported, again whenever its content has changed.

import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { MistakeList } from '../../json5/mistake.ts';
import { describe } from '../../model/error.ts';
import { type CodeFile, type FlowCode, inFlow, shownName } from './flow-code.ts';
import { versionOfFile, whyLeftOut } from './left-out.ts';
import { formatPlace, placeIn, stackOf, wordsOf } from './stack.ts';
import { withinTicks } from './ticks.ts';
import { importDeadlineMs, TrialError, type Tried } from './trial.ts';
import { Trials } from './trials.ts';

export interface ProgramOptions {
  /** Keeps a thread ready for the next trial, so that a save takes effect at once. */
  readonly keepsReady?: boolean;
  /** Is given all flows in TypeScript before one of them is imported. */
  readonly protect?: (flows: readonly FlowCode[]) => void;
  /** Whether flows that have stopped the hub before are left out, with a word to the operator. */
  readonly tellLeftOut?: (flow: string, reason: string) => void;
}

/** What this process has imported, by URL and content. Node.js keeps it, so it need not be tried again. */
const imported = new Map<string, FlowCode>();

export class FlowPrograms {
  readonly #options: ProgramOptions;
  readonly #flows = new Map<string, FlowCode>();
  readonly #trials = new Trials();

  constructor(options: ProgramOptions = {}) {
    this.#options = options;
  }

  /** Tries and imports a flow file; returns what it exports, or undefined after it has added the mistake. */
  async read(name: string, version: string, mistakes: MistakeList): Promise<object | undefined> {
    const path = resolve(name);
    const href = `${pathToFileURL(path)}?${version}`;
    let code = imported.get(href);
    try {
      if (code === undefined) {
        const tried = await this.#trials.run(path, name);
        code = codeOf(name, path, version, tried);
        if (this.#isLeftOut(code)) return { connections: tried.connections };
      }
      this.#flows.set(path, code);
      this.#options.protect?.([...this.#flows.values()]);
      imported.set(href, code);
      const exported = await importFlow(href, name);
      if (typeof exported === 'object' && exported !== null) return exported;
      mistakes.addFile(name, `expected export default defineFlow({ … }), got ${describe(exported)}`, {
        line: 1,
        column: 1,
      });
    } catch (error) {
      addMistake(mistakes, name, asTrialError(error, code));
    }
    return undefined;
  }

  /** A newer save waits: a flow that takes long is not waited for. */
  hurry(): void {
    this.#trials.hurry();
  }

  /** A load is over. */
  rest(): void {
    this.#trials.end();
    if (this.#options.keepsReady && this.#flows.size > 0) this.#trials.prepare();
  }

  close(): void {
    this.#trials.close();
  }

  /** Whether a flow has stopped the hub before; then the operator is told. */
  #isLeftOut(code: FlowCode): boolean {
    const { tellLeftOut } = this.#options;
    const reason = tellLeftOut && whyLeftOut(code);
    if (reason === undefined) return false;
    tellLeftOut?.(code.name, reason);
    return true;
  }
}

/** What a flow file exports. Errors: `TrialError` when the import does not settle, and whatever the flow throws. */
async function importFlow(href: string, name: string): Promise<unknown> {
  const importing = inFlow.run(name, () => import(href) as Promise<{ default?: unknown }>);
  const module = await withinTicks(importing, () => importDeadlineMs);
  if (module === undefined) throw new TrialError('cannot be loaded: its import does not settle');
  return module.default;
}

function addMistake(mistakes: MistakeList, name: string, { message, place }: TrialError): void {
  if (place?.name === name) mistakes.addFile(name, message, place);
  else mistakes.addFile(name, place === undefined ? message : `${message} (${formatPlace(place)})`);
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
