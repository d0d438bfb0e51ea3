// Reads a JSON5 text written by people: its data, the position of each part, and its syntax errors.
import JSON5 from 'json5';
import { HubError, messageOf } from '../model/error.ts';
import { hidden } from '../model/secret.ts';
import { explainJson5, isSecretLine } from './explain-mistake.ts';
import { KeptText } from './kept-text.ts';
import {
  createKnownPlaces,
  findInText,
  findPosition,
  type KnownPlaces,
  offsetAt,
  type Path,
  type Position,
  positionAt,
} from './positions.ts';
import { toJson } from './to-json.ts';

/** A JSON5 text that parses. The text may still contain duplicate keys, which are errors. */
export interface Json5Text {
  readonly source: KeptText;
  readonly data: unknown;
  readonly places: KnownPlaces;
  /** The keys that repeat an earlier key in the same object, each with its path and the error message. */
  readonly duplicates: readonly { readonly path: Path; readonly position: Position; readonly message: string }[];
  /**
   * Returns the position of a path, or of its nearest existing parent. With an offset, returns the position of that character in the string
   * at the path.
   */
  positionOf(path: Path, offset?: number): Position | undefined;
}

/** Thrown if the text is not valid JSON5: `message` describes the error, and `position` is its location. */
export class Json5Error extends HubError {
  readonly position: Position | undefined;

  constructor(message: string, position: Position | undefined) {
    super('bad-json5', message);
    this.position = position;
  }
}

/** Reads a JSON5 text. Errors: `bad-json5`, thrown as a `Json5Error`. */
export function readJson5(text: string): Json5Text {
  const source = new KeptText(text);
  return createJson5Text(source, parseJson5(text), createKnownPlaces(source));
}

/** Returns a `Json5Text` for a text whose data and places are already known. */
export function createJson5Text(source: KeptText, data: unknown, places: KnownPlaces): Json5Text {
  return {
    source,
    data,
    places,
    duplicates: places.found.duplicates.map(({ path, offset }) => ({
      path,
      position: places.positionAt(offset),
      message: `expected "${path.at(-1)}" once, got several`,
    })),
    positionOf: (path, offset) =>
      (offset === undefined ? undefined : findInText(source.text, path, offset, places)) ??
      findPosition(source.text, path, places),
  };
}

/**
 * Parses a JSON5 text to data. The engine's JSON parser is tried first, because it is many times faster than a parser in JavaScript.
 * Errors: `bad-json5`.
 */
export function parseJson5(text: string): unknown {
  try {
    return JSON.parse(toJson(text));
  } catch {
    return parseSlowly(text);
  }
}

function parseSlowly(text: string): unknown {
  try {
    return JSON5.parse(text);
  } catch (error) {
    const explained = explainJson5(text);
    if (explained !== undefined) throw new Json5Error(explained.message, positionAt(text, explained.offset));
    const { lineNumber, columnNumber } = error as { lineNumber?: number; columnNumber?: number };
    const position =
      lineNumber === undefined ? undefined : { line: lineNumber, column: Math.max(1, columnNumber ?? 1) };
    const got = messageOf(error).replace(/^JSON5: | at \d+:\d+$/g, '');
    const isSecret = isSecretLine(text, position === undefined ? 0 : offsetAt(text, position));
    throw new Json5Error(`expected JSON5, got ${isSecret ? hidden : got}`, position);
  }
}
