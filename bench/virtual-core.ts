// Measures the Virtual Core inside a running hub: how many outputs it evaluates per second, next to what the bare graph
// takes for as many writes, and whether a small change costs the same in a large core. `node bench/virtual-core.ts`

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Graph } from '../lib/graph/graph.ts';
import { type Hub, type HubLog, startHub } from '../lib/hub.ts';
import type { Origin } from '../lib/model/parameter.ts';

const rounds = 9;
const turnsPerRound = 40;
const smallTurnsPerRound = 20_000;
const origin: Origin = { kind: 'client', name: 'bench' };
const silent = () => {};
const log: HubLog = { debug: silent, info: silent, warn: silent, error: silent, child: () => log };

interface Case {
  readonly name: string;
  readonly outputs: Record<string, object>;
  /** What the last output has to be after x was written. */
  expected(x: number): number | boolean;
  readonly last: string;
}

const cases: readonly Case[] = [
  {
    name: '10,000 expressions over one input',
    outputs: numbered(10_000, (index) => ({ type: 'F', expression: `x + ${index}` })),
    last: 'o9999',
    expected: (x) => x + 9999,
  },
  {
    name: '1,000 expressions, each over two others',
    outputs: numbered(1000, (index) => {
      const [left, right] = index < 2 ? ['x', 'x'] : [`o${index - 1}`, `o${index >> 1}`];
      return { type: 'F', expression: `(${left} + ${right}) / 2 + 1` };
    }),
    last: 'o999',
    expected: diamond(1000),
  },
  {
    name: '10,000 latches',
    outputs: {
      odd: { type: 'B', expression: 'x % 2 == 1' },
      even: { type: 'B', expression: '!odd' },
      ...numbered(10_000, () => ({ block: 'SR', set: 'odd', reset: 'even' })),
    },
    last: 'o9999',
    expected: (x) => x % 2 === 1,
  },
];

/** Prints the table; false when an answer was wrong. */
export async function run(): Promise<boolean> {
  let isRight = true;
  const rows: object[] = [];
  for (const item of cases) isRight = (await measureAll(item, rows)) && isRight;
  isRight = (await measureSmall(rows)) && isRight;
  console.table(rows);
  return isRight;
}

/** Every output is affected by every write; the bare graph takes as many writes in turns of the same size. */
async function measureAll({ name, outputs, last, expected }: Case, rows: object[]): Promise<boolean> {
  const count = Object.keys(outputs).length;
  const hub = await startCore(outputs);
  const bare = createBareTurn(count);
  const ours: number[] = [];
  const ceilings: number[] = [];
  let x = 0;
  let isRight = true;
  for (let round = -1; round < rounds; round++) {
    const before = hub.revision;
    const perSecond = measure(turnsPerRound, () => hub.write('desk/x', ++x, origin)) * count;
    const changes = hub.revision - before;
    isRight &&= changes === turnsPerRound * (count + 1) && hub.find(`core/${last}`)!.value === expected(x);
    const ceiling = measure(turnsPerRound, bare) * count;
    if (round < 0) continue; // warm-up
    ours.push(perSecond);
    ceilings.push(ceiling);
  }
  await hub.stop();
  const ratio = median(ours) / median(ceilings);
  rows.push({
    case: name,
    median: `${Math.round(median(ours)).toLocaleString('en')}/s`,
    spread: spread(ours),
    'of the bare graph': `${Math.round(ratio * 100)} %`,
    target: median(ours) >= 1e6 ? 'over 1,000,000/s' : 'MISSED: 1,000,000/s',
    answers: isRight ? 'right' : 'WRONG',
  });
  return isRight;
}

/** A write that affects three outputs, in a core of 10 and in one of 10,000. */
async function measureSmall(rows: object[]): Promise<boolean> {
  const small = await startCore(withChain(10));
  const large = await startCore(withChain(10_000));
  const times = { small: [] as number[], large: [] as number[] };
  let x = 0;
  let isRight = true;
  for (let round = -1; round < rounds; round++) {
    for (const [size, hub] of [
      ['small', small],
      ['large', large],
    ] as const) {
      const before = hub.revision;
      const perSecond = measure(smallTurnsPerRound, () => hub.write('desk/x', ++x, origin));
      isRight &&= hub.revision - before === smallTurnsPerRound * 4 && hub.find('core/c')!.value === x + 3;
      if (round >= 0) times[size].push(1e6 / perSecond);
    }
  }
  await Promise.all([small.stop(), large.stop()]);
  const ratio = median(times.large) / median(times.small);
  rows.push({
    case: '3 outputs of 10,000 against 3 of 10',
    median: `${median(times.large).toFixed(2)} µs against ${median(times.small).toFixed(2)} µs`,
    spread: spread(times.large),
    target: ratio <= 2 ? `${ratio.toFixed(2)} times, at most 2` : `MISSED: ${ratio.toFixed(2)} times, at most 2`,
    answers: isRight ? 'right' : 'WRONG',
  });
  return isRight;
}

/** `count` outputs, of which a, b and c follow x and the others y. */
function withChain(count: number): Record<string, object> {
  return {
    a: { type: 'F', expression: 'x + 1' },
    b: { type: 'F', expression: 'a + 1' },
    c: { type: 'F', expression: 'b + 1' },
    ...numbered(count - 3, (index) => ({ type: 'F', expression: `y + ${index}` })),
  };
}

async function startCore(outputs: Record<string, object>): Promise<Hub> {
  const folder = await mkdtemp(join(tmpdir(), 'patchbay-bench-'));
  const flow = {
    connections: {
      desk: { type: 'dummy', parameters: ['x,F,0', 'y,F,0'] },
      core: { type: 'virtual-core', inputs: { x: 'desk/x', y: 'desk/y' }, outputs },
    },
  };
  try {
    await writeFile(join(folder, 'flow.json5'), JSON.stringify(flow));
    return await startHub({ paths: [folder], log });
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** One turn of as many writes as there are outputs, in a graph with nothing else. */
function createBareTurn(count: number): () => void {
  const graph = new Graph();
  const owner: Origin = { kind: 'connection', name: 'bare' };
  const ids = Object.keys(numbered(count, () => ({})));
  graph.declare(
    owner,
    ids.map((id) => ({ id, type: 'F', access: 'read-only' })),
  );
  const nodes = ids.map((id) => graph.find(`bare/${id}`)!);
  let value = 0;
  return () => {
    value++;
    graph.turn(() => {
      for (const node of nodes) graph.writeTo(node, value, owner);
    });
  };
}

/** Turns per second. */
function measure(turns: number, turn: () => void): number {
  const start = performance.now();
  for (let count = 0; count < turns; count++) turn();
  return (turns * 1000) / (performance.now() - start);
}

function numbered(count: number, make: (index: number) => object): Record<string, object> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`o${index}`, make(index)]));
}

function diamond(count: number): (x: number) => number {
  return (x) => {
    const values: number[] = [];
    for (let index = 0; index < count; index++)
      values.push((index < 2 ? x + x : values[index - 1]! + values[index >> 1]!) / 2 + 1);
    return values.at(-1)!;
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}

function spread(values: readonly number[]): string {
  const middle = median(values);
  const percent = (value: number) => `${Math.round((value / middle - 1) * 100)} %`;
  return `${percent(Math.min(...values))} to +${percent(Math.max(...values))}`;
}

if (import.meta.main) process.exitCode = (await run()) ? 0 : 1;
