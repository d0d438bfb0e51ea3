import test from 'ava';
import { markStale, withSections } from '../../harness/kept-results.ts';

const machine = {
  processor: 'P',
  cores: 2,
  memoryBytes: 8 * 2 ** 30,
  system: 'Linux 6',
  node: 'v22.0.0',
  commit: 'abc1',
};
const measured = (name: string, rate: number) => ({
  name,
  about: '',
  cases: [
    {
      name: 'one',
      metrics: [{ key: 'rate', title: 'writes/s', digits: 0 }],
      contenders: [{ name: 'hub', role: 'hub' as const, samples: [{ rate }] }],
      mistakes: [],
      notes: [],
    },
  ],
});
const date = '2026-11-21T10:00:00.000Z';

test('a measured subject gets a new section, and keeps its notes; another one stays unchanged', (t) => {
  const first = withSections('# Results\n', [measured('a', 1), measured('b', 2)], machine, date);
  t.regex(
    first,
    /^# Results\n\n## a\n\nMeasured on 2026-11-21 at `abc1`: 2 cores of P, 8 GiB, Linux 6, Node v22\.0\.0\.\n/,
  );
  const noted = first.replace('\n## b', '\n### Notes\n\nWhy it is so.\n\n## b');
  const second = withSections(noted, [measured('a', 3)], { ...machine, commit: 'def2' }, date);
  t.regex(
    second,
    /## a\n\nMeasured on .* at `def2`.*\n\n\|(?:.*\n)+\| one \| writes\/s \| 3 \|(?:.*\n)+### Notes\n\nWhy it is so\.\n\n## b\n\n.* at `abc1`/,
  );
  t.is(withSections(second, [measured('a', 3)], { ...machine, commit: 'def2' }, date), second);
});

test('an outdated result is marked once as stale, with the changes, and no longer after a new measurement', (t) => {
  const text = withSections('# Results\n', [measured('a', 1), measured('b', 2)], machine, date);
  const changed = (name: string) => (name === 'a' ? ['lib/graph'] : []);
  const marked = markStale(text, changed);
  t.deepEqual(marked.match(/\*\*Stale\*\*.*/g), ['**Stale**: lib/graph changed since.']);
  t.is(markStale(marked, changed), marked);
  t.is(
    markStale(marked, () => []),
    text,
  );
});
