// GET /hub/drivers/{id}: a hosted driver module, and some of what it offers.

import { z } from 'zod';
import { HubError, messageOf } from '../../../model/error.ts';
import { type DriverAnswer, driverPage } from '../../../wire/http/driver-shapes.ts';
import { toIsoTime } from '../../../wire/time.ts';
import type { DriverPage, DriverQuestion, DriverView } from '../../hub-port.ts';
import { readQuery } from '../input/parse-input.ts';
import { decodePath } from '../input/request-path.ts';
import { page } from './endpoint.ts';

const mostItems = 200;
const mostOffered = 10_000_000;
const integer = (most: number) =>
  z
    .int({ error: `an integer 0..${most}` })
    .min(0)
    .max(most);

const query = z.object({
  kind: z
    .enum(['variables', 'feedbacks', 'actions'], { error: 'one of variables, feedbacks, actions' })
    .default('variables'),
  search: z
    .string()
    .max(200, { error: 'at most 200 characters' })
    .default('')
    .describe('Only items whose ID or name contain each of these words'),
  from: integer(mostOffered).default(0).describe('How many of these items to skip'),
  count: integer(mostItems).default(50),
  item: z.string().max(500, { error: 'an ID' }).optional().describe('Only this item, with its options'),
});

export const endpoints = [
  page({
    path: '/hub/drivers/{id}',
    need: 'manage',
    id: 'readDriver',
    tag: 'operation',
    summary: 'The state of a hosted driver module, and a part of its variables, feedbacks or actions',
    names: { id: 'Connection ID' },
    query,
    answer: driverPage,
    errors: { 400: 'The query is not valid', 404: 'No running connection of type companion has this ID' },
    read: ({ hub }, request, rest) => {
      const id = decodePath(rest);
      const view = hub.connections().some((one) => one.id === id) ? hub.drivers.get(id) : undefined;
      if (view === undefined)
        throw new HubError('not-found', `expected a running connection of type companion, got ${JSON.stringify(id)}`);
      return answerOf(view, readQuery(query, new URLSearchParams(request.query)));
    },
  }),
];

async function answerOf(view: DriverView, { item, ...asked }: z.output<typeof query>): Promise<DriverAnswer> {
  const question: DriverQuestion = { ...asked, ...(item !== undefined && { item }) };
  const { total, items, reason } = await view
    .list(question)
    .then((listed): DriverPage & { reason: string } => ({ ...listed, reason: '' }))
    .catch((error) => ({ total: 0, items: [], reason: messageOf(error) }));
  const { startedAt, log, ...state } = view.state();
  return {
    ...state,
    ...(startedAt !== undefined && { startedAt: toIsoTime(startedAt) }),
    log: log.map(({ timeMs, ...entry }) => ({ time: toIsoTime(timeMs), ...entry })),
    ...{ total, items, reason },
  };
}
