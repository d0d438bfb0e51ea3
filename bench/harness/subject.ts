// What a benchmark is made of. A subject has cases (100 sockets, 1,000 sockets); in each case contenders do the same work
// and are measured by the same metrics. One of them is the hub, one may be the ceiling that the hub is held against.

import type { Options } from './options.ts';

export interface Subject {
  readonly name: string;
  /** One sentence for the reader of the table. */
  readonly about: string;
  /** What of this source tree it measures: when that has changed, kept figures are stale. */
  readonly measures: readonly string[];
  /** How many rounds each contender runs unless said. */
  readonly rounds: number;
  /** Whether a target that is missed fails the run, as a wrong answer does; left out: it is told. */
  readonly mustReach?: boolean;
  /** Creates the cases; `folder` is an empty folder for files that live as long as the subject runs. */
  cases(options: Options, folder: string): Promise<readonly Case[]>;
}

export interface Case {
  readonly name: string;
  readonly metrics: readonly Metric[];
  readonly contenders: readonly Contender[];
  /**
   * In each round all contenders run side by side, and are measured so many times in turn: for what differs by less than a
   * machine does from one minute to the next. Left out: each is measured by itself.
   */
  readonly turns?: number;
  /** What the reader of the table has to know of this run: `NATS was left out: …`. */
  readonly notes?: readonly string[];
}

/** One figure of a measurement, in its unit: `{key: 'rate', title: 'answers/s', digits: 0}`. */
export interface Metric {
  readonly key: string;
  readonly title: string;
  /** Digits after the point in the table. */
  readonly digits: number;
  /** Which way is better; left out: it says how a measurement went, and is not judged. */
  readonly better?: 'more' | 'less';
  readonly targets?: readonly Target[];
}

/** What the hub is to reach: its median, or with `against` the median of its ratios to that contender. */
export interface Target {
  /** Name of a contender. */
  readonly against?: string;
  readonly atLeast?: number;
  readonly atMost?: number;
}

/** The hub, what it is held against (the ceiling), or another system that does the same. */
export type Role = 'hub' | 'ceiling' | 'peer';

export interface Contender {
  readonly name: string;
  readonly role: Role;
  /** Runs in the first so many rounds only, for one that is slow and no measure; left out: in all. */
  readonly rounds?: number;
  /** Whether the case ends after a first round in which this one was wrong: without it there is nothing to compare. */
  readonly isNeeded?: boolean;
  /** Measures once, in fresh processes. Rejects when an answer was wrong. */
  measure(): Promise<Measurement>;
  /** Starts what is measured in turn with others. */
  start?(): Promise<Started>;
}

/** A contender whose process stays from one turn to the next. */
export interface Started {
  /** Measures once. Rejects when an answer was wrong. */
  measure(): Promise<Measurement>;
  stop(): Promise<void>;
}

/** Figures by the key of their metric. */
export type Measurement = Readonly<Record<string, number>>;
