// What a flow in TypeScript is made of: its file and the files that it imports. They tell whose code a stack leads to.

import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { formatPlace, framesOf, stackOf, wordsOf } from './stack.ts';

/** How long a flow file is at most, in bytes: it holds some 150,000 rules. */
export const maxFlowBytes = 16 * 1024 * 1024;

/** One file of a flow: its name as people know it, and a version that names its content. */
export interface CodeFile {
  readonly name: string;
  readonly version: string;
}

/**
 * A flow in TypeScript. `name` is its file as given, `path` is its full path; `version` names the content of all its files, which
 * `files` has by full path.
 */
export interface FlowCode {
  readonly name: string;
  readonly version: string;
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

const numbers = new Map<string, number>();
/** The number of the flow that holds this thread at this moment, 0: none does. A thread that watches this one can read it. */
export const holder = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

/** The number of a flow, by its name, from 1. */
export function numberOf(flow: string): number {
  const number = numbers.get(flow) ?? numbers.size + 1;
  numbers.set(flow, number);
  return number;
}

/** Runs what a flow does, in its name: what it starts is known as its own. */
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
/** RxJS is nobody's code, also where `npm run build` has put it among that of the hub. */
const builtRxjs = join(hubFolder, 'code/rxjs.cjs');

/** Names a content: the same content has the same version. */
export function versionOf(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Whether a file is the author's own, and neither of a package nor of the hub. */
export function isOwnCode(path: string): boolean {
  return !/[\\/]node_modules[\\/]/.test(path) && !path.startsWith(hubFolder + sep);
}

/** The name of a file as that of the flow is given: relative to the same folder. */
export function shownName(file: string, flow: { readonly path: string; readonly name: string }): string {
  return join(dirname(flow.name), relative(dirname(flow.path), file));
}

/** The same for the author's own files alone, neither of a package nor of the hub. */
export function ownName(file: string, flow: { readonly path: string; readonly name: string }): string | undefined {
  return isOwnCode(file) ? shownName(file, flow) : undefined;
}

/**
 * The flow that a stack leads to, and where. A stack that leads to no file of a flow belongs to the flow that has started the
 * work, unless it leads to code of the hub.
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

/** The fault of a flow that an uncaught error is; undefined: it is the fault of no flow. */
export function faultOf(error: unknown, flows: readonly FlowCode[]): FlowFault | undefined {
  const found = flowOf(stackOf(error), flows);
  if (found === undefined) return undefined;
  const { flow, place } = found;
  return { flow, message: place === undefined ? wordsOf(error) : `${wordsOf(error)} (${place})` };
}

function isHubCode(path: string): boolean {
  return path.startsWith(hubFolder + sep) && path !== builtRxjs;
}
