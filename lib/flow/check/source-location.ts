// A spot in a flow file that is checked: mistakes are told with the place that they are at.

import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import type { z } from 'zod';
import { ExpressionMistake } from '../../expression/expression.ts';
import { asFileError, readRegularFileSync } from '../../files/regular-file.ts';
import { lineAt, type MistakeList, type SettingPath } from '../../json5/mistake.ts';
import type { Position } from '../../json5/positions.ts';
import { messageOf } from '../../model/error.ts';
import type { ParameterDeclaration } from '../../model/parameter.ts';
import { withoutSecrets, withoutValue } from '../../model/secret.ts';
import { type FlowFile, valueAt } from '../files/flow-file.ts';

export class SourceLocation {
  readonly file: FlowFile;
  readonly #path: SettingPath;
  readonly #mistakes: MistakeList;
  readonly #offset: number | undefined;
  readonly #place: Position | undefined;

  constructor(file: FlowFile, mistakes: MistakeList, path: SettingPath = [], offset?: number, place?: Position) {
    this.file = file;
    this.#path = path;
    this.#mistakes = mistakes;
    this.#offset = offset;
    this.#place = place;
  }

  /** How many mistakes there are by now, in all files. */
  get mistakeCount(): number {
    return this.#mistakes.count;
  }

  get path(): SettingPath {
    return this.#path;
  }

  /** A spot within this one: `at('rules', 2)`. */
  at(...path: SettingPath): SourceLocation {
    return new SourceLocation(this.file, this.#mistakes, [...this.#path, ...path]);
  }

  /** A spot within the text that stands here, such as an expression; undefined: the text as a whole. */
  inText(offset: number | undefined): SourceLocation {
    return new SourceLocation(this.file, this.#mistakes, this.#path, offset);
  }

  /** The same spot, at a place of its file that is known otherwise. */
  placed(place: Position | undefined): SourceLocation {
    return new SourceLocation(this.file, this.#mistakes, this.#path, this.#offset, place);
  }

  /** The same spot, where a function of the file has made what stands here. */
  made(value: unknown): SourceLocation {
    const { file } = this;
    const depth = this.#path.length;
    const positionOf: FlowFile['positionOf'] = (path, offset) =>
      file.positionOf(path, offset, valueAt(value, path.slice(depth)));
    return new SourceLocation({ ...file, positionOf }, this.#mistakes, this.#path);
  }

  /** The same spot. Mistakes at these paths below it show no value, and none shows a secret. */
  hiding(paths: readonly SettingPath[], secrets: readonly string[]): SourceLocation {
    const hidden = paths.map((path) => [...this.#path, ...path]);
    const file: FlowFile = {
      ...this.file,
      withoutSecrets: (path, message) => {
        const isHidden = hidden.some((one) => path.every((part, index) => index >= one.length || part === one[index]));
        return withoutSecrets(isHidden ? withoutValue(message) : message, secrets);
      },
    };
    return new SourceLocation(file, this.#mistakes, this.#path, this.#offset, this.#place);
  }

  /** Adds a mistake. */
  add(message: string): void {
    this.#mistakes.add(this.file, this.#path, message, this.#position);
  }

  /** Adds what may be wrong, and keeps nothing from running. */
  warn(message: string): void {
    this.#mistakes.warn(this.file, this.#path, message, () => this.#position);
  }

  /** What is told about this spot, as one line with its place. */
  line(message: string): string {
    return lineAt(this.file, this.#path, message, this.#position);
  }

  /** What comes of work, or undefined after its error was added as a mistake. */
  attempt<T>(work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      const location = error instanceof ExpressionMistake ? this.inText(error.offset) : this;
      location.add(messageOf(error));
      return undefined;
    }
  }

  /** Checks data against a schema and adds each mistake; what it returns is told at `MistakeList.parse`. */
  parse<Schema extends z.ZodType>(schema: Schema, data: unknown, isLenient = false): z.output<Schema> | undefined {
    return this.#mistakes.parse(schema, data, this.file, this.#path, isLenient);
  }

  /** Finds `demo.json5:7:20` when it is asked, since that means to read the text again. */
  get place(): () => string {
    const { file } = this;
    return () => {
      const position = this.#position;
      const name = file.writtenAt?.(this.#path).file ?? file.name;
      return position === undefined ? name : `${name}:${position.line}:${position.column}`;
    };
  }

  get #position(): Position | undefined {
    return this.#place ?? this.file.positionOf(this.#path, this.#offset);
  }
}

/**
 * Finds the declaration of an address that stands at a spot, or undefined after it has added the mistake. `hearsWrites`: also writes
 * that change nothing are to be heard there.
 */
export type FindDeclaration = (
  location: SourceLocation,
  address: string,
  listensToWrites?: boolean,
) => ParameterDeclaration | undefined;

// Keys: what connections and rules were made of, as text. A reload compares them to find what has changed.

/** The content of a larger file is not read: its size and the time of its last change stand for it. */
const maxHashedBytes = 4 * 1024 * 1024;
/** To hash the text of many at once costs a tenth; that of a million at once would be too long. */
const parametersPerUpdate = 1000;

/**
 * The key of a connection: its text, a space, and what it is made of: that text, its folder, its parameters and the files that its
 * settings name. The text is its settings as the file has them, but for `description`.
 */
export function connectionKey(
  settings: unknown,
  { folder, parameters }: { folder: string; parameters: readonly ParameterDeclaration[] },
  files: readonly string[],
): string {
  const { description: _, ...others } = settings as Readonly<Record<string, unknown>>;
  const text = createHash('sha256').update(JSON.stringify(others)).digest('base64');
  const hash = createHash('sha256').update(
    JSON.stringify([folder, text, files.map((path) => [path, contentMark(path)])]),
  );
  for (let first = 0; first < parameters.length; first += parametersPerUpdate) {
    const some = parameters.slice(first, first + parametersPerUpdate);
    hash.update(some.map(({ id, type, access }) => `${id}\n${type}${access}\n`).join(''));
  }
  return `${text} ${hash.digest('base64')}`;
}

/** The key of a rule: its file and `item`, what the file says of it. A rule of a program has its version and place instead. */
export function ruleKey({ name }: { name: string }, item: unknown): string {
  return JSON.stringify([name, item]);
}

/** A mark that stands for the content of a file. A file that cannot be read has the code of its error as its mark. */
function contentMark(path: string): string {
  try {
    const found = statSync(path);
    if (!found.isFile() || found.size > maxHashedBytes) return `${found.size} ${found.mtimeMs}`;
    return createHash('sha256').update(readRegularFileSync(path, maxHashedBytes)).digest('base64');
  } catch (error) {
    return asFileError(error).code ?? 'unreadable';
  }
}
