// Loads flow files at startup and on each reload, and keeps the report of the last load.

import { resolve } from 'node:path';
import type { AnyConnectionType } from '../connections/connection.ts';
import { formatMistake, type Mistake, MistakeList } from '../json5/mistake.ts';
import { HubError } from '../model/error.ts';
import { isJsonObject } from '../model/json-object.ts';
import type { FileReport, LoadReport } from '../model/reports/reload-report.ts';
import { FlowCheck } from './check/check.ts';
import type { FlowFile } from './files/flow-file.ts';
import { readFromDisk } from './files/flow-template.ts';
import { type KeptFiles, readFlowFiles } from './files/read-files.ts';
import type { Plan } from './plan.ts';
import { FlowPrograms, type ProgramOptions } from './programs/flow-programs.ts';

type ConnectionTypes = ReadonlyMap<string, AnyConnectionType>;

/** Loads and returns the connection types with these names, or all types if any of the names is unknown. */
type LoadTypes = (names: ReadonlySet<unknown>) => Promise<ConnectionTypes>;

/** The result of loading flow files with unsaved text. */
export interface Tried {
  readonly plan: Plan;
  readonly mistakes: readonly Mistake[];
  /** The flow files and instances that could be read. */
  readonly files: readonly FlowFile[];
}

export class FlowLoader {
  readonly #paths: readonly string[];
  readonly #loadTypes: LoadTypes;
  /** The connection types that the flow files use, keyed by name. */
  readonly #used = new Map<string, AnyConnectionType>();
  readonly #check = new FlowCheck(this.#used);
  readonly #kept: KeptFiles = new Map();
  /** The check used by `tryOut`, separate from the check used by loads. */
  readonly #tryCheck = new FlowCheck(this.#used);
  /** The files as last read by `tryOut`, separate from those read by loads. */
  readonly #tryKept: KeptFiles = new Map();
  readonly #programs: FlowPrograms;
  /** The files named in flow files at the last successful load. */
  #runningFiles: readonly string[] = [];
  /** The files named in flow files at the last load. */
  #namedFiles: readonly string[] = [];
  #links: string[] = [];
  #begunAt = 0;
  #report: LoadReport = { time: Date.now(), isLoaded: false, reason: '', files: [] };

  constructor(paths: readonly string[], types: ConnectionTypes | LoadTypes, programs: ProgramOptions = {}) {
    this.#paths = paths;
    this.#loadTypes = typeof types === 'function' ? types : async () => types;
    this.#programs = new FlowPrograms(programs);
  }

  /**
   * The files to watch in addition to flow files: the files that flow files name or import, and links that lead to flow files. A failed
   * load removes no files.
   */
  get furtherFiles(): readonly string[] {
    return [...new Set([...this.#links, ...this.#runningFiles, ...this.#namedFiles, ...this.#programs.furtherFiles])];
  }

  /** When the last load began, in milliseconds since 1970. */
  get begunAt(): number {
    return this.#begunAt;
  }

  /** The report of the last load, for operators. */
  get report(): LoadReport {
    return this.#report;
  }

  /** Reads and checks the flow files, and the files that connections read at run time, such as dashboards. Returns one line per error. */
  async check(): Promise<{ readonly plan: Plan; readonly mistakes: readonly string[] }> {
    const { plan, mistakes } = await this.#read();
    return { plan, mistakes: [...mistakes.items.map(formatMistake), ...(plan.furtherMistakes?.() ?? [])] };
  }

  /**
   * Reads and checks the files. Between the two, `onRead` is called with the connection types that the files name. Errors: `bad-flow`, with
   * one line per error.
   */
  async load(onRead = (_types: Iterable<AnyConnectionType>) => {}): Promise<Plan> {
    const { plan, mistakes } = await this.#read(onRead);
    this.#report = reportOf(plan, mistakes.items);
    const isLoaded = mistakes.items.length === 0;
    this.#namedFiles = plan.furtherFiles;
    if (isLoaded) this.#runningFiles = plan.furtherFiles;
    if (!isLoaded) throw new HubError('bad-flow', mistakes.items.map(formatMistake).join('\n'));
    const furtherFiles = [...new Set([...plan.furtherFiles, ...this.#programs.furtherFiles])];
    return { ...plan, paths: this.#paths, furtherFiles };
  }

  /**
   * Reads and checks the files as if they had the contents in `texts`, which is keyed by full path. `added` contains the names of files
   * that are not on disk yet. The next load is not affected.
   */
  async tryOut(texts: ReadonlyMap<string, string>, added: readonly string[] = []): Promise<Tried> {
    const mistakes = new MistakeList();
    const read = async (path: string) => {
      const text = texts.get(resolve(path));
      return text === undefined ? readFromDisk(path) : Buffer.from(text);
    };
    const reading = readFlowFiles(this.#paths, this.#programs, mistakes, this.#tryKept, [], { read, added });
    const files = await reading.finally(() => this.#programs.rest());
    await this.#useTypesOf(files);
    const plan = { ...this.#tryCheck.check(files, mistakes), paths: this.#paths };
    return { plan, mistakes: mistakes.items, files };
  }

  /** Yields the flow files and instances that could be read in the last load. */
  *filesNow(): Generator<FlowFile, void, void> {
    for (const { files } of this.#kept.values()) yield* files.values();
  }

  /** The full paths of the templates that the flow files use. */
  get templates(): readonly string[] {
    return [...new Set([...this.filesNow()].flatMap(({ templates = [] }) => templates))];
  }

  /** Returns the connection type with this name if the flow files use it, and undefined otherwise. */
  typeOf(name: unknown): AnyConnectionType | undefined {
    return this.#used.get(String(name));
  }

  /** The flow files and folders to load, as given. */
  get paths(): readonly string[] {
    return this.#paths;
  }

  async #read(onRead = (_types: Iterable<AnyConnectionType>) => {}): Promise<{ plan: Plan; mistakes: MistakeList }> {
    const mistakes = new MistakeList();
    this.#begunAt = Date.now();
    this.#links = [];
    const reading = readFlowFiles(this.#paths, this.#programs, mistakes, this.#kept, this.#links);
    const files = await reading.finally(() => this.#programs.rest());
    await this.#useTypesOf(files);
    onRead(enabledIn(files, this.#used));
    return { plan: this.#check.check(files, mistakes), mistakes };
  }

  async #useTypesOf(files: readonly FlowFile[]): Promise<void> {
    const names = new Set([...connectionsIn(files)].map((settings) => isJsonObject(settings) && settings.type));
    const types = await this.#loadTypes(names);
    this.#used.clear(); // errors list types in the order of the registry
    for (const [name, type] of types) this.#used.set(name, type);
  }

  /** Stops waiting for a slow TypeScript flow, because a file was saved again during the load. */
  hurry(): void {
    this.#programs.hurry();
  }

  /** Ends the threads in which flows are tried. Call this when no more files will be loaded. */
  close(): void {
    this.#programs.close();
  }

  /** Records in the report why the hub does not run files that have no errors. */
  refuse(reason: string): void {
    this.#report = { ...this.#report, isLoaded: false, reason };
  }
}

/** Yields the types of the enabled connections in files that have not been checked yet. */
function* enabledIn(files: readonly FlowFile[], types: ConnectionTypes): Generator<AnyConnectionType> {
  for (const settings of connectionsIn(files)) {
    const type = isJsonObject(settings) && settings.enabled !== false ? types.get(String(settings.type)) : undefined;
    if (type !== undefined) yield type;
  }
}

/** Yields the settings of each connection in files that have not been checked yet. */
function* connectionsIn(files: readonly FlowFile[]): Generator<unknown> {
  for (const { data } of files)
    if (isJsonObject(data) && isJsonObject(data.connections)) yield* Object.values(data.connections);
}

/** Returns the report of a load, with an entry for every file that was found and for every path without a file. */
export function reportOf(plan: Plan, mistakes: readonly Mistake[]): LoadReport {
  const files = new Map<string, FileReport & { mistakes: string[] }>();
  const fileOf = (path: string) => {
    const file = files.get(path) ?? { path, connections: 0, rules: 0, mistakes: [] };
    files.set(path, file);
    return file;
  };
  for (const file of plan.files) files.set(file.path, { ...file, mistakes: [] });
  for (const mistake of mistakes) fileOf(mistake.file).mistakes.push(formatMistake(mistake));
  const isLoaded = mistakes.length === 0;
  const reason = isLoaded ? '' : 'the flow files have errors';
  return { time: Date.now(), isLoaded, reason, files: [...files.values()] };
}
