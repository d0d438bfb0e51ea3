// The thread in which a TypeScript flow is tried before the hub imports the flow. A faulty flow harms only this thread. Modules that flows
// import are loaded before the first trial.

import { registerHooks } from 'node:module';
import { extname } from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parentPort } from 'node:worker_threads';
import { Streams } from '../streams.ts';
import { Awaits } from './awaits.ts';
import { isOwnCode } from './flow-code.ts';
import { guardExits, lockGlobals, readGlobals } from './globals.ts';
import { describeFailedImport, type FailedImport, filesOf, type Imports, observeImports } from './imports.ts';
import { describeThrown, type Frame, stackOf } from './stack.ts';

const [hub, authoring] = ['index', 'authoring'].map(
  (module) => new URL(`../../${module}${extname(import.meta.filename)}`, import.meta.url).href,
) as [string, string];
let isWhole = false;

/** From now on, makes flows import only a small part of the hub, which is already loaded and contains the usual imports. */
export async function useLeanHub(): Promise<void> {
  await import(authoring);
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const resolved = nextResolve(specifier, context);
      const { url } = resolved;
      if (!isWhole) return url === hub ? { ...resolved, url: authoring } : resolved;
      const isFlow = url.startsWith('file:') && isOwnCode(fileURLToPath(url));
      return isFlow ? { ...resolved, url: `${url}?whole` } : resolved; // Node.js caches modules by URL
    },
  });
}

/**
 * Returns whether an import failed because the flow needs an export that the loaded part of the hub lacks, or that does not exist at all.
 */
export function wantsMore(error: unknown): boolean {
  return !isWhole && error instanceof SyntaxError && error.message.includes('does not provide an export named');
}

/** From now on, makes flows import the whole hub. */
export async function useWholeHub(): Promise<void> {
  isWhole = true;
  await import(hub);
}

/** A request to the thread: a flow to try, given as the URL of its file, or `asksWhere`, which asks where the flow on trial is waiting. */
export type TrialRequest = { readonly href: string } | { readonly asksWhere: true };

/** The thread's answer to a request: whether the thread is ready, the result of a trial, or where a flow is waiting. */
export type TrialAnswer =
  /**
   * true if the thread is ready. false if the flow needs more of the hub, which is being loaded: try the flow again as soon as the thread
   * is ready.
   */
  | { readonly isReady: boolean }
  /** The imports in the flow's files, and the flow's connections, reduced to data. */
  | { readonly imports: Imports; readonly connections: unknown }
  /** The result of a failed trial, with the imports in those files that were read. */
  | {
      readonly imports: Imports;
      readonly message: string;
      readonly stack: string;
      /** The import that failed; undefined if the trial failed for another reason. */
      readonly failedImport: FailedImport | undefined;
    }
  /** Where the flow is waiting; undefined if the location is not known. */
  | { readonly waitsAt: Frame | undefined };

/** How long the thread waits for faults after a flow has loaded, in milliseconds. */
const lingerMs = 20;
/** The maximum duration of an import that is repeated to find out whether a file has finished, in milliseconds. */
const settlingMs = 20;

const port = parentPort!;
const answer = (answer: TrialAnswer) => port.postMessage(answer);
const fail = (error: unknown) => {
  const failedImport = failedImports.get(error);
  const reason =
    failedImport === undefined ? describeThrown(error) : describeFailedImport(error, failedImport.specifier);
  answer({ imports: imports(), message: `${fault}: ${reason}`, stack: stackOf(error), failedImport });
};
/** The beginning of error messages in the current phase of the trial. */
let fault = 'cannot be loaded';

const importsOf = new Map<string, Set<string>>();
const failedImports = new Map<unknown, FailedImport>();
const awaits = new Awaits();
/** The absolute path of the flow on trial. */
let tried = '';
/** The globals, keyed by name, as they were before the first trial. */
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
  if (changed !== undefined) throw new Error(`modifies ${changed[0]}, which the hub relies on`);
  answer({ imports: imports(), connections: asData(flow?.connections) });
}

/** Finds the file for which all other files are waiting. Returns where that file is waiting, or undefined if the location is not known. */
async function findWaiting(): Promise<Frame | undefined> {
  awaits.end();
  const files = [...filesOf(fileURLToPath(tried), imports())].reverse(); // imported files first
  const haveEnded = await Promise.all(files.map(hasEnded));
  const last = awaits.last();
  return files.filter((_, index) => !haveEnded[index]).flatMap((path) => last.get(path) ?? [])[0];
}

/** Returns whether the top level of an imported file has finished. Importing the file again takes as long as the first import. */
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

/** Returns the imports in all flows that were tried on this thread. */
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
