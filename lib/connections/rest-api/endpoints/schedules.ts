// GET /hub/schedules: the entries of all connections of type `schedule`, with their times during one week and their next times.

import { z } from 'zod';
import { type ScheduleList, scheduleList } from '../../../wire/http/schedule-shapes.ts';
import { toIsoTime } from '../../../wire/time.ts';
import type { HubPort } from '../../hub-port.ts';
import { readQuery } from '../input/parse-input.ts';
import type { View } from '../users/view.ts';
import { page } from './endpoint.ts';

const mostWeeks = 520;
const mostEntries = 1000;

const shape = z.object({
  week: z
    .string()
    .regex(new RegExp(`^-?(?:[0-9]{1,2}|[1-4][0-9]{2}|5[01][0-9]|${mostWeeks})$`), {
      error: `an integer -${mostWeeks}..${mostWeeks}`,
    })
    .default('0')
    .describe('Number of weeks after the current week; negative: before the current week'),
  address: z.string({ error: 'an address' }).optional().describe('Only this entry'),
});

export const endpoints = [
  page({
    path: '/hub/schedules',
    need: 'entry',
    id: 'listSchedules',
    tag: 'operation',
    summary: `The entries of schedules, at most ${mostEntries.toLocaleString('en')}, with their times in a week`,
    query: shape,
    answer: scheduleList,
    errors: { 400: 'The query is not valid' },
    read: ({ hub }, { query, principal: { view } }) => {
      const { week, address } = readQuery(shape, new URLSearchParams(query));
      return schedulesOf(hub, view, Number(week), address);
    },
  }),
];

function schedulesOf(hub: HubPort, view: View, week: number, only: string | undefined): ScheduleList {
  let left = mostEntries;
  let count = 0;
  const schedules = [...hub.agendas].flatMap(([connection, agenda]) => {
    if (only !== undefined && !only.startsWith(`${connection}/`)) return [];
    const { days, entries } = agenda.read(week, Date.now());
    const listed = entries.flatMap(({ name, next, ...entry }) => {
      const address = `${connection}/${name}`;
      const parameter = only === undefined || only === address ? view.find(address) : undefined;
      if (parameter === undefined) return [];
      count++;
      if (left-- <= 0) return [];
      const label = parameter.about?.label;
      return [
        {
          address,
          ...(label !== undefined && { label }),
          ...(typeof parameter.value === 'boolean' && entry.bars !== undefined && { open: parameter.value }),
          ...entry,
          next: next.map(({ timeMs, isOpen }) => ({
            time: toIsoTime(timeMs),
            ...(isOpen !== undefined && { open: isOpen }),
          })),
        },
      ];
    });
    return listed.length === 0 ? [] : [{ connection, zone: agenda.zone, days, entries: listed }];
  });
  return { week, count, schedules };
}
