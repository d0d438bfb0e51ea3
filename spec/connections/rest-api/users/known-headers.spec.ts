// Headers are known by all of their text, however many there are and whatever place of their own they have.

import test from 'ava';
import fc from 'fast-check';
import { KnownHeaders } from '../../../../lib/connections/rest-api/users/directory.ts';
import type { SignedInUser } from '../../../../lib/connections/rest-api/users/principal.ts';

const signedInBy = (name: string) => ({ name, hasLeft: false }) as SignedInUser;
/** Short texts of few letters, of which many have the same place. */
const header = fc.string({ unit: fc.constantFrom('a', 'b', '='), maxLength: 7 });
const act = fc.record({ header, does: fc.constantFrom('add', 'find', 'find', 'leave') });

test('a client is found by its header until it leaves', (t) => {
  fc.assert(
    fc.property(fc.array(act, { maxLength: 200 }), (acts) => {
      const known = new KnownHeaders();
      const expected = new Map<string, SignedInUser>();
      for (const [index, { header, does }] of acts.entries()) {
        const signedIn = expected.get(header);
        if (does === 'add') {
          expected.set(header, signedInBy(`${index}`));
          known.add(header, expected.get(header)!);
        } else if (does === 'find') t.is(known.find(header), signedIn?.hasLeft ? undefined : signedIn);
        else if (signedIn !== undefined) Object.assign(signedIn, { hasLeft: true });
      }
    }),
  );
});

test('of many headers the oldest are forgotten, and all of them on request', (t) => {
  const known = new KnownHeaders();
  for (let index = 0; index < 10_001; index++) known.add(`Bearer ${index}`, signedInBy(`${index}`));
  t.is(known.find('Bearer 0'), undefined);
  for (let index = 1; index < 10_001; index++) t.is(known.find(`Bearer ${index}`)?.name, `${index}`);
  known.clear();
  t.is(known.find('Bearer 10000'), undefined);
});
