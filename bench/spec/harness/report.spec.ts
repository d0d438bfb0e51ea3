import test from 'ava';
import { readXml } from '../../../spec/support/xml/saxes.ts';
import { drawChart } from '../../harness/chart.ts';
import { formatReport, judge, missedBy, type SubjectResult } from '../../harness/report.ts';

const machine = {
  processor: 'R&D <prototype>',
  cores: 2,
  memoryBytes: 8 * 2 ** 30,
  system: 'Linux 6',
  node: 'v22.0.0',
  commit: 'abc',
};

const result: SubjectResult = {
  name: 'fan-out',
  about: 'sockets & changes',
  cases: [
    {
      name: '100 sockets',
      metrics: [
        { key: 'rate', title: 'deliveries/s', digits: 0, better: 'more', targets: [{ against: 'raw', atLeast: 0.95 }] },
        { key: 'busy', title: 'busy, %', digits: 1, better: 'less', targets: [{ atMost: 50 }] },
      ],
      contenders: [
        { name: 'hub', role: 'hub', samples: [{ rate: 900, busy: 60 }, { rate: 1000, busy: 70 }, undefined] },
        { name: 'raw', role: 'ceiling', samples: [{ rate: 1000 }, { rate: 1000 }, { rate: 1000 }] },
        { name: 'peer <1>', role: 'peer', samples: [{ rate: 500 }] },
      ],
      mistakes: ['100 sockets, round 3, hub: lost'],
      notes: ['NATS was left out'],
    },
  ],
};

test('a row per figure and contender, with ratios, targets, notes and mistakes', (t) => {
  const lines = formatReport(machine, '2026-11-21T10:00:00.000Z', [result]).split('\n');
  t.deepEqual(lines.slice(5), [
    '| case | figure | hub | against | ratio | target |',
    '|---|---|---:|---:|---:|---|',
    '| 100 sockets | deliveries/s | 950 (900 to 1,000) | raw: 1,000 | 0.95 (0.90 to 1.00) | at least 0.95: met |',
    '| 100 sockets | deliveries/s | 950 (900 to 1,000) | peer <1>: 500 | 1.80 |  |',
    '| 100 sockets | busy, % | 65.0 (60.0 to 70.0) | | | at most 50: **missed** |',
    '| 100 sockets | busy, % | 65.0 (60.0 to 70.0) | raw: none | none |  |',
    '| 100 sockets | busy, % | 65.0 (60.0 to 70.0) | peer <1>: none | none |  |',
    '',
    '- NATS was left out',
    '- WRONG: 100 sockets, round 3, hub: lost',
  ]);
});

test('a target is met by the median, also at its bound, and missed by an unmeasured figure', (t) => {
  const summary = { median: 2, least: 0, most: 9 };
  t.is(judge({ atLeast: 2 }, summary), 'at least 2: met');
  t.is(judge({ atMost: 1.99 }, summary), 'at most 1.99: **missed**');
  t.is(judge({ atLeast: 1, atMost: 3 }, undefined), 'at least 1, at most 3: **missed**');
});

test('the report describes each loss in a sentence, also next to a contender', (t) => {
  const [{ metrics, ...measured }] = result.cases as [(typeof result.cases)[number]];
  const strict = [{ key: 'rate', title: 'deliveries/s', digits: 0, targets: [{ against: 'raw', atLeast: 0.96 }] }];
  t.deepEqual(missedBy(measured, metrics), ['100 sockets, busy, %: expected at most 50, got 65.00']);
  t.deepEqual(missedBy(measured, strict), ['100 sockets, deliveries/s: expected at least 0.96 times raw, got 0.95']);
});

test('a chart is XML, with a bar for the hub and each peer, for any names', (t) => {
  const reading = readXml(drawChart(machine.processor, [result]));
  const bars = reading.filter((_, index) => reading[index - 1] === 'rect');
  t.deepEqual(bars, ['@class=hub', '@class=peer']);
  for (const text of ['R&D <prototype>', 'peer <1>', '0.95', '0.50']) t.true(reading.includes(`"${text}`), text);
});

test('if less is better, a bar shows how many times less it is', (t) => {
  const metrics = [{ key: 'p99', title: 'p99', digits: 0, better: 'less' as const }];
  const contenders = [
    { name: 'hub', role: 'hub' as const, samples: [{ p99: 4 }] },
    { name: 'raw', role: 'ceiling' as const, samples: [{ p99: 2 }] },
  ];
  const cases = [{ name: 'one', metrics, contenders, mistakes: [], notes: [] }];
  t.true(readXml(drawChart('title', [{ name: 'latency', about: '', cases }])).includes('"0.50'));
});

test('a chart of nothing is a chart', (t) => {
  t.is(readXml(drawChart('nothing', []))[0], 'svg');
});
