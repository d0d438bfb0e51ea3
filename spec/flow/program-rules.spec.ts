// Further rules of flow files in TypeScript: rules that are data, in folders, reads without listening, and writes that change
// nothing.

import { join, resolve } from 'node:path';
import test from 'ava';
import { startReloading } from '../support/reload.ts';

const root = resolve(import.meta.dirname, '../..');
const desk = ['a,F,1', 'b,F', 'c,F,5', 'd,F', 'e,T', 'f,F,0', 'g,B'];

const program = (streams: string, data: string) => `
  import { defineFlow } from ${JSON.stringify(join(root, 'lib/index.ts'))};
  import { map, startWith } from ${JSON.stringify(import.meta.resolve('rxjs'))};
  export default defineFlow({
    connections: { desk: { type: 'dummy', parameters: ${JSON.stringify(desk)} } },
    rules: (on) => [${streams}, { folder: 'Data', rules: [${data}] }],
  });
`;
const looks = `
  { name: 'looks', from: on.float('desk/a').pipe(map((a) => a + (on.peek('desk/c') ?? 0))), to: 'desk/b' },
  { name: 'again', from: on.float('desk/a', { hear: 'writes' }), to: 'desk/e' },
  { name: 'all again', from: on.all({ a: 'desk/a' }, { hear: 'writes' }).pipe(map(({ a }) => (on.peek('desk/f') ?? 0) + a)), to: 'desk/f' },
  { name: 'at once', from: on.flag('desk/g').pipe(startWith(true)), to: 'desk/g' }
`;
const data = `
  { name: 'split', from: { a: 'desk/a', g: 'desk/g' }, when: 'g', to: { 'desk/d': 'a * 10' }, atStart: true },
  { name: 'off', enabled: false, from: 'desk/a', to: 'desk/c' }
`;

test('rules of data work beside streams; a stream reads without listening, and listens to writes that change nothing', async (t) => {
  const { hub, write, takeChanges, reload, value } = await startReloading(t, {
    'flow.ts': program(looks, data),
    'package.json': { type: 'module' },
  });
  t.is(value('desk/d'), 10); // what the stream has written at once has run the rule below
  t.deepEqual(
    hub.rules().map(({ name, folder: names, from, to, enabled }) => [name, names, from, to, enabled]),
    [
      ['looks', [], ['desk/a'], ['desk/b'], true],
      ['again', [], ['desk/a'], ['desk/e'], true],
      ['all again', [], ['desk/a'], ['desk/f'], true],
      ['at once', [], ['desk/g'], ['desk/g'], true],
      ['split', ['Data'], ['desk/a', 'desk/g'], ['desk/d'], true],
      ['off', ['Data'], ['desk/a'], ['desk/c'], false],
    ],
  );
  takeChanges();
  write('desk/c', 6);
  t.deepEqual(takeChanges(), ['desk/c=6']);
  write('desk/a', 2);
  t.deepEqual(takeChanges(), ['desk/a=2', 'desk/b=8', 'desk/e=1', 'desk/f=2', 'desk/d=20']);
  write('desk/a', 2);
  t.deepEqual(takeChanges(), ['desk/e=1', 'desk/f=4']);

  const { rules } = await reload('flow.ts', program(looks.replace("'desk/c'", "'desk/z'"), data));
  t.deepEqual(rules.changed, ['looks', 'again', 'all again', 'at once']); // the rules that are data run on
  write('desk/a', 3);
  t.like(hub.rules()[0], { state: 'failing' });
  t.regex(hub.rules()[0]!.reason, /unknown parameter "desk\/z", did you mean "desk\/\w"\? \(.*flow\.ts:\d+:\d+\)$/);
});
