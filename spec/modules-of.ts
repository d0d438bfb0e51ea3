import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');

/** A module and all that it imports but for lib/, by full path, with their texts. */
export function modulesOf(path: string, found = new Map<string, string>()): ReadonlyMap<string, string> {
  if (found.has(path)) return found;
  const text = readFileSync(path, 'utf8');
  found.set(path, text);
  for (const [, name] of text.matchAll(/^(?:(?:import|export|}).* from|import) '(\.[^']*)';$/gm)) {
    const module = join(dirname(path), name!);
    if (!module.startsWith(join(root, 'lib'))) modulesOf(module, found);
  }
  return found;
}
