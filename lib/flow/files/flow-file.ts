// A flow file as read: its content, which has not been checked yet, and the location of each part in the file.

import type { CheckedFile, SettingPath } from '../../json5/mistake.ts';

/**
 * A flow file, or an instance of a template that a flow file uses. `name` is the path as given, and `folder` is the folder to which its
 * paths are relative.
 */
export interface FlowFile extends CheckedFile {
  readonly folder: string;
  readonly data: unknown;
  /** Identifies the content of the file. Equal content has the same version. */
  readonly version?: string | undefined;
  /** The name of the instance if this is an instance of a template, otherwise undefined. */
  readonly instance?: string;
  /** The full paths of the templates whose instances the file contains. */
  readonly templates?: readonly string[];
}

/** Returns the value at a path within data, or undefined if there is no such value. */
export function valueAt(data: unknown, path: SettingPath): unknown {
  const step = (at: unknown, part: string | number) =>
    typeof at === 'object' && at !== null && Object.hasOwn(at, part)
      ? (at as Record<string | number, unknown>)[part]
      : undefined;
  return path.reduce(step, data);
}

/** Returns a key that identifies a flow file, or an instance in it, among all flow files. */
export function keyOfFile({ name, instance }: FlowFile): string {
  return instance === undefined ? name : `${name}\n${instance}`;
}
