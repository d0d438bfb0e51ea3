// A connection whose settings are right, before the check of what it listens to.

import { resolve } from 'node:path';
import type { ResolvePath } from '../../../connections/setting.ts';
import type { SettingPath } from '../../../json5/mistake.ts';
import type { ParameterDeclaration } from '../../../model/parameter.ts';
import type { ConnectionInputs, ConnectionPlan } from '../../plan.ts';
import type { Spot } from '../spot.ts';

export type FoundConnection = Omit<ConnectionPlan, keyof ConnectionInputs | 'key' | 'file'> & {
  /** Where it stands. */
  readonly spot: Spot;
  /** Its settings as the file has them. */
  readonly data: unknown;
  readonly secretFiles: readonly SecretFile[];
  readonly parameters: ParameterDeclaration[];
};

/** A file that has a text of the settings. */
export interface SecretFile {
  /** Where in the settings it is named. */
  readonly path: SettingPath;
  /** Its full path. */
  readonly file: string;
}

/** Resolves paths against the folder of a flow file. */
export function resolver(folder: string): ResolvePath {
  return (path) => resolve(folder, path);
}
