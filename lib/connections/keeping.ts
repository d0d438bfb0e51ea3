// What outlives the hub: values, and what connections have under way. A store reads and writes it, the hub hands it out before
// anything runs, and connections tell what is under way.

import type { Parameter } from '../model/parameter.ts';
import type { Value } from '../model/value.ts';
import type { Archive } from './archive.ts';

/** A value as it was kept; `time` is when it was set, in milliseconds since 1970. */
export interface KeptValue {
  readonly address: string;
  readonly value: Value;
  readonly time: number;
}

/** Something that a connection had under way, by a name of its own, as data for JSON. */
export interface KeptMemory {
  readonly connection: string;
  readonly name: string;
  readonly memory: unknown;
}

/** What a store has kept of an earlier run of the hub. */
export interface Kept {
  readonly values: readonly KeptValue[];
  readonly memories: readonly KeptMemory[];
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
  /** Takes what has changed of all that is under way since it was taken last. */
  takeMemories(): readonly KeptMemory[];
  /** All that is under way counts as changed, as when it is kept for the first time. */
  renewMemories(): void;
  /** What the running store can be asked for; undefined: the hub has none that runs. */
  readonly archive: Archive | undefined;
  /** A store offers what it can be asked for, while it runs; returns what ends that. */
  offer(archive: Archive): () => void;
}
