// The setting `limits` of a REST API connection: one number for each configurable limit.

import { z } from 'zod';
import { integerSetting } from '../../setting.ts';
import { type LimitName, type limits, limitTable } from './client-limits.ts';

/** The names of the limits that are settings below `limits`. */
type SettableLimit = {
  [Name in LimitName]: (typeof limits)[Name]['setting'] extends string ? never : Name;
}[LimitName];

/** The values of the setting `limits`, keyed by the name of the limit. */
export type Limits = z.output<typeof limitSettings>;

/** The schema of the setting `limits`. */
export const limitSettings = z
  .strictObject(
    Object.fromEntries(
      limitTable.flatMap(([name, { default: value, unit, setting, about }]) =>
        typeof setting === 'string'
          ? []
          : [[name, integerSetting(setting[0], setting[1], unit).default(value).describe(`${unit}: ${about}`)]],
      ),
    ) as Record<SettableLimit, z.ZodDefault<z.ZodNumber>>,
  )
  .prefault({})
  .describe('Limits on the resources of clients; docs/limits.md lists them all');
