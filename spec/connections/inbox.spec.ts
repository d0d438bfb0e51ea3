// An inbox checks writes as long as it has a subscriber, whatever the connection declares meanwhile.

import test from 'ava';
import { Observable, Subject } from 'rxjs';
import { z } from 'zod';
import { type ConnectionEvent, defineConnectionType } from '../../lib/connections/connection.ts';
import { convert, type Value } from '../../lib/model/value.ts';
import { connectionTypes } from '../support/connection-types.ts';
import { startTestHub, writer } from '../support/hub.ts';

const level = { id: 'level', type: 'I', access: 'read-write' } as const;

test('an inbox checks writes until it ends, also after its parameter was declared again and after a newer inbox', async (t) => {
  const emit$ = new Subject<ConnectionEvent>();
  let open =
    (_most: number): (() => void) =>
    () => {};
  const most =
    (bound: number) =>
    (input: unknown): Value => {
      const value = convert('I', input);
      if (Number(value) > bound) throw new Error(`expected at most ${bound}`);
      return value;
    };
  const device = defineConnectionType({
    type: 'bounded',
    isExternal: false,
    settingsSchema: z.strictObject({}),
    parameters: () => [{ ...level, accept: most(1000) }],
    run: ({ inbox }) =>
      new Observable((subscriber) => {
        subscriber.add(emit$.subscribe((event) => subscriber.next(event)));
        subscriber.next({ state: 'running' });
        open = (bound) => {
          const opened = inbox('level', most(bound)).subscribe();
          subscriber.add(opened);
          return () => opened.unsubscribe();
        };
      }),
  });
  const types = new Map([...connectionTypes, ['bounded', device]]);
  const hub = await startTestHub(t, { connections: { it: { type: 'bounded' } } }, { types });
  const expectMost = (bound: number, when: string) => {
    hub.write('it/level', bound, writer);
    t.throws(() => hub.write('it/level', bound + 1, writer), { message: `expected at most ${bound}` }, when);
  };
  expectMost(1000, 'without an inbox, the declared function applies');
  const first = open(10);
  expectMost(10, 'the first inbox');
  emit$.next({ declare: [{ ...level, about: { unit: 'dB' }, accept: most(500) }] });
  expectMost(10, 'declared again');
  const second = open(20);
  expectMost(20, 'a newer inbox');
  first();
  expectMost(20, 'the older one has ended');
  second();
  expectMost(500, 'both have ended: what was declared last applies');
});
