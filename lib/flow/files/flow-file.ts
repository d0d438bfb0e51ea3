// A flow file as it was read: what it says, not yet checked, and where in the file it says so.

import type { CheckedFile, SettingPath } from '../../json5/mistake.ts';

/**
 * One flow file, or an instance of a template that it has. `name` is the path as given, `folder` is the folder that its relative
 * paths start from.
 */
export interface FlowFile extends CheckedFile {
  readonly folder: string;
  readonly data: unknown;
  /** Names the content of the file. */
  readonly version?: string | undefined;
  /** The name of the instance; left out: it is none. */
  readonly instance?: string;
  /** The full paths of the templates that it names. */
  readonly templates?: readonly string[];
}

/** What stands at a path of data. */
export function valueAt(data: unknown, path: SettingPath): unknown {
  const step = (at: unknown, part: string | number) =>
    typeof at === 'object' && at !== null && Object.hasOwn(at, part)
      ? (at as Record<string | number, unknown>)[part]
      : undefined;
  return path.reduce(step, data);
}

/** Names a file, or an instance of it, among all that are read. */
export function keyOfFile({ name, instance }: FlowFile): string {
  return instance === undefined ? name : `${name}\n${instance}`;
}
