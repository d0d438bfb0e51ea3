// What a hub is made of, as files: its flow files, and what connections name.

import { isAbsolute, resolve } from 'node:path';
import type { Installation, NamedFile } from '../../../connections/installation.ts';
import type { ConnectionPlan, Plan } from '../../plan.ts';

export function installationOf({
  files,
  connections,
  templates,
  paths,
}: Pick<Plan, 'files' | 'connections' | 'templates' | 'paths'>): Installation {
  const flows = files.map(({ path }) => path);
  const named = [...flows, ...templates].map((path) => ({ path: resolve(path), isAbsolute: false }));
  return { startedIn: resolve('.'), paths: paths ?? flows, files: [...named, ...connections.flatMap(filesOf)] };
}

function filesOf({ type, settings, folder }: ConnectionPlan): NamedFile[] {
  const asNamed = (path: string) => path;
  const names = [...(type.files?.(settings, asNamed) ?? []), ...(type.belongings?.(settings, asNamed) ?? [])];
  return names.map((name) => ({ path: resolve(folder, name), isAbsolute: isAbsolute(name) }));
}
