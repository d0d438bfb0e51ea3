// GET /hub/dashboards: the dashboards of the console, JSON5 files that users write in one folder. The hub reads and checks a file again
// only after the file has changed. A worker thread checks the files, because a check takes up to half a second.
import { createHash } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { join } from 'node:path';
import { widgetSchemas } from '../../../dashboard/format.ts';
import { parseDashboard } from '../../../dashboard/parse-dashboard.ts';
import { asFileError, decodeUtf8, EncodingError, kindOf } from '../../../files/regular-file.ts';
import { nearestName, unknownName } from '../../../json5/nearest-name.ts';
import { HubError, messageOf } from '../../../model/error.ts';
import type { DashboardList } from '../../../wire/http/operation.ts';
import type { DocumentFolder } from '../../editing.ts';
import type { SettingHint } from '../../setting.ts';
import { bytesUnlessSame, type Disk, entriesOf, isSettled, type Reading, stampOf, statsOf } from '../files/reading.ts';
import type { JsonText } from '../http/answer/reply.ts';
import type { Principal } from '../users/principal.ts';
import { checkDashboard, DashboardChecker } from './dashboard-checker.ts';

/** The maximum length of all JSON and errors in the cache, in characters. The most recently requested files are kept. */
const maxKeptLength = 16 * 1024 * 1024;
/**
 * The length below which a file is checked in this thread, in bytes: checking a short file takes less time than a message to the worker.
 */
const shortBytes = 512;

/** The cached result of reading and checking a dashboard file: the dashboard's JSON, or its error. */
interface Kept {
  /** The stamp of the file; undefined if a change to the file might have left the stamp unchanged. */
  readonly stamp: string | undefined;
  readonly digest: string;
  readonly result: JsonText | HubError;
}

export class Dashboards {
  readonly #folder: string | undefined;
  readonly #disk: Disk;
  readonly #checker = new DashboardChecker();
  #names: { readonly stamp: string | undefined; readonly all: readonly string[] } | undefined;
  /** The cached results, keyed by dashboard name, the most recently requested dashboard last. */
  readonly #kept = new Map<string, Kept>();
  #keptLength = 0;
  /** The checks in progress, keyed by dashboard name and content. */
  readonly #pending = new Map<string, Promise<JsonText>>();

  /** Serves the dashboards in a folder; without a folder, there are no dashboards. */
  constructor(folder: string | undefined, disk: Disk) {
    this.#folder = folder;
    this.#disk = disk;
  }

  /** The absolute path of the dashboard folder; undefined if there is no folder. */
  get folder(): string | undefined {
    return this.#folder;
  }

  /** Lists the dashboards that a principal may open. */
  list({ rights }: Principal): DashboardList | Promise<DashboardList> {
    return then(this.#disk.read(this.#readNames()), (names) => ({
      dashboards: names.filter((name) => rights?.mayOpen(name) ?? true),
    }));
  }

  has(name: string): boolean | Promise<boolean> {
    return then(this.#disk.read(this.#readNames()), (names) => names.includes(name));
  }

  /**
   * Returns the JSON of a checked dashboard, with all defaults. Errors: `not-found`, which suggests the most similar name; `bad-dashboard`
   * with all errors and their lines and columns.
   */
  read(name: string, principal: Principal): JsonText | Promise<JsonText> {
    const known = this.#kept.get(name);
    return then(this.#disk.read(this.#readFile(name, principal, known?.stamp)), ({ stamp, bytes }) => {
      if (bytes === undefined) return this.#resultOf(name, known!);
      const digest = createHash('sha1').update(bytes).digest('base64url');
      if (known?.digest === digest) return this.#resultOf(name, { ...known, stamp });
      return this.#check(name, bytes, { stamp, digest });
    });
  }

  #check(name: string, bytes: Buffer, state: Pick<Kept, 'stamp' | 'digest'>): JsonText | Promise<JsonText> {
    const file = fileOf(name);
    const keep = (result: JsonText | HubError) => this.#resultOf(name, { ...state, result });
    const text = textOfDashboard(bytes, file);
    if (bytes.length <= shortBytes) return keep(checkDashboard(file, text));
    const key = `${state.digest} ${name}`;
    const pending = this.#pending.get(key) ?? this.#checker.check(file, text).then(keep);
    this.#pending.set(key, pending);
    return pending.finally(() => this.#pending.delete(key));
  }

  /** Caches a result; returns the JSON in the result, or throws the error. */
  #resultOf(name: string, kept: Kept): JsonText {
    this.#forget(name);
    this.#kept.set(name, kept);
    this.#keptLength += lengthOf(kept);
    for (const [oldest] of this.#kept) {
      if (this.#keptLength <= maxKeptLength) break;
      this.#forget(oldest);
    }
    if (kept.result instanceof HubError) throw kept.result;
    return kept.result;
  }

  #forget(name: string): void {
    const kept = this.#kept.get(name);
    if (kept === undefined) return;
    this.#kept.delete(name);
    this.#keptLength -= lengthOf(kept);
  }

  /**
   * Reads the file of a dashboard, without its bytes if its stamp is `known`. Errors: `not-found`, which suggests the most similar name;
   * `bad-dashboard`.
   */
  *#readFile(
    name: string,
    { rights }: Principal,
    known: string | undefined,
  ): Reading<{ stamp: string | undefined; bytes: Buffer | undefined }> {
    const names = (yield* this.#readNames()).filter((one) => rights?.mayOpen(one) ?? true);
    if (!names.includes(name)) {
      const nearest = nearestName(name, names);
      const hint = nearest === undefined ? '' : `, did you mean "${nearest}"?`;
      throw new HubError('not-found', `${name}: no such dashboard${hint}`);
    }
    const { stats, bytes } = yield* readDashboardFile(this.#folder!, fileOf(name), known);
    return { stamp: isSettled(stats) ? stampOf(stats) : undefined, bytes };
  }

  /** Reads the names of the dashboards, sorted and without links; returns an empty list if the folder is missing. */
  *#readNames(): Reading<readonly string[]> {
    if (this.#folder === undefined) return [];
    try {
      const stats = yield* statsOf(this.#folder);
      const stamp = stampOf(stats);
      if (this.#names?.stamp !== stamp) {
        const all = namesOf(yield* entriesOf(this.#folder));
        this.#names = { stamp: isSettled(stats) ? stamp : undefined, all };
      }
      return this.#names.all;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
  }
}

function lengthOf({ result }: Kept): number {
  return result instanceof HubError ? result.message.length : result.text.length;
}

/** Calls `next` with a value, either immediately or as soon as the promise resolves. */
function then<From, To>(value: From | Promise<From>, next: (value: From) => To | Promise<To>): To | Promise<To> {
  return value instanceof Promise ? value.then(next) : next(value);
}

// The files in a dashboard folder: their names, contents and errors.

const maxDashboards = 1000;
const maxDashboardBytes = 1024 * 1024;
const ending = '.json5';

/** Returns the name of the file for a dashboard. */
function fileOf(name: string): string {
  return `${name}${ending}`;
}

/** Returns the names of the dashboards in a folder, sorted and without links, at most `maxDashboards`. */
function namesOf(entries: readonly Dirent[]): string[] {
  const files = entries.filter((entry) => entry.isFile() && isNamedSo(entry));
  const names = files.map((entry) => entry.name.slice(0, -ending.length));
  return names.sort().slice(0, maxDashboards);
}

function isNamedSo({ name }: Dirent): boolean {
  return name.endsWith(ending) && !/^[._]/.test(name);
}

/**
 * Reads a dashboard file, without its bytes if its stamp is `known`; errors name the file as `shown`. Errors: `not-found` if the path no
 * longer leads to a file; `bad-dashboard` if the file is too long.
 */
function* readDashboardFile(folder: string, file: string, known: string | undefined, shown = file) {
  try {
    return yield* bytesUnlessSame(join(folder, file), maxDashboardBytes, known);
  } catch (error) {
    const { message, bytes, cause } = asFileError(error);
    if (bytes !== undefined)
      throw new HubError('bad-dashboard', `${shown}: expected at most ${maxDashboardBytes} bytes, got ${bytes}`);
    throw new HubError('not-found', `${shown}: no such dashboard, got ${message}`, { cause });
  }
}

/** Decodes the UTF-8 of a dashboard file. Errors: `bad-dashboard`. */
function textOfDashboard(bytes: Uint8Array, shown: string): string {
  try {
    return decodeUtf8(bytes as Buffer);
  } catch (error) {
    if (!(error instanceof EncodingError)) throw error;
    const { line, column } = error.position;
    throw new HubError('bad-dashboard', `${shown}:${line}:${column}: expected UTF-8, got ${error.message}`);
  }
}

/** Returns the errors in all dashboards in a folder, one per line. `whyUnknown` returns the error for an address, or undefined. */
export function* mistakesInDashboards(
  folder: string,
  whyUnknown: (address: string) => string | undefined,
): Reading<string[]> {
  const lines: string[] = [];
  let entries: readonly Dirent[] = [];
  try {
    entries = yield* entriesOf(folder);
  } catch {} // a hint reports this case
  for (const entry of entries)
    if (isNamedSo(entry) && !entry.isFile())
      lines.push(
        `${join(folder, entry.name)}: expected a file (the hub does not follow links here), got ${kindOf(entry)}`,
      );
  const names = namesOf(entries);
  for (const name of names) {
    const file = fileOf(name);
    const path = join(folder, file);
    try {
      const { bytes } = yield* readDashboardFile(folder, file, undefined, path);
      const whyNoDashboard = (one: string) => (names.includes(one) ? undefined : unknownName('dashboard', one, names));
      parseDashboard(path, textOfDashboard(bytes!, path), { whyUnknown, whyNoDashboard });
    } catch (error) {
      lines.push(...messageOf(error).split('\n'));
    }
  }
  return lines;
}

/** Returns a hint if the folder for dashboards is missing or unreadable. */
export function* hintsAboutFolder(folder: string): Reading<SettingHint[]> {
  try {
    yield* entriesOf(folder);
    return [];
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const got = code === 'ENOENT' ? 'got no folder' : code === 'ENOTDIR' ? 'got a file' : `got ${code}`;
    return [{ path: ['dashboards'], message: `expected a folder of dashboards at ${folder}, ${got}` }];
  }
}

/** The settings of a widget that come first, in the order used in the documentation. */
const firstKeys = ['title', 'columns', 'rows', 'each', 'type', 'label', 'address', 'addresses'];
const lastKeys = ['at', 'size', 'widgets'];

/** Returns the dashboards in a folder as files that users may edit. */
export function documentsIn(path: string, checker: DashboardChecker): DocumentFolder {
  const known = Object.values(widgetSchemas).flatMap((schema) => Object.keys(schema.shape));
  const between = known.filter((key) => ![...firstKeys, ...lastKeys].includes(key));
  return {
    path,
    names: /^[^._\p{Cc}/\\][^\p{Cc}/\\]{0,99}\.json5$/u,
    maxFiles: maxDashboards,
    keys: [...firstKeys, ...new Set(between), ...lastKeys],
    findings: (file, text) => checker.findings(file, text),
  };
}
