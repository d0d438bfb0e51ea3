// The setting `limits` of a REST API connection: one number for each limit that can be set.

import { z } from 'zod';
import { integerSetting } from '../../setting.ts';
import { type LimitName, type limits, limitTable } from './client-limits.ts';

/** Limits that are settings of their own, below `limits`. */
type SettableLimit = {
  [Name in LimitName]: (typeof limits)[Name]['setting'] extends string ? never : Name;
}[LimitName];

/** What the setting says, limit by limit. */
export type Limits = z.output<typeof limitSettings>;

/** The setting `limits` of a connection. */
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
  .describe('What clients may cost; the README of the REST API lists all limits');
