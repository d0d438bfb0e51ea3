// Three keys open the door when somebody presses them in the order of a code.
// After a pause of three seconds, earlier presses no longer count.
// This recipe is in TypeScript and can use all of RxJS: `merge`, `debounceTime` and `scan` form a stream, and a rule writes what it emits.

import { defineFlow } from 'patchbay-hub';
import { filter, map, merge } from 'rxjs';
import { debounceTime, scan } from 'rxjs/operators';

const variables = {
  key1: 'door/key/1', // key 1
  key2: 'door/key/2', // key 2
  key3: 'door/key/3', // key 3
  open: 'door/open', // opens the door
  code: '1321', // the code, made of the digits 1 to 3
};

const keys: Readonly<Record<string, string>> = { 1: variables.key1, 2: variables.key2, 3: variables.key3 };
const presses = [...variables.code].map((digit, index) => ({ at: index * 1000, set: { [keys[digit]!]: true } }));

export default defineFlow({
  connections: {
    // Stand-ins for devices
    door: { type: 'dummy', parameters: ['key/1,T', 'key/2,T', 'key/3,T', 'open,T'] },
  },
  rules: (on) => {
    const key$ = merge(...Object.entries(keys).map(([digit, key]) => on.trigger(key).pipe(map(() => digit))));
    const pause$ = key$.pipe(
      debounceTime(3000),
      map(() => 'pause'),
    );
    const typed$ = merge(key$, pause$).pipe(
      scan((typed, key) => (key === 'pause' ? '' : (typed + key).slice(-variables.code.length)), ''),
    );
    return [{ name: 'door', from: typed$.pipe(filter((typed) => typed === variables.code)), to: variables.open }];
  },
  tests: [
    {
      name: 'the last key of the code opens the door',
      steps: [
        ...presses.slice(0, -1).map((step) => ({ ...step, expect: { [variables.open]: false } })),
        { ...presses.at(-1)!, expect: { [variables.open]: 1 } },
      ],
    },
    {
      name: 'a pause before the last key forgets the others',
      steps: [...presses.slice(0, -1), { ...presses.at(-1)!, at: '1m', expect: { [variables.open]: false } }],
    },
  ],
});
