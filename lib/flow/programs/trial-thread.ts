// The thread in which a flow in TypeScript is tried before the hub imports it. Whatever the flow does, it does to this thread
// alone. What flows import is loaded before the first flow is tried.

import process from 'node:process';
import { parentPort } from 'node:worker_threads';
import { Streams } from '../streams.ts';
import { guardExits } from './exits.ts';
import { lockGlobals, readGlobals } from './globals.ts';
import { type Imports, observeImports } from './imports.ts';
import { useLeanHub, useWholeHub, wantsMore } from './lean-hub.ts';
import { stackOf, wordsOf } from './stack.ts';

/** A flow to be tried, by the URL of its file. */
export interface TrialRequest {
  readonly href: string;
}

/** What the thread answers: how a flow did, or whether it is ready for one. */
export type TrialAnswer =
  /** false: the flow wants more of the hub. It is to be tried again when the thread is ready, which has loaded all of it then. */
  | { readonly isReady: boolean }
  /** What its files import, and its connections, as data. */
  | { readonly imports: Imports; readonly connections: unknown }
  /** Of a flow that failed, what its files import as far as they were read. */
  | { readonly imports: Imports; readonly message: string; readonly stack: string };

/** How long the thread waits for faults of a flow that come right after it was loaded. */
const lingerMs = 20;

const port = parentPort!;
const answer = (answer: TrialAnswer) => port.postMessage(answer);
const fail = (error: unknown) =>
  answer({ imports: imports(), message: `${fault}: ${wordsOf(error)}`, stack: stackOf(error) });
/** What an error at this moment means. */
let fault = 'cannot be loaded';

await import('rxjs');
await useLeanHub();

const importsOf = new Map<string, Set<string>>();
observeImports((from, to) => importsOf.set(from, (importsOf.get(from) ?? new Set()).add(to)));
guardExits(process, () => true);
lockGlobals();
const globals = readGlobals();
process.on('uncaughtException', fail);
port.on('message', ({ href }: TrialRequest) => {
  tryFlow(href)
    .catch((error) => (wantsMore(error) ? loadHub() : fail(error)))
    .catch(fail);
});
answer({ isReady: true });

async function tryFlow(href: string): Promise<void> {
  fault = 'cannot be loaded';
  const { default: flow } = (await import(href)) as { default?: { rules?: unknown; connections?: unknown } };
  fault = 'rules: failed';
  if (typeof flow?.rules === 'function') flow.rules(new Streams('').on);
  fault = 'failed as soon as it was loaded';
  await new Promise((resolve) => setTimeout(resolve, lingerMs));
  const now = readGlobals();
  const changed = [...globals].find(([name, value]) => now.get(name) !== value);
  if (changed !== undefined) throw new Error(`changes ${changed[0]}, which the hub needs as it is`);
  answer({ imports: imports(), connections: asData(flow?.connections) });
}

async function loadHub(): Promise<void> {
  answer({ isReady: false });
  await useWholeHub();
  answer({ isReady: true });
}

/** Of all flows that were tried here. */
function imports(): Imports {
  return Object.fromEntries([...importsOf].map(([from, to]) => [from, [...to]]));
}

function asData(value: unknown): unknown {
  try {
    return structuredClone(value);
  } catch {
    return undefined;
  }
}
