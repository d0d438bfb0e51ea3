// Stacks of errors: where they lead, and what was thrown.

import { fileURLToPath } from 'node:url';

/** A place in a file as people know it. */
export interface Place {
  readonly name: string;
  readonly line: number;
  readonly column: number;
}

export interface Frame extends Omit<Place, 'name'> {
  /** The full path of the file. */
  readonly path: string;
}

/** `at call (file:///a/b.ts?version:12:5)`, and what stands above a mistake in the syntax: `/a/b.ts:12`. */
const framePattern = /(file:\/\/[^\s?)]+?|^(?:[A-Za-z]:)?[\\/].*?)(?:\?[^\s:)]*)?:(\d+)(?::(\d+))?(?=[\s)]|$)/gm;

/** Where a stack first is in a file that `nameOf` has a name for. */
export function placeIn(stack: string, nameOf: (path: string) => string | undefined): Place | undefined {
  for (const { path, line, column } of framesOf(stack)) {
    const name = nameOf(path);
    if (name !== undefined) return { name, line, column };
  }
  return undefined;
}

/** `flows/lamp.ts:12:5` */
export function formatPlace({ name, line, column }: Place): string {
  return `${name}:${line}:${column}`;
}

/** The stack of whatever was thrown, empty where it has none. */
export function stackOf(error: unknown): string {
  try {
    const stack = (error as Partial<Error> | null | undefined)?.stack;
    return typeof stack === 'string' ? stack : '';
  } catch {
    return '';
  }
}

/** Whatever was thrown, in one line. */
export function wordsOf(error: unknown): string {
  try {
    if (!(error instanceof Error)) return `${String(error)} was thrown, which is no error`;
    const rejected = /The promise rejected with the reason "(.*)"\.$/s.exec(error.message);
    if (rejected !== null) return `a promise was rejected with ${rejected[1]}, which is no error`;
    const { message, name, cause } = error;
    const words = String(message || name).split('\n', 1)[0]!;
    return cause instanceof Error ? `${words}: ${wordsOf(cause)}` : words;
  } catch {
    return 'something was thrown that cannot be shown';
  }
}

/** The places of a stack, innermost first; what is in no file is left out. */
export function framesOf(stack: string): Frame[] {
  return [...stack.matchAll(framePattern)].flatMap(([, at = '', line, column = '1']) => {
    try {
      const path = at.startsWith('file:') ? fileURLToPath(at) : at;
      return [{ path, line: Number(line), column: Number(column) }];
    } catch {
      return [];
    }
  });
}
