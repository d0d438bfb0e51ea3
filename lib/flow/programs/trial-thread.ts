// The thread in which a flow in TypeScript is tried before the hub imports it: whatever the flow does there, it does to
// this thread alone. What flows import anyhow is there before the first is tried.

import { registerHooks } from 'node:module';
import { extname } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parentPort } from 'node:worker_threads';
import { Streams } from '../streams.ts';
import { guardExits } from './exits.ts';
import { isOwnCode, stackOf, wordsOf } from './flow-code.ts';

/** A flow to be tried, by the URL of its file. */
export interface TrialRequest {
  readonly href: string;
}

/** What the thread says: that it is ready, or how a flow did. */
export type TrialAnswer =
  | { readonly isReady: true }
  /** The full paths of the files that it imports, and its connections, as data. */
  | { readonly imports: readonly string[]; readonly connections: unknown }
  | { readonly message: string; readonly stack: string };

/** How long a flow is given to do what it does at once. */
const lingerMs = 20;

const port = parentPort!;
const answer = (answer: TrialAnswer) => port.postMessage(answer);
const fail = (error: unknown) => answer({ message: `${fault}: ${wordsOf(error)}`, stack: stackOf(error) });
/** What a fault at this moment means. */
let fault = 'cannot be loaded';

await import('rxjs');
await import(new URL(`../../index${extname(import.meta.filename)}`, import.meta.url).href);

const importsOf = new Map<string, Set<string>>();
registerHooks({
  resolve(specifier, context, nextResolve) {
    const resolved = nextResolve(specifier, context);
    const [from, to] = [withoutQuery(context.parentURL ?? ''), withoutQuery(resolved.url)];
    if (isOwnFile(from) && isOwnFile(to)) importsOf.set(from, (importsOf.get(from) ?? new Set()).add(to));
    return resolved;
  },
});
guardExits(process, () => true);
const globals = readGlobals();
process.on('uncaughtException', fail);
port.on('message', ({ href }: TrialRequest) => void tryFlow(href).catch(fail));
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
  const imports = [...importedBy(href)].map((href) => fileURLToPath(href));
  answer({ imports, connections: asData(flow?.connections) });
}

function importedBy(href: string, found = new Set<string>()): Set<string> {
  for (const imported of importsOf.get(href) ?? [])
    if (!found.has(imported)) {
      found.add(imported);
      importedBy(imported, found);
    }
  return found;
}

function isOwnFile(href: string): boolean {
  return href.startsWith('file:') && isOwnCode(fileURLToPath(href));
}

function withoutQuery(href: string): string {
  return href.split('?', 1)[0]!;
}

function asData(value: unknown): unknown {
  try {
    return structuredClone(value);
  } catch {
    return undefined;
  }
}

/** Every function of the language and of Node.js that all code shares, by name: `JSON.parse`, `Map.prototype.get`. */
function readGlobals(): Map<string, unknown> {
  const found = new Map<string, unknown>();
  const read = (owner: object, prefix: string) => {
    for (const key of Reflect.ownKeys(owner)) {
      const { value } = Reflect.getOwnPropertyDescriptor(owner, key) ?? {};
      if (typeof value === 'function') found.set(`${prefix}${String(key)}`, value);
    }
  };
  read(globalThis, '');
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    const value: unknown = Reflect.getOwnPropertyDescriptor(globalThis, name)?.value;
    if (name === 'console' || value === globalThis) continue;
    if (typeof value === 'function') read(value, `${name}.`);
    if (typeof value === 'function' && typeof value.prototype === 'object' && value.prototype !== null)
      read(value.prototype, `${name}.prototype.`);
    if (typeof value === 'object' && value !== null) read(value, `${name}.`);
  }
  return found;
}
