// The most recent change sets for flow files, with their authors and comments. The change sets are kept in the hub's store or, without a
// store, in a file in the hidden folder `.patchbay` next to the flow files.

import type { Rename } from '../connections/persistence.ts';
import { isJsonObject } from '../model/json-object.ts';
import type { OwnFile } from './edit-files.ts';

/** The maximum number of change sets that are kept. The newest change set is always kept. */
export const keptRevisions = 200;
/** The maximum total length of the texts in the kept change sets, in characters. */
const keptLength = 8 * 1024 * 1024;

export interface KeptRevision {
  readonly revision: number;
  /** When the change set was saved, in milliseconds since 1970. */
  readonly time: number;
  readonly user: string;
  readonly comment: string;
  readonly files: readonly {
    /** The file's name, and its path relative to the flow folder. */
    readonly names: readonly string[];
    /** The file's text before the change; undefined if the file did not exist. */
    readonly before?: string | undefined;
    readonly after?: string | undefined;
  }[];
  /** The parameters that the change set renamed. */
  readonly renames?: readonly Rename[];
}

/** Stores one item of data under a name; undefined deletes the item. Returns false if there is no store. */
export type Remember = (name: string, read: () => unknown) => boolean;

const prefix = 'revision ';

export class Revisions {
  readonly #remember: Remember;
  readonly #file: OwnFile;
  /** The kept revisions, oldest first. */
  #all: KeptRevision[] = [];

  /** `remember` keeps revisions in a store; `file` keeps them if the hub has no store. */
  constructor(remember: Remember, file: OwnFile) {
    this.#remember = remember;
    this.#file = file;
  }

  /** Adopts the revisions that an earlier run of the hub has kept in a store, if there are any. */
  recall(remembered: ReadonlyMap<string, unknown>): void {
    const kept = [...remembered].filter(([name]) => name.startsWith(prefix)).map(([, one]) => one);
    this.#take(kept);
  }

  /** Adopts the revisions that an earlier run of the hub has kept in the file. */
  readFile(): void {
    this.#take(this.#file.read());
  }

  /** Returns the kept revisions, newest first. */
  list(): readonly KeptRevision[] {
    return this.#all.toReversed();
  }

  find(revision: number): KeptRevision | undefined {
    return this.#all.find((one) => one.revision === revision);
  }

  /** Adds a change set, and returns its revision number. */
  add(made: Omit<KeptRevision, 'revision' | 'time'>): number {
    const revision = (this.#all.at(-1)?.revision ?? 0) + 1;
    const added = { revision, time: Date.now(), ...made };
    this.#all.push(added);
    const isInStore = this.#remember(prefix + revision, () => added);
    let length = 0;
    const first = this.#all.findLastIndex((one, index) => {
      length += lengthOf(one);
      return index < this.#all.length - 1 && (length > keptLength || this.#all.length - index > keptRevisions);
    });
    for (const old of this.#all.splice(0, first + 1)) this.#remember(prefix + old.revision, () => undefined);
    if (!isInStore) this.#file.write(this.#all);
    return revision;
  }

  #take(kept: readonly unknown[]): void {
    if (!Array.isArray(kept)) return;
    const known = new Set(this.#all.map(({ revision }) => revision));
    const taken = kept.filter((one): one is KeptRevision => isRevision(one) && !known.has(one.revision));
    this.#all = [...this.#all, ...taken].sort((one, other) => one.revision - other.revision);
  }
}

function lengthOf({ files }: KeptRevision): number {
  return files.reduce((sum, { before = '', after = '' }) => sum + before.length + after.length, 0);
}

function isRevision(one: unknown): boolean {
  if (!isJsonObject(one)) return false;
  const { revision, time, user, comment, files } = one;
  return (
    [revision, time].every((number) => typeof number === 'number') &&
    [user, comment].every((text) => typeof text === 'string') &&
    Array.isArray(files) &&
    files.every((file) => isJsonObject(file) && Array.isArray(file.names))
  );
}
