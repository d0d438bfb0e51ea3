// What a connection emits in one turn is one change to rules, whoever else writes meanwhile.

import test from 'ava';
import { Observable } from 'rxjs';
import { z } from 'zod';
import { defineConnectionType } from '../../lib/connections/connection.ts';
import { connectionTypes } from '../support/connection-types.ts';
import { startTestHub, writer } from '../support/hub.ts';

const settingsSchema = z.strictObject({});
const pair = defineConnectionType({
  type: 'pair',
  isExternal: false,
  settingsSchema,
  parameters: () => [
    { id: 'apart', type: 'I', access: 'write-only' },
    { id: 'together', type: 'I', access: 'write-only' },
    { id: 'a', type: 'I', access: 'read-only', defaultValue: 0 },
    { id: 'b', type: 'I', access: 'read-only', defaultValue: 0 },
  ],
  run: ({ inbox, turn }) =>
    new Observable((subscriber) => {
      subscriber.next({ state: 'running' });
      const emit = (value: unknown) => {
        subscriber.next({ set: 'a', value });
        subscriber.next({ set: 'b', value });
      };
      subscriber.add(inbox('apart').subscribe({ next: (value) => setImmediate(emit, value) }));
      subscriber.add(inbox('together').subscribe({ next: (value) => setImmediate(() => turn(() => emit(value))) }));
    }),
});

test('a rule with two sources runs once for a turn of a connection, and twice for separate emissions', async (t) => {
  const flow = {
    connections: { it: { type: 'pair' }, desk: { type: 'dummy', parameters: ['sum,I'] } },
    rules: [{ from: { a: 'it/a', b: 'it/b' }, map: 'a + b', to: 'desk/sum' }],
  };
  const hub = await startTestHub(t, flow, { types: new Map([...connectionTypes, ['pair', pair]]) });
  const sums: unknown[] = [];
  hub.changes$.subscribe({ next: ({ parameter, value }) => parameter.address === 'desk/sum' && sums.push(value) });
  for (const [address, value, expected] of [
    ['it/apart', 1, [1, 2]],
    ['it/together', 5, [10]],
  ] as const) {
    // biome-ignore format: rows
    sums.length = 0;
    hub.write(address, value, writer);
    await new Promise((resolve) => setImmediate(resolve));
    t.deepEqual(sums, [...expected], address);
  }
});
