// The protocol between the hub and the process of a driver module: lines of JSON over a pipe. The process is not trusted, so each line is
// bounded and checked.

import { z } from 'zod';
import type { DriverField, DriverPage, DriverQuestion } from '../hub-port.ts';
import { maxChoices, maxFields, maxListed, type Offers } from './process/catalogue.ts';

/** The maximum length of a line from the process, in bytes. */
export const maxLineBytes = 65_536;

/** What the hub sends to start a module. */
export interface Start {
  /** The major version of the module API. */
  readonly api: 1 | 2;
  readonly entrypoint: string;
  readonly label: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly secrets: Readonly<Record<string, unknown>>;
  readonly allowHosts: readonly string[];
  /** The variables and feedbacks to report, keyed by Parameter ID. */
  readonly values: Readonly<Record<string, Watched>>;
  /** Whether the module reports its config, actions, feedbacks and variables, and then ends. */
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
  /** Asks for a part of what the module offers. */
  | { readonly list: number; readonly question: DriverQuestion }
  | { readonly ping: number }
  | { readonly stop: true };

const text = z.string().transform((long) => long.slice(0, 1000));

/** The description of a whole module, for people who write a connection by hand. */
export interface Description extends Offers {
  readonly config: readonly DriverField[];
}

const field: z.ZodType<DriverField> = z.strictObject({
  id: text,
  type: text,
  label: text,
  about: z.exactOptional(text),
  default: z.exactOptional(z.unknown()),
  min: z.exactOptional(z.number()),
  max: z.exactOptional(z.number()),
  step: z.exactOptional(z.number()),
  choices: z.exactOptional(
    z.array(z.strictObject({ id: z.union([text, z.number(), z.boolean()]), label: text })).max(maxChoices),
  ),
  isOpen: z.exactOptional(z.literal(true)),
});

/** The config fields of a module. */
export const fieldsAnswer = z.array(field).max(maxFields);
/** The answer to a query about what a module offers. */
export const pageAnswer: z.ZodType<DriverPage> = z.strictObject({
  total: z.int().nonnegative(),
  items: z
    .array(
      z.strictObject({
        id: text,
        name: text,
        kind: z.exactOptional(text),
        value: z.exactOptional(z.union([text, z.number(), z.boolean()])),
        fields: z.exactOptional(fieldsAnswer),
      }),
    )
    .max(maxListed),
});

const kinds = {
  ready: z.strictObject({ ready: z.literal(true) }),
  /** The config fields that the settings lack; the module was not started. */
  lacks: z.strictObject({ lacks: z.array(text).min(1).max(200) }),
  status: z.strictObject({ status: text, message: text }),
  values: z.strictObject({ values: z.array(z.tuple([text, z.unknown()])).max(2000) }),
  done: z.strictObject({ done: z.number(), error: text.optional() }),
  log: z.strictObject({ log: z.enum(['debug', 'info', 'warn', 'error']), text }),
  /** What the module tried to do, but the hub does not allow. */
  denied: z.strictObject({ denied: text }),
  pong: z.strictObject({ pong: z.number() }),
  /** Why the process is ending. */
  fault: z.strictObject({ fault: text }),
  /** A part of the description, as JSON; an empty part marks the end. */
  described: z.strictObject({ described: z.string() }),
  /**
   * A part of the answer to a question, as JSON; an empty part marks the end. The config is sent as the answer to question 0, which nobody
   * asks.
   */
  listed: z.strictObject({ listed: z.int().nonnegative(), part: z.string() }),
};

export type FromProcess = { [Kind in keyof typeof kinds]: z.output<(typeof kinds)[Kind]> }[keyof typeof kinds];

/**
 * Parses a line from the process; undefined if the line is not part of the protocol. The first key is the kind of the line, so each line is
 * checked against only one schema.
 */
export function readLine(line: string): FromProcess | undefined {
  let json: unknown;
  try {
    json = JSON.parse(line);
  } catch {
    return undefined;
  }
  const [kind = ''] = Object.keys(Object(json) as object);
  return Object.hasOwn(kinds, kind) ? kinds[kind as keyof typeof kinds].safeParse(json).data : undefined;
}
