// The settings of a store.

import { z } from 'zod';
import { auditSetting } from './audit/settings.ts';
import { historySetting } from './history/settings.ts';
import { selectionSettings } from './selection-settings.ts';
import { snapshotSettings } from './snapshots/settings.ts';

const unitBytes: Readonly<Record<string, number>> = { MB: 1_000_000, GB: 1_000_000_000, TB: 1_000_000_000_000 };
const sizePattern = /^(\d+(?:\.\d+)?)\s?(MB|GB|TB)$/;
const leastBytes = 16_000_000;
const expectedSize = "a size of at least 16MB, such as '500MB' or '2GB'";

export const settingsSchema = z.strictObject({
  folder: z
    .string({ error: 'the path of a folder' })
    .min(1, { error: 'the path of a folder' })
    .describe('The folder of the databases; relative to the folder of the flow file. It is created when it is missing'),
  shared: z
    .boolean()
    .default(false)
    .describe('true: both hubs of a pair have this folder; the one that runs connections has it open'),
  values: z
    .strictObject(selectionSettings)
    .prefault({})
    .describe('Which values are kept, so that a restart of the hub gives them back; left out: all that can be'),
  audit: auditSetting,
  history: historySetting,
  snapshots: snapshotSettings,
  maxSize: z
    .string({ error: expectedSize })
    .default('2GB')
    .transform((text, context) => {
      const bytes = readBytes(text);
      if (bytes === undefined) context.addIssue({ code: 'custom', message: `expected ${expectedSize}, got "${text}"` });
      return bytes ?? leastBytes;
    })
    .describe("How much room on the disk the databases may take: '500MB', '2GB'"),
});

export type StoreSettings = z.output<typeof settingsSchema>;

function readBytes(text: string): number | undefined {
  const [, amount, unit] = sizePattern.exec(text) ?? [];
  if (amount === undefined) return undefined;
  const bytes = Number(amount) * unitBytes[unit!]!;
  return bytes >= leastBytes ? bytes : undefined;
}
