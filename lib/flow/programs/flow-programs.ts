// TypeScript flow files: whenever the content of a flow file is new or has changed, the file is tried in a separate thread and then
// imported.

import { realpath } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readRegularFileSync } from '../../files/regular-file.ts';
import { isSecretLine } from '../../json5/explain-mistake.ts';
import type { MistakeList } from '../../json5/mistake.ts';
import { offsetAt } from '../../json5/positions.ts';
import { describe } from '../../model/error.ts';
import { withinTicks } from '../../model/time/wall-clock.ts';
import { type CodeFile, type FlowCode, inFlow, maxFlowBytes, shownName } from './flow-code.ts';
import { filesOf, type Imports, importVersions, versionsOf } from './imports.ts';
import { versionOfFile, whyLeftOut } from './left-out.ts';
import { describeThrown, formatPlace, type Place, placeIn, stackOf } from './stack.ts';
import { importDeadlineMs, TrialError, Trials } from './trial.ts';

export interface ProgramOptions {
  /** Keeps a thread ready for the next trial, so that a save takes effect immediately. */
  readonly keepsReady?: boolean;
  /** Receives all TypeScript flows before any flow is imported. */
  readonly protect?: (flows: readonly FlowCode[]) => void;
  /** Reports each skipped flow to the operator. If this function is given, flows that stopped the hub before are skipped. */
  readonly reportLeftOut?: (flow: string, reason: string) => void;
}

/**
 * The latest import of each file content in this process, keyed by path and content. Node.js keeps the import, so the content does not need
 * another trial.
 */
const imported = new Map<string, ImportedCode>();
/**
 * The number of failed loads of each flow, keyed by the flow's path. The number becomes part of the URL, because Node.js would otherwise
 * return its earlier import.
 */
const failures = new Map<string, number>();

interface ImportedCode extends FlowCode {
  /** The version under which each of the flow's files is imported, keyed by absolute path. */
  readonly versions: ReadonlyMap<string, string>;
}

/** The exports of a flow file, and a version that identifies the content of the file and all its imports. */
export interface ReadProgram {
  readonly exported: object;
  readonly version: string;
}

export class FlowPrograms {
  readonly #options: ProgramOptions;
  readonly #flows = new Map<string, FlowCode>();
  /** The files imported by each flow, as found in the flow's last trial. */
  readonly #importedBy = new Map<string, readonly string[]>();
  readonly #trials = new Trials();

  constructor(options: ProgramOptions = {}) {
    this.#options = options;
  }

  /** The files that flows import. Saving any of these files counts as saving the flow. */
  get furtherFiles(): string[] {
    return [...new Set([...this.#importedBy.values()].flat())];
  }

  /** Tries and imports a flow file with this content. If this fails, adds the error and returns undefined. */
  async read(name: string, content: string, mistakes: MistakeList): Promise<ReadProgram | undefined> {
    const path = await realpath(name).catch(() => resolve(name)); // Node.js names modules by their real paths
    const key = `${path}?${content}`;
    let code = imported.get(key);
    try {
      if (code === undefined || !isAsItWas(code)) {
        const tried = await this.#trials.run(path, name);
        code = codeOf(name, path, tried.imports);
        this.#watch(path, tried.imports);
        this.#protectFrom(code);
        if (this.#isLeftOut(code)) return { exported: { connections: tried.connections }, version: code.version };
      }
      const { version } = code;
      this.#protectFrom(code);
      const isNew = imported.get(key) !== code;
      imported.set(key, code);
      const exported = await importFlow(code);
      if (isNew && !isAsItWas(code)) throw new TrialError('cannot be loaded: it was saved again while it was loading');
      if (typeof exported === 'object' && exported !== null) return { exported, version };
      mistakes.addFile(name, `expected export default defineFlow({ … }), got ${describe(exported)}`, {
        line: 1,
        column: 1,
      });
    } catch (error) {
      if (error instanceof TrialError) this.#watch(path, error.imports);
      addMistake(mistakes, name, path, asTrialError(error, code));
    }
    imported.delete(key);
    failures.set(path, failuresOf(path) + 1);
    return undefined;
  }

  /** Stops waiting for a slow flow, because a newer save is waiting. */
  hurry(): void {
    this.#trials.hurry();
  }

  /** Ends the current load and its trials, and prepares a thread for the next load if required. */
  rest(): void {
    this.#trials.end();
    if (this.#options.keepsReady && this.#flows.size + this.#importedBy.size > 0) this.#trials.prepare();
  }

  close(): void {
    this.#trials.close();
  }

  /** Protects the hub from a flow, even from a skipped flow, so that the flow's next save does not have to wait. */
  #protectFrom(code: FlowCode): void {
    if (this.#flows.get(code.path) === code) return;
    this.#flows.set(code.path, code);
    this.#options.protect?.([...this.#flows.values()]);
  }

  #watch(path: string, imports: Imports): void {
    const files = [...filesOf(path, imports)].filter((file) => file !== path);
    this.#importedBy.set(path, files.length > 0 ? files : (this.#importedBy.get(path) ?? []));
  }

  /** Returns whether a flow is skipped because it stopped the hub before, and reports a skipped flow to the operator. */
  #isLeftOut(code: FlowCode): boolean {
    const { reportLeftOut } = this.#options;
    const reason = reportLeftOut && whyLeftOut(code);
    if (reason === undefined) return false;
    reportLeftOut?.(code.name, reason);
    return true;
  }
}

/** Imports a flow file. Errors: `TrialError` if the import does not settle, and any error that the flow throws. */
async function importFlow({ path, name, versions }: ImportedCode): Promise<unknown> {
  importVersions(versions);
  const href = `${pathToFileURL(path)}?${versions.get(path)}`;
  const importing = inFlow.run(name, () => import(href) as Promise<{ default?: unknown }>);
  const module = await withinTicks(importing, (ms) => ms >= importDeadlineMs);
  if (module === undefined) throw new TrialError('cannot be loaded: its import never settles');
  return module.default;
}

/** Adds an error from a flow. Hides messages that would quote a secret, such as Node.js's `hunter2 is not defined`. */
function addMistake(mistakes: MistakeList, name: string, path: string, error: TrialError): void {
  const { place } = error;
  const isSecret =
    place !== undefined &&
    quotesSecret(error.message, resolve(dirname(path), relative(dirname(name), place.name)), place);
  const message = isSecret ? `${error.message.split(': ', 1)[0]}: ${inSecret}` : error.message;
  if (place?.name === name) mistakes.addFile(name, message, place);
  else mistakes.addFile(name, place === undefined ? message : `${message} (${formatPlace(place)})`);
}

const inSecret = 'an error occurred here; its message is hidden because it may contain a secret';

/** Returns whether a message quotes words from lines that may contain a secret. */
function quotesSecret(message: string, path: string, { line, column }: Place): boolean {
  try {
    const text = readRegularFileSync(path, maxFlowBytes).toString();
    const lines = text
      .split('\n')
      .slice(Math.max(0, line - 3), line)
      .join('\n');
    const words = message.match(/[^\s'"`,]{3,}/g) ?? [];
    return words.some((word) => lines.includes(word)) && isSecretLine(text, offsetAt(text, { line, column }));
  } catch {
    return false; // the file is gone
  }
}

function asTrialError(error: unknown, code: FlowCode | undefined): TrialError {
  if (error instanceof TrialError) return error;
  const place = placeIn(stackOf(error), (file) => code?.files.get(file)?.name);
  return new TrialError(`cannot be loaded: ${describeThrown(error)}`, place);
}

function codeOf(name: string, path: string, imports: Imports): ImportedCode {
  const files = new Map<string, CodeFile>();
  for (const file of filesOf(path, imports))
    files.set(file, { name: shownName(file, { path, name }), version: versionOfFile(file) });
  const versions = versionsOf(path, imports);
  const version = versions.get(path)!;
  for (const [file, known] of versions) versions.set(file, `${known}-${failuresOf(path)}`);
  return { name, path, files, version, versions };
}

const failuresOf = (path: string) => failures.get(path) ?? 0;

/** Returns whether all files of a flow still have the content with which the flow was tried. */
function isAsItWas({ files }: FlowCode): boolean {
  return [...files].every(([path, { version }]) => versionOfFile(path) === version);
}
