// What a flow in TypeScript is made of: its file and the files that it imports. By them a stack tells whose code it was.

import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** One file of a flow: its name as people know it, and what names its content. */
export interface CodeFile {
  readonly name: string;
  readonly version: string;
}

/** A flow in TypeScript. `name` is its file as given, `path` the same in full; `files` are by full path, itself first. */
export interface FlowCode {
  readonly name: string;
  readonly path: string;
  readonly files: ReadonlyMap<string, CodeFile>;
}

/** A fault of a flow outside of its rules: one sentence, with the place where it is known. */
export interface FlowFault {
  readonly flow: string;
  readonly message: string;
}

/** The name of the flow that something was started by: a timer, a promise, a socket that it has made. */
export const inFlow = new AsyncLocalStorage<string>();

/** A place in a file as people know it. */
export interface Place {
  readonly name: string;
  readonly line: number;
  readonly column: number;
}

interface Frame extends Omit<Place, 'name'> {
  /** The full path of the file. */
  readonly path: string;
}

const hubFolder = resolve(import.meta.dirname, '../..');
/** `at call (file:///a/b.ts?version:12:5)`, and what stands above a mistake in the syntax: `/a/b.ts:12`. */
const framePattern = /(file:\/\/[^\s?)]+?|^(?:[A-Za-z]:)?[\\/].*?)(?:\?[^\s:)]*)?:(\d+)(?::(\d+))?(?=[\s)]|$)/gm;

/** Names a content: the same content has the same version. */
export function versionOf(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Whether a file is the author's own, and neither of a package nor of the hub. */
export function isOwnCode(path: string): boolean {
  return !/[\\/]node_modules[\\/]/.test(path) && !isHubCode(path);
}

/** The name of a file as that of the flow is given: relative to the same folder. */
export function shownName(file: string, flow: { readonly path: string; readonly name: string }): string {
  return join(dirname(flow.name), relative(dirname(flow.path), file));
}

/** The same for the author's own files alone, neither of a package nor of the hub. */
export function ownName(file: string, flow: { readonly path: string; readonly name: string }): string | undefined {
  return isOwnCode(file) ? shownName(file, flow) : undefined;
}

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

/**
 * The flow that a stack leads to, and where. Without a place in a flow it is the one that has started the work, unless the
 * stack is in the hub's own code.
 */
export function flowOf(
  stack: string,
  flows: readonly FlowCode[],
): { flow: string; place: string | undefined } | undefined {
  const owners = flows.flatMap(({ name, files }) => [...files].map(([path, file]) => ({ flow: name, path, file })));
  for (const { path, line, column } of framesOf(stack)) {
    const owner = owners.find((owner) => owner.path === path);
    if (owner) return { flow: owner.flow, place: formatPlace({ name: owner.file.name, line, column }) };
  }
  const flow = framesOf(stack).some(({ path }) => isHubCode(path)) ? undefined : inFlow.getStore();
  return flow === undefined ? undefined : { flow, place: undefined };
}

/** The fault of a flow that an error is which nobody caught; undefined: it is no flow's. */
export function faultOf(error: unknown, flows: readonly FlowCode[]): FlowFault | undefined {
  const found = flowOf(stackOf(error), flows);
  if (found === undefined) return undefined;
  const { flow, place } = found;
  return { flow, message: place === undefined ? wordsOf(error) : `${wordsOf(error)} (${place})` };
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

function isHubCode(path: string): boolean {
  return path.startsWith(hubFolder + sep);
}

function framesOf(stack: string): Frame[] {
  return [...stack.matchAll(framePattern)].flatMap(([, at = '', line, column = '1']) => {
    try {
      const path = at.startsWith('file:') ? fileURLToPath(at) : at;
      return [{ path, line: Number(line), column: Number(column) }];
    } catch {
      return [];
    }
  });
}
