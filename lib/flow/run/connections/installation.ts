// What a hub is made of, as files: its flow files, and what connections name.

import { isAbsolute, resolve } from 'node:path';
import type { Installation, NamedFile } from '../../../connections/installation.ts';
import type { ConnectionPlan, Plan } from '../../plan.ts';
import { privateFilesOf } from '../../private-files.ts';

type Parts = Pick<Plan, 'files' | 'connections' | 'templates' | 'paths' | 'furtherFiles'>;

export function installationOf(plan: Parts): Installation {
  const { files, connections, templates, paths } = plan;
  const flows = files.map(({ path }) => path);
  const named = [...flows, ...templates].map((path) => ({ path: resolve(path), isAbsolute: false }));
  return {
    startedIn: resolve('.'),
    paths: paths ?? flows,
    files: [...named, ...connections.flatMap(filesOf)],
    privateFiles: privateFilesOf(plan),
  };
}

function filesOf({ type, settings, folder }: ConnectionPlan): NamedFile[] {
  const asNamed = (path: string) => path;
  const names = [...(type.files?.(settings, asNamed) ?? []), ...(type.belongings?.(settings, asNamed) ?? [])];
  return names.map((name) => ({ path: resolve(folder, name), isAbsolute: isAbsolute(name) }));
}
