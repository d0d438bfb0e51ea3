// A flow file as it was read: its content, not yet checked, and the place of each part in the file.

import type { CheckedFile, SettingPath } from '../../json5/mistake.ts';

/**
 * A flow file, or an instance of a template that it uses. `name` is the path as given, `folder` is the folder that its relative
 * paths start from.
 */
export interface FlowFile extends CheckedFile {
  readonly folder: string;
  readonly data: unknown;
  /** Identifies the content of the file. */
  readonly version?: string | undefined;
  /** The name of the instance; if omitted, it is not an instance. */
  readonly instance?: string;
  /** The full paths of the templates that it uses. */
  readonly templates?: readonly string[];
}

/** Returns the value at a path of data. */
export function valueAt(data: unknown, path: SettingPath): unknown {
  const step = (at: unknown, part: string | number) =>
    typeof at === 'object' && at !== null && Object.hasOwn(at, part)
      ? (at as Record<string | number, unknown>)[part]
      : undefined;
  return path.reduce(step, data);
}

/** Identifies a file, or an instance of it, among all that are read. */
export function keyOfFile({ name, instance }: FlowFile): string {
  return instance === undefined ? name : `${name}\n${instance}`;
}
