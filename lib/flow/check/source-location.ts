// A location in a flow file that is being checked. Each error gets its location from here.

import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import type { z } from 'zod';
import { ExpressionMistake } from '../../expression/expression.ts';
import { asFileError, readRegularFileSync } from '../../files/regular-file.ts';
import { lineAt, type Mistake, type MistakeList, type SettingPath } from '../../json5/mistake.ts';
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

  /** The number of errors that the check has found so far, in all files. */
  get mistakeCount(): number {
    return this.#mistakes.count;
  }

  get path(): SettingPath {
    return this.#path;
  }

  /** Returns the location at a path below this location: `at('rules', 2)`. */
  at(...path: SettingPath): SourceLocation {
    return new SourceLocation(this.file, this.#mistakes, [...this.#path, ...path]);
  }

  /** Returns a location within the string at this location, such as an expression; undefined means the whole string. */
  inText(offset: number | undefined): SourceLocation {
    return new SourceLocation(this.file, this.#mistakes, this.#path, offset);
  }

  /** Returns the same location with a known position in its file. */
  placed(place: Position | undefined): SourceLocation {
    return new SourceLocation(this.file, this.#mistakes, this.#path, this.#offset, place);
  }

  /** Returns the same location for a value that was created by a function in the file and is therefore not in its text. */
  made(value: unknown): SourceLocation {
    const { file } = this;
    const depth = this.#path.length;
    const positionOf: FlowFile['positionOf'] = (path, offset) =>
      file.positionOf(path, offset, valueAt(value, path.slice(depth)));
    return new SourceLocation({ ...file, positionOf }, this.#mistakes, this.#path);
  }

  /**
   * Returns the same location with secrets hidden: no error shows any of the secrets, and an error at one of the paths below this location
   * shows no value.
   */
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

  /** Adds an error at this location. */
  add(message: string): void {
    this.#mistakes.add(this.file, this.#path, message, this.#position);
  }

  /** Adds errors that were found in another file. */
  addAll(mistakes: readonly Mistake[]): void {
    this.#mistakes.addAll(mistakes);
  }

  /** Adds a warning about this location. Warnings do not prevent the hub from starting. */
  warn(message: string): void {
    this.#mistakes.warn(this.file, this.#path, message, () => this.#position);
  }

  /** Formats a message about this location as one line that includes the position. */
  line(message: string): string {
    return lineAt(this.file, this.#path, message, this.#position);
  }

  /** Returns the result of `work`. If `work` fails, adds its error and returns undefined. */
  attempt<T>(work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      const location = error instanceof ExpressionMistake ? this.inText(error.offset) : this;
      location.add(messageOf(error));
      return undefined;
    }
  }

  /** Checks data against a schema and adds an error for each issue. The result is the same as that of `MistakeList.parse`. */
  parse<Schema extends z.ZodType>(schema: Schema, data: unknown, isLenient = false): z.output<Schema> | undefined {
    return this.#mistakes.parse(schema, data, this.file, this.#path, isLenient);
  }

  /**
   * Returns a function that finds the position, such as `demo.json5:7:20`, on demand, because finding it requires reading the text again.
   */
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
 * Finds the declaration of the address used at a location. If there is no declaration, adds an error and returns undefined. If
 * `listensToWrites` is true, the location also listens to writes that change nothing.
 */
export type FindDeclaration = (
  location: SourceLocation,
  address: string,
  listensToWrites?: boolean,
) => ParameterDeclaration | undefined;

// Keys, which represent the source text of connections and rules. A reload compares keys to find changes.

/** The maximum size of a file whose content is hashed, in bytes. A larger file is represented by its size and modification time. */
const maxHashedBytes = 4 * 1024 * 1024;
/**
 * The number of parameters that are hashed at once. Batches cost a tenth of hashing parameters one by one, but the text of a million
 * parameters would be too long for a single batch.
 */
const parametersPerUpdate = 1000;

/**
 * Returns the key of a connection: the hash of its text, a space, and a hash of its text, folder, parameters and the files named in its
 * settings. The text consists of the settings as written in the flow file, without `description`.
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

/**
 * Returns the key of a rule: its file, and `item`, which is the rule's text in the file. For a rule that a program creates, the program's
 * version and the rule's index replace the text.
 */
export function ruleKey({ name }: { name: string }, item: unknown): string {
  return JSON.stringify([name, item]);
}

/** Returns a string that changes with the content of a file, or the error code if the file cannot be read. */
function contentMark(path: string): string {
  try {
    const found = statSync(path);
    if (!found.isFile() || found.size > maxHashedBytes) return `${found.size} ${found.mtimeMs}`;
    return createHash('sha256').update(readRegularFileSync(path, maxHashedBytes)).digest('base64');
  } catch (error) {
    return asFileError(error).code ?? 'unreadable';
  }
}
