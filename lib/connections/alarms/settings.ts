// The settings of alarms.

import { z } from 'zod';
import { addressShape, parameterIdMistake } from '../../model/address.ts';
import { record } from '../../model/record-schema.ts';
import { durationSetting, integerSetting } from '../setting.ts';

/** 1 is the most urgent. */
export const lowestPriority = 9;
const maxAlarms = 10_000;
/** The name of what is told of all alarms together. */
export const all = 'all';

const alarm = z.strictObject(
  {
    when: z
      .string({ error: 'an address <Connection ID>/<Parameter ID>' })
      .meta({ pattern: addressShape })
      .describe('The parameter (B) whose value makes the alarm'),
    is: z.boolean().default(true).describe('The value that makes the alarm'),
    delay: durationSetting(0).default(0).describe('How long the value has to last before the alarm rises'),
    priority: integerSetting(1, lowestPriority).default(3).describe('1 is the most urgent'),
    text: z.string().default('').describe('What the alarm says; left out: its name'),
  },
  { error: "an alarm such as { when: 'core/silent', delay: '10s' }" },
);

export const settingsSchema = z.strictObject({
  alarms: record(z.string().superRefine(checkName), alarm, { error: 'an object of alarms by name' })
    .refine((alarms) => Object.keys(alarms).length <= maxAlarms, {
      error: ({ input }) => `expected at most ${maxAlarms} alarms, got ${Object.keys(input as object).length}`,
    })
    .describe('The alarms by name'),
});

export type AlarmsSettings = z.output<typeof settingsSchema>;
export type AlarmSettings = z.output<typeof alarm>;

function checkName(name: string, context: z.RefinementCtx): void {
  const isTaken = name === all || name.startsWith(`${all}/`);
  const message = isTaken
    ? `expected another name than "${name}": ${all}/… is of all alarms together`
    : parameterIdMistake(`${name}/acknowledged`);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
}
