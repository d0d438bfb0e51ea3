// The code of a TypeScript flow: its file and the files that it imports. The code is used to trace a stack to its flow.

import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { describeThrown, formatPlace, framesOf, stackOf } from './stack.ts';

/** The maximum size of a flow file, in bytes, which is enough for some 150,000 rules. */
export const maxFlowBytes = 16 * 1024 * 1024;

/** One file of a flow: its displayed name, and a version that identifies the file's content. */
export interface CodeFile {
  readonly name: string;
  readonly version: string;
}

/**
 * A TypeScript flow. `name` is its file as given, and `path` is the absolute path. `files` contains all files of the flow, keyed by
 * absolute path, and `version` identifies the content of these files.
 */
export interface FlowCode {
  readonly name: string;
  readonly version: string;
  readonly path: string;
  readonly files: ReadonlyMap<string, CodeFile>;
}

/** A fault in a flow, but outside its rules: one sentence, with the location if known. */
export interface FlowFault {
  readonly flow: string;
  readonly message: string;
}

/** The name of the flow on whose behalf the current code is running, even if the code was called by a timer, a promise or a socket. */
export const inFlow = new AsyncLocalStorage<string>();

const numbers = new Map<string, number>();
/**
 * The number of the flow that is currently running on this thread, or 0 if no flow is running. Another thread, which watches this thread,
 * can read the number.
 */
export const holder = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

/** Returns the number that stands for a flow, given the flow's name. Numbers start at 1. */
export function numberOf(flow: string): number {
  const number = numbers.get(flow) ?? numbers.size + 1;
  numbers.set(flow, number);
  return number;
}

/** Runs work on behalf of a flow. Everything that the work starts, such as a timer, is attributed to the flow. */
export function runInFlow<Result>(flow: string, work: () => Result): Result {
  const before = holder[0]!;
  holder[0] = numbers.get(flow) ?? 0;
  try {
    return inFlow.run(flow, work);
  } finally {
    holder[0] = before;
  }
}

const hubFolder = resolve(import.meta.dirname, '../..');
/** The path of the RxJS that `npm run build` bundles with the hub. RxJS belongs neither to the hub's code nor to a flow's code. */
const builtRxjs = join(hubFolder, 'code/rxjs.cjs');

/** Returns a version that identifies content: equal content has the same version. */
export function versionOf(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Returns whether a file is the author's code, that is, not part of a package or the hub. */
export function isOwnCode(path: string): boolean {
  return !/[\\/]node_modules[\\/]/.test(path) && !path.startsWith(hubFolder + sep);
}

/** Returns the name of a file in the same form as the flow's name, so that both are relative to the same folder. */
export function shownName(file: string, flow: { readonly path: string; readonly name: string }): string {
  return join(dirname(flow.name), relative(dirname(flow.path), file));
}

/** Like `shownName`, but returns undefined for files in a package or in the hub, which are not the author's code. */
export function ownName(file: string, flow: { readonly path: string; readonly name: string }): string | undefined {
  return isOwnCode(file) ? shownName(file, flow) : undefined;
}

/**
 * Finds the flow, and the location in the flow, to which a stack trace points. A stack trace without flow files is attributed to the flow
 * that started the work, unless the stack contains hub code.
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

/** Returns the fault in a flow that caused an uncaught error, or undefined if no flow is at fault. */
export function faultOf(error: unknown, flows: readonly FlowCode[]): FlowFault | undefined {
  const found = flowOf(stackOf(error), flows);
  if (found === undefined) return undefined;
  const { flow, place } = found;
  return { flow, message: place === undefined ? describeThrown(error) : `${describeThrown(error)} (${place})` };
}

function isHubCode(path: string): boolean {
  return path.startsWith(hubFolder + sep) && path !== builtRxjs;
}
