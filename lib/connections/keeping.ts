// What outlives the hub: values, and what connections have under way. A store reads and writes it, the hub hands it out before
// anything runs, and connections tell what is under way.

import type { Observable } from 'rxjs';
import type { Change, Parameter } from '../model/parameter.ts';
import type { LogEntry } from '../model/reports/log-entry.ts';
import type { Value } from '../model/value.ts';
import type { Archive } from './archive.ts';
import type { Installation } from './installation.ts';

/** A value as it was kept; `time` is when it was set, in milliseconds since 1970. */
export interface KeptValue {
  readonly address: string;
  readonly value: Value;
  readonly time: number;
  /** Reads the change that has set it, with what had led to that; undefined: it is not known. */
  readonly readCause: () => Change | undefined;
}

/** Something that a connection had under way, by a name of its own, as data for JSON. */
export interface KeptMemory {
  readonly connection: string;
  readonly name: string;
  readonly memory: unknown;
}

/** The log of earlier runs of the hub. */
export interface KeptLog {
  /** Names the count of the entries. */
  readonly count: string;
  /** The newest ones, oldest first. */
  readonly entries: readonly LogEntry[];
  /** When the last run ended, as far as is known. */
  readonly endedAt: number;
  readonly isClean: boolean;
}

/** What a store has kept of an earlier run of the hub. */
export interface Kept {
  readonly values: readonly KeptValue[];
  readonly memories: readonly KeptMemory[];
  /** Nobody waits for it to start. It resolves to undefined when there is none, or it could not be read in time; it never rejects. */
  readonly log?: Promise<KeptLog | undefined>;
  /** What the connection finds as `left` when it runs, such as a database that is open. */
  readonly left?: unknown;
}

/** What was done with the hub itself, beside changes of parameters: a rule was switched, flow files were reloaded, its clock was set. */
export interface Deed {
  readonly kind: 'rule' | 'connection' | 'reload' | 'sign-in' | 'clock' | 'lost' | 'stop';
  /** Who did it: a client, `api 10.0.0.3`. */
  readonly user: string;
  /** What it was done to: the name of a rule or a connection; empty: the hub. */
  readonly address: string;
  readonly before?: Value | undefined;
  readonly after?: Value | undefined;
  /** A sentence that says more. */
  readonly cause: string;
  /** How often it was done, when several are told as one; left out: once. */
  readonly count?: number | undefined;
}

/** What one connection has under way. Only a hub with a store has a memory. */
export interface Memory {
  /** What was under way when the hub ended, by name; empty unless the connection starts with the hub. */
  readonly recalled: ReadonlyMap<string, unknown>;
  /** Says that something is no longer as it was. `read` is called later, when it is kept: data for JSON; undefined forgets it. */
  changed(name: string, read: () => unknown): void;
  /** The time of day of a moment of the connection's clock: milliseconds since 1970. */
  timeOf(clockMs: number): number;
  /** The moment of the connection's clock at a time of day. */
  clockOf(timeMs: number): number;
}

/** What a store sees of the hub, beside its parameters. */
export interface KeepingPort {
  /** Whether a value of the parameter may be kept: others write it, and nothing outside of the hub knows better. */
  isKept(parameter: Parameter): boolean;
  /**
   * Whether a change came from outside of the hub: from a client, from a connection such as a keyboard, or from another hub that had
   * a parameter of this one written, also by its rules. What a device tells of itself first, default, computed and restored values and
   * what timers do are not.
   */
  isFromOutside(change: Change): boolean;
  /** What is done with the hub itself. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly deeds$: Observable<Deed>;
  /** Tells the store what is done with the hub itself. */
  note(deed: Deed): void;
  /** Takes what has changed of all that is under way since it was taken last. */
  takeMemories(): readonly KeptMemory[];
  /** All that is under way counts as changed, as when it is kept for the first time. */
  renewMemories(): void;
  /**
   * Gives back what a store has that another hub had open before: to be called whenever it has been opened. Values that are newer than
   * those of this hub are told as changes, while no rule runs. false: nobody waits for it, and it is left.
   */
  giveBack(kept: Pick<Kept, 'values' | 'memories'>, store: string): boolean;
  /** What the hub is made of, as files. */
  installation(): Installation;
  /** What the running store can be asked for; undefined: the hub has none that runs. */
  readonly archive: Archive | undefined;
  /** A part of a store offers what it can be asked for, while it runs; returns what ends that. */
  offer(part: Archive): () => void;
}
