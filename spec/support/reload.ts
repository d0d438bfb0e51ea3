// A hub whose flow files a spec saves anew while it runs.

import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import type { HubOptions } from '../../lib/hub/index.ts';
import { startHubFrom, writer } from './hub.ts';

/** Starts a hub with the files of a folder, watched only if `options` say so; stopped when the test ends. */
export async function startReloading(
  t: ExecutionContext,
  files: Record<string, unknown>,
  options: Partial<HubOptions> = {},
) {
  const hub = await startHubFrom(t, files, options);
  const { folder, lines } = hub;
  const changes: string[] = [];
  hub.changes$.subscribe(({ parameter, value }) => changes.push(`${parameter.address}=${value}`));
  return {
    hub,
    folder,
    lines,
    /** Takes all changes since it was last called: `desk/a=1`. */
    takeChanges: () => changes.splice(0),
    write: (address: string, value: unknown) => hub.write(address, value, writer),
    value: (address: string) => hub.find(address)?.value,
    save: (name: string, content: unknown) => writeFile(join(folder, name), textOf(content)),
    /** Saves as many editors do: a new file takes the place of the old one. */
    async saveByRename(name: string, content: unknown) {
      await writeFile(join(folder, `${name}~new`), textOf(content));
      await rename(join(folder, `${name}~new`), join(folder, name));
    },
    /** Saves a file and reloads. */
    async reload(name: string, content: unknown) {
      await writeFile(join(folder, name), textOf(content));
      return await hub.reload();
    },
  };
}

function textOf(content: unknown): string {
  return typeof content === 'string' ? content : JSON.stringify(content);
}
