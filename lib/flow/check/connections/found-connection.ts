// A connection whose settings are right, before the check of what it listens to.

import { resolve } from 'node:path';
import type { ResolvePath } from '../../../connections/setting.ts';
import type { ParameterDeclaration } from '../../../model/parameter.ts';
import type { ConnectionInputs, ConnectionPlan } from '../../plan.ts';
import type { Spot } from '../spot.ts';

export type FoundConnection = Omit<ConnectionPlan, keyof ConnectionInputs | 'key' | 'file'> & {
  /** Where it stands. */
  readonly spot: Spot;
  /** Its settings as the file has them. */
  readonly data: unknown;
  readonly parameters: ParameterDeclaration[];
};

/** Resolves paths against the folder of a flow file. */
export function resolver(folder: string): ResolvePath {
  return (path) => resolve(folder, path);
}
