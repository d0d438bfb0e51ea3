// The setting of snapshots: selections of parameters, by name.

import { z } from 'zod';
import { record } from '../../../model/record-schema.ts';
import { selectionSettings } from '../selection-settings.ts';
import { maxSelections } from './bounds.ts';

const selectionName = z.string().regex(/^[a-z0-9-]{1,64}$/, { error: 'a name of 1 to 64 characters a-z, 0-9 and -' });

/** `{'studio-1': {include: ['s1/**']}}` */
export const snapshotSettings = record(selectionName, z.strictObject(selectionSettings))
  .refine((selections) => Object.keys(selections).length <= maxSelections, {
    error: `at most ${maxSelections} selections`,
  })
  .default({})
  .describe('Selections of parameters, by name, whose values are saved and recalled together');
