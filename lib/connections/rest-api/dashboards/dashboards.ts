// GET /hub/dashboards: the dashboards of the console, JSON5 files that people write in one folder. A file is read and checked once until it
// changes, by a thread of its own: that takes up to half a second.

import { createHash } from 'node:crypto';
import { nearestName } from '../../../json5/nearest-name.ts';
import { HubError } from '../../../model/error.ts';
import type { DashboardList } from '../../../wire/http/operation.ts';
import type { Disk } from '../files/disk.ts';
import { entriesOf, isSettled, type Reading, stampOf, statsOf } from '../files/reading.ts';
import type { JsonText } from '../http/answer/reply.ts';
import type { Visitor } from '../users/visitor.ts';
import { checkDashboard, DashboardChecker } from './dashboard-checker.ts';
import { fileOf, namesOf, readDashboardFile, textOfDashboard } from './dashboard-files.ts';

/** So much is kept of what was read, in characters of JSON and of mistakes: that of the files that were asked for last. */
const maxKeptLength = 16 * 1024 * 1024;
/** A shorter file is checked at once: it takes less time than to hand it to a thread. */
const shortBytes = 512;

/** What a file said when it was read last. */
interface Kept {
  /** The file as it was; undefined: it may have changed since without showing it. */
  readonly stamp: string | undefined;
  readonly digest: string;
  readonly result: JsonText | HubError;
}

export class Dashboards {
  readonly #folder: string | undefined;
  readonly #disk: Disk;
  readonly #checker = new DashboardChecker();
  #names: { readonly stamp: string | undefined; readonly all: readonly string[] } | undefined;
  /** By name; the one that was asked for last is the last. */
  readonly #kept = new Map<string, Kept>();
  #keptLength = 0;
  /** What is being checked, by name and content. */
  readonly #pending = new Map<string, Promise<JsonText>>();

  /** Without a folder there are none. */
  constructor(folder: string | undefined, disk: Disk) {
    this.#folder = folder;
    this.#disk = disk;
  }

  /** Those that a visitor may open. */
  list({ rights }: Visitor): DashboardList | Promise<DashboardList> {
    return then(this.#disk.read(this.#readNames()), (names) => ({
      dashboards: names.filter((name) => rights?.mayOpen(name) ?? true),
    }));
  }

  has(name: string): boolean | Promise<boolean> {
    return then(this.#disk.read(this.#readNames()), (names) => names.includes(name));
  }

  /**
   * A dashboard, checked, and with all that was left out filled in. Errors: `not-found` with the nearest name; `bad-dashboard` with every
   * mistake, each with line and column.
   */
  read(name: string, visitor: Visitor): JsonText | Promise<JsonText> {
    const known = this.#kept.get(name);
    return then(this.#disk.read(this.#readFile(name, visitor, known?.stamp)), ({ stamp, bytes }) => {
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

  /** Keeps a result, and returns it. Errors: the result, where it is one. */
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

  /** Reads a file, unless it is as it was. Errors: `not-found` with the nearest name; `bad-dashboard`. */
  *#readFile(
    name: string,
    { rights }: Visitor,
    known: string | undefined,
  ): Reading<{ stamp: string | undefined; bytes: Buffer | undefined }> {
    const names = (yield* this.#readNames()).filter((one) => rights?.mayOpen(one) ?? true);
    if (!names.includes(name)) {
      const nearest = nearestName(name, names);
      const hint = nearest === undefined ? '' : `, did you mean "${nearest}"?`;
      throw new HubError('not-found', `${name}: there is no such dashboard${hint}`);
    }
    const { stats, bytes } = yield* readDashboardFile(this.#folder!, fileOf(name), known);
    return { stamp: isSettled(stats) ? stampOf(stats) : undefined, bytes };
  }

  /** The names of the files, without links, sorted; empty when the folder is missing. */
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

/** Goes on with a value that is here, or that comes. */
function then<From, To>(value: From | Promise<From>, next: (value: From) => To | Promise<To>): To | Promise<To> {
  return value instanceof Promise ? value.then(next) : next(value);
}
