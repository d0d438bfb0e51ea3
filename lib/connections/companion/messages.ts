// What the hub and the process of a driver module say to each other: lines of JSON over a pipe. The process is not trusted: each line is
// bounded and checked.

import { z } from 'zod';

/** The longest line of a process, in bytes. */
export const maxLineBytes = 65_536;

/** What a module is started with. */
export interface Start {
  /** The major version of the module API. */
  readonly api: 1 | 2;
  readonly entrypoint: string;
  readonly label: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly secrets: Readonly<Record<string, unknown>>;
  readonly allowHosts: readonly string[];
  /** The variables and feedbacks to report, by Parameter ID. */
  readonly values: Readonly<Record<string, Watched>>;
  /** Whether it reports its config, actions, feedbacks and variables, and ends. */
  readonly describes: boolean;
}

export interface Watched {
  readonly variable?: string | undefined;
  readonly feedback?: string | undefined;
  readonly options: Readonly<Record<string, unknown>>;
}

export type ToProcess =
  | { readonly start: Start }
  | { readonly act: number; readonly action: string; readonly options: Readonly<Record<string, unknown>> }
  | { readonly ping: number }
  | { readonly stop: true };

const text = z.string().transform((long) => long.slice(0, 1000));

/** A field of the config of a module, or of an action or feedback. */
export interface Field {
  readonly id: string;
  readonly type: string;
  readonly label: string;
  /** What the module suggests; undefined: nothing. */
  readonly default?: unknown;
}

/** Something that a module offers. */
export interface Offer {
  readonly id: string;
  readonly name: string;
  readonly kind?: string | undefined;
  readonly fields: readonly Field[];
}

export interface Description {
  readonly config: readonly Field[];
  readonly actions: readonly Offer[];
  readonly feedbacks: readonly Offer[];
  readonly variables: readonly { readonly id: string; readonly name: string }[];
  /** How many more of each there are than are listed. */
  readonly more: number;
}

/** A line of the process. */
export const fromProcess = z.union([
  z.strictObject({ ready: z.literal(true) }),
  /** The fields of its config that the settings lack: the module was not started. */
  z.strictObject({ lacks: z.array(text).min(1).max(200) }),
  z.strictObject({ status: text, message: text }),
  z.strictObject({ values: z.array(z.tuple([text, z.unknown()])).max(1000) }),
  z.strictObject({ done: z.number(), error: text.optional() }),
  z.strictObject({ log: z.enum(['debug', 'info', 'warn', 'error']), text }),
  /** What the module tried, and the hub does not allow. */
  z.strictObject({ denied: text }),
  z.strictObject({ pong: z.number() }),
  /** Why the process ends. */
  z.strictObject({ fault: text }),
  /** A part of the description, as JSON. */
  z.strictObject({ described: z.string() }),
]);

export type FromProcess = z.output<typeof fromProcess>;
