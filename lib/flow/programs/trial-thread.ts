// The thread in which a flow in TypeScript is tried before the hub imports it. Whatever the flow does, it does to this thread
// alone. What flows import is loaded before the first flow is tried.

import { registerHooks } from 'node:module';
import { extname } from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parentPort } from 'node:worker_threads';
import { Streams } from '../streams.ts';
import { Awaits } from './awaits.ts';
import { isOwnCode } from './flow-code.ts';
import { guardExits, lockGlobals, readGlobals } from './globals.ts';
import { type FailedImport, filesOf, type Imports, observeImports, wordsOfImport } from './imports.ts';
import { type Frame, stackOf, wordsOf } from './stack.ts';

const [hub, authoring] = ['index', 'authoring'].map(
  (module) => new URL(`../../${module}${extname(import.meta.filename)}`, import.meta.url).href,
) as [string, string];
let isWhole = false;

/** From now on flows import the small part of the hub, which is loaded. */
export async function useLeanHub(): Promise<void> {
  await import(authoring);
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const resolved = nextResolve(specifier, context);
      const { url } = resolved;
      if (!isWhole) return url === hub ? { ...resolved, url: authoring } : resolved;
      const isFlow = url.startsWith('file:') && isOwnCode(fileURLToPath(url));
      return isFlow ? { ...resolved, url: `${url}?whole` } : resolved; // Node.js keeps what it has read by the other name
    },
  });
}

/** Whether a flow cannot be imported because it wants more of the hub, or what nobody has. */
export function wantsMore(error: unknown): boolean {
  return !isWhole && error instanceof SyntaxError && error.message.includes('does not provide an export named');
}

/** From now on flows import the whole hub. */
export async function useWholeHub(): Promise<void> {
  isWhole = true;
  await import(hub);
}

/** A flow to be tried, by the URL of its file, or `asksWhere` the one that is being tried waits. */
export type TrialRequest = { readonly href: string } | { readonly asksWhere: true };

/** What the thread answers: how a flow did, or whether it is ready for one. */
export type TrialAnswer =
  /** false: the flow wants more of the hub. It is to be tried again when the thread is ready, which has loaded all of it then. */
  | { readonly isReady: boolean }
  /** What its files import, and its connections, as data. */
  | { readonly imports: Imports; readonly connections: unknown }
  /** Of a flow that failed, what its files import as far as they were read. */
  | {
      readonly imports: Imports;
      readonly message: string;
      readonly stack: string;
      /** What could not be imported. */
      readonly failedImport: FailedImport | undefined;
    }
  /** Where the flow waits; undefined: nobody knows. */
  | { readonly waitsAt: Frame | undefined };

/** How long the thread waits for faults of a flow that come right after it was loaded. */
const lingerMs = 20;
/** How long an import of what was imported before takes at most. */
const settlingMs = 20;

const port = parentPort!;
const answer = (answer: TrialAnswer) => port.postMessage(answer);
const fail = (error: unknown) => {
  const failedImport = failedImports.get(error);
  const words = failedImport === undefined ? wordsOf(error) : wordsOfImport(error, failedImport.specifier);
  answer({ imports: imports(), message: `${fault}: ${words}`, stack: stackOf(error), failedImport });
};
/** What an error at this moment means. */
let fault = 'cannot be loaded';

const importsOf = new Map<string, Set<string>>();
const failedImports = new Map<unknown, FailedImport>();
const awaits = new Awaits();
/** The flow that is being tried. */
let tried = '';
/** What is global, by name, before the first flow is tried. */
let globals: ReturnType<typeof readGlobals>;
void start();

async function start(): Promise<void> {
  await import('rxjs');
  await useLeanHub();
  observeImports({
    imports: (from, to) => importsOf.set(from, (importsOf.get(from) ?? new Set()).add(to)),
    fails: (error, from, specifier) => void failedImports.set(error, { from, specifier }),
  });
  guardExits(process, () => true);
  lockGlobals();
  globals = readGlobals();
  process.on('uncaughtException', fail);
  port.on('message', (request: TrialRequest) => {
    if ('asksWhere' in request) {
      void findWaiting().then((waitsAt) => answer({ waitsAt }));
      return;
    }
    tryFlow(request.href)
      .catch((error) => (wantsMore(error) ? loadHub() : fail(error)))
      .catch(fail);
  });
  answer({ isReady: true });
}

async function tryFlow(href: string): Promise<void> {
  fault = 'cannot be loaded';
  tried = href;
  failedImports.clear();
  awaits.begin();
  const importing = import(href) as Promise<{ default?: { rules?: unknown; connections?: unknown } }>;
  const { default: flow } = await importing.finally(() => awaits.end());
  fault = 'rules: failed';
  if (typeof flow?.rules === 'function') flow.rules(new Streams('').on);
  fault = 'failed as soon as it was loaded';
  await new Promise((resolve) => setTimeout(resolve, lingerMs));
  const now = readGlobals();
  const changed = [...globals].find(([name, value]) => now.get(name) !== value);
  if (changed !== undefined) throw new Error(`changes ${changed[0]}, which the hub needs as it is`);
  answer({ imports: imports(), connections: asData(flow?.connections) });
}

/** Where the file waits that all others wait for. */
async function findWaiting(): Promise<Frame | undefined> {
  awaits.end();
  const files = [...filesOf(fileURLToPath(tried), imports())].reverse(); // what a file imports comes before it
  const haveEnded = await Promise.all(files.map(hasEnded));
  const last = awaits.last();
  return files.filter((_, index) => !haveEnded[index]).flatMap((path) => last.get(path) ?? [])[0];
}

/** Whether a file that was imported before has come to its end; an import of it waits as long as the first. */
function hasEnded(path: string): Promise<boolean> {
  const settled = import(pathToFileURL(path).href).then(
    () => true,
    () => true,
  );
  return Promise.race([settled, new Promise<boolean>((resolve) => setTimeout(resolve, settlingMs, false))]);
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
