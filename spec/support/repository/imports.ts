// The files of lib and what each of them imports, types included.

import { readdir, readFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';

export const lib = resolve(import.meta.dirname, '../../../lib');

const importPattern = /(?:^|\n)(?:import|export)\b[^;]*?\bfrom '([^']+)'|\bimport\('([^']+)'\)/g;

/** All files of lib with code, by their paths below it. */
export async function libFiles(): Promise<string[]> {
  return (await readdir(lib, { recursive: true })).filter((name) => /\.tsx?$/.test(name));
}

export function readLib(file: string): Promise<string> {
  return readFile(join(lib, file), 'utf8');
}

/** What a file of lib imports: paths below lib, and names of packages. */
export async function importsOf(file: string): Promise<string[]> {
  return importsIn(await readLib(file), file);
}

/** The same, as far as it is loaded when the file is: neither types nor what is imported later. */
export async function loadedBy(file: string): Promise<string[]> {
  const text = await readLib(file);
  // Node strips no types of JSX.
  return importsIn(
    file.endsWith('x') ? text.replaceAll(/^import type [^;]*;/gm, '') : stripTypeScriptTypes(text),
    file,
  );
}

function importsIn(text: string, file: string): string[] {
  return [...text.matchAll(importPattern)]
    .map((match) => match[1] ?? match[2]!)
    .map((specifier) => (specifier.startsWith('.') ? relative(lib, join(lib, dirname(file), specifier)) : specifier));
}

/** The circles of a graph: sets of two or more nodes of which each leads to all others, each set sorted. */
export function circlesOf(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const circles: string[][] = [];
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const path: string[] = [];
  const visit = (node: string) => {
    order.set(node, order.size);
    lowest.set(node, order.get(node)!);
    path.push(node);
    for (const next of graph.get(node) ?? []) {
      if (!order.has(next)) visit(next);
      if (path.includes(next)) lowest.set(node, Math.min(lowest.get(node)!, lowest.get(next)!));
    }
    if (lowest.get(node) !== order.get(node)) return;
    const circle = path.splice(path.indexOf(node));
    if (circle.length > 1 || graph.get(node)?.includes(node)) circles.push(circle.sort());
  };
  for (const node of graph.keys()) if (!order.has(node)) visit(node);
  return circles;
}
