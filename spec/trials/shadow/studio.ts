// A studio, the events in it, and possible changes of its rules.

import type { Random } from '../../support/random.ts';

const connections = {
  desk: {
    type: 'dummy',
    parameters: [
      'mic1,B,false',
      'mic2,B,false',
      'level,F,0',
      'doorbell,T',
      'slot,I,0',
      'on-air,B',
      'sign,S',
      'door-lamp,B,false',
    ],
  },
  lamps: {
    type: 'dummy',
    parameters: ['red,B', 'green,B', 'meter,I', 'quiet,B', 'rings,I,0', 'late,B', 'beat,I,0', 'open,B', 'long,B'],
  },
  clock: { type: 'timer', timers: [3000, 30_000], pulses: [{ interval: 1000 }, { interval: 10_000 }] },
  core: {
    type: 'virtual-core',
    inputs: { air: 'desk/on-air' },
    outputs: { held: { block: 'TOF', in: 'air', pt: '5s' }, long: { block: 'TON', in: 'air', pt: '20s' } },
  },
  week: { type: 'schedule', zone: 'Europe/Berlin', entries: { open: { from: '06:00', to: '06:30' } } },
};

const rules = [
  { name: 'on air', from: { a: 'desk/mic1', b: 'desk/mic2' }, map: 'a || b', to: 'desk/on-air' },
  { name: 'red', from: 'core/held', to: 'lamps/red' },
  { name: 'green', from: 'desk/on-air', map: '!value', to: 'lamps/green' },
  { name: 'sign', from: 'desk/on-air', map: "value ? 'ON AIR' : ''", to: 'desk/sign' },
  { name: 'meter', from: 'desk/level', pipe: [{ scale: { from: [0, 1], to: [0, 100] } }], to: 'lamps/meter' },
  { name: 'quiet', from: 'desk/level', map: 'value < 0.2', pipe: [{ debounceTime: '10s' }], to: 'lamps/quiet' },
  { name: 'bell', from: 'desk/doorbell', map: 'true', to: 'desk/door-lamp' },
  { name: 'bell timer', from: 'desk/doorbell', map: '3000', to: 'clock/timer/1/start' },
  { name: 'bell off', from: 'clock/timer/1/trigger', map: 'false', to: 'desk/door-lamp' },
  { name: 'rings', from: 'desk/door-lamp', when: 'value', map: "param('lamps/rings') + 1", to: 'lamps/rings' },
  { name: 'late', from: 'desk/on-air', pipe: [{ delay: '2s' }], to: 'lamps/late' },
  {
    name: 'beat',
    from: 'clock/pulse/1',
    when: "param('desk/on-air', false)",
    map: "param('lamps/beat') + 1",
    to: 'lamps/beat',
  },
  { name: 'open', from: 'week/open', to: 'lamps/open' },
  { name: 'long', from: 'core/long', to: 'lamps/long' },
] as const;

/** What may be changed, each by its rule: other settings of it; `undefined`: it is taken out. */
export const changes: readonly (readonly [rule: string, settings: object | undefined])[] = [
  ['on air', { map: 'a && b' }],
  ['on air', { pipe: [{ debounceTime: '500ms' }] }],
  ['red', { pipe: [{ delay: '1s' }] }],
  ['meter', { pipe: [{ throttleTime: { duration: 2000, trailing: true } }, { scale: { from: [0, 1], to: [0, 50] } }] }],
  ['quiet', { map: 'value < 0.4' }],
  ['quiet', { pipe: [{ debounceTime: '4s' }] }],
  ['bell timer', { map: '7000' }],
  ['bell', { when: "!param('desk/on-air', false)" }],
  ['rings', { when: '!value' }],
  ['late', { pipe: [{ debounceTime: '2s' }] }],
  ['beat', { from: 'clock/pulse/2' }],
  ['green', undefined],
  ['sign', { atStart: true, map: "value ? 'LIVE' : 'OFF'" }],
  ['long', { map: '!value' }],
];

/** The flow file of the studio, with one of its rules changed. */
export function studioWith([name, settings]: (typeof changes)[number] | readonly [undefined, undefined]): object {
  const changed = rules.flatMap((rule) => {
    if (rule.name !== name) return [rule];
    return settings === undefined ? [] : [{ ...rule, ...settings }];
  });
  return { connections, rules: changed };
}

/** What a client writes next, and how long after the last time. */
export function nextWrites(random: Random): { afterMs: number; writes: [address: string, value: unknown][] } {
  const write = (): [string, unknown] => {
    const kind = random.below(10);
    if (kind < 3) return [random.pick(['desk/mic1', 'desk/mic2']), random.once(2)];
    if (kind < 8) return ['desk/level', random.below(100) / 100];
    if (kind === 8) return ['desk/doorbell', 1];
    return random.pick<[string, unknown]>([
      ['desk/door-lamp', false],
      ['desk/on-air', random.once(2)],
      ['lamps/red', true],
      ['desk/slot', random.below(4)],
    ]);
  };
  return {
    afterMs: 37 + random.below(random.once(10) ? 40_000 : 3000),
    writes: Array.from({ length: random.once(4) ? 3 : 1 }, write),
  };
}

export type StudioRule = Readonly<Record<string, unknown>> & { readonly name: string };

/** A change of one entry of the rules at the page. An entry with `each` is several rules. */
export interface Edit {
  readonly about: string;
  /** The name of the rule whose sheet is opened; undefined: a new rule. */
  readonly opened: string | undefined;
  /** What the entry becomes; undefined: it is deleted. */
  readonly rule: StudioRule | undefined;
}

const { week: _, ...connectionsAtRest } = connections;

/** The studio for the page: without a schedule, because virtual time goes on over hours. */
export const studioOfPage = {
  connections: {
    ...connectionsAtRest,
    core: {
      type: 'virtual-core',
      inputs: { air: 'desk/on-air', lamp: 'desk/door-lamp', zero: 'spare/zero' },
      outputs: {
        ...connections.core.outputs,
        shows: { block: 'CTU', up: 'air', reset: 'zero', pv: 5 },
        visit: { block: 'RS', set: 'lamp', reset: 'zero' },
      },
    },
    alarm: {
      type: 'alarms',
      alarms: { air: { when: 'desk/on-air', delay: '3s', priority: 2 }, door: { when: 'desk/door-lamp' } },
    },
    spare: { type: 'dummy', parameters: ['b1,B', 'b2,B', 'i1,I', 'f1,F', 's1,S', 'go,T', 'zero,B'] },
  },
  rules: [
    ...rules.filter(({ name }) => name !== 'open'),
    { name: 'go', from: 'desk/mic1', when: 'value', map: 'true', to: 'spare/go' },
    { name: 'gone', from: 'spare/go', map: "param('desk/level', 0.0)", to: 'spare/f1' },
    { each: { n: [1, 2] }, name: 'copy ${n}', from: 'desk/mic${n}', to: 'spare/b${n}' },
  ] as readonly StudioRule[],
  /** Written one after another, these lead every rule and every parameter to the same state. */
  exercise: [
    { 'desk/mic1': true, 'desk/mic2': true, 'desk/level': 0.1, 'desk/doorbell': 1 },
    { 'desk/mic1': false, 'desk/mic2': false, 'desk/level': 0.5, 'desk/on-air': false },
    {
      ...{ 'desk/slot': 0, 'desk/sign': '', 'desk/door-lamp': false, 'lamps/red': false, 'lamps/green': true },
      ...{ 'lamps/meter': 50, 'lamps/quiet': false, 'lamps/late': false, 'lamps/open': false, 'lamps/long': false },
      ...{ 'spare/b1': false, 'spare/b2': false, 'spare/i1': 0, 'spare/f1': 0, 'spare/s1': '' },
    },
    // what a block counts and an alarm keeps is there before the comparison
    { 'spare/zero': true, 'alarm/all/ack': 1 },
    { 'spare/zero': false, 'desk/on-air': true, 'desk/door-lamp': true },
    { 'desk/on-air': false, 'desk/door-lamp': false },
    { 'desk/sign': '', 'lamps/rings': 0, 'lamps/beat': 0, 'spare/i1': 0 },
  ],
} as const;

const flags = [
  'desk/mic1',
  'desk/mic2',
  'desk/on-air',
  'desk/door-lamp',
  'core/held',
  'core/long',
  'core/shows',
  'alarm/air',
];
const numbers = ['desk/level', 'desk/slot', 'lamps/meter', 'clock/pulse/1', 'clock/pulse/2', 'spare/i1'];
const lamps = [
  'lamps/red',
  'lamps/green',
  'lamps/late',
  'lamps/open',
  'lamps/long',
  'spare/b1',
  'spare/b2',
  'spare/go',
];
const conditions = ["param('desk/on-air', false)", "!param('desk/mic2', false)", "param('desk/level', 0.0) > 0.4"];
const maps = ['value', '!value', 'true', 'false', "value || param('desk/mic2', false)", 'value != previous'];
const times = ['40ms', '500ms', '2s', '7s'];

function randomSteps(random: Random): object[] {
  const time = random.pick(times);
  const step = () =>
    random.pick<object>([
      ...['delay', 'debounceTime', 'throttleTime', 'auditTime', 'sampleTime', 'onDelay', 'offDelay', 'repeat'].map(
        (name) => ({ [name]: time }),
      ),
      { distinctUntilChanged: true },
      { filter: 'value' },
      { map: '!value' },
      { startWith: true },
      { skip: 2 },
      { take: 3 },
      { switchMap: [{ delay: time }] },
      { throttleTime: { duration: 1500, trailing: true } },
    ]);
  return random.once(3) ? [step(), step()] : [step()];
}

function randomRule(random: Random, name: string): StudioRule {
  const isNumber = random.once(4);
  return {
    name,
    from: isNumber ? random.pick(numbers) : random.pick(flags),
    ...(random.once(3) && { when: random.pick(conditions) }),
    ...(isNumber
      ? { map: `value > ${random.pick(['0.3', '1', '20'])}` }
      : random.once(2) && { map: random.pick(maps) }),
    ...(random.once(2) && { pipe: randomSteps(random) }),
    to: random.once(4) ? random.pick([lamps.slice(0, 2), lamps.slice(3, 6)]) : random.pick(lamps),
    ...(random.once(6) && { atStart: true }),
    ...(random.once(6) && { hear: 'writes' }),
  };
}

/** A change of a rule as a person may make it; the hub may still refuse it. */
export function randomEdit(random: Random): Edit {
  if (random.once(6)) {
    const rule = randomRule(random, 'new');
    return { about: `new: ${JSON.stringify(rule)}`, opened: undefined, rule };
  }
  const { ...old } = random.pick(studioOfPage.rules);
  const opened = old.name.replaceAll('${n}', '1');
  if (random.once(8)) return { about: `${opened}: deleted`, opened, rule: undefined };
  const { pipe, when, ...plain } = old as StudioRule & { readonly pipe?: readonly object[]; readonly when?: string };
  const settings = random.pick<() => object>([
    () => ({ pipe: randomSteps(random) }),
    () => ({ pipe: [...(pipe ?? []), ...randomSteps(random)] }),
    () => ({ when: random.pick(conditions) }),
    () => ({ when: random.pick(conditions), pipe: randomSteps(random) }),
    () => ({ map: random.pick(maps) }),
    () => ({ map: random.pick(['7000', '3', "param('desk/level', 0.0) * 10.0", "string(value) + '!'"]) }),
    () => ({ from: random.pick([...flags, ...numbers]) }),
    () => ({ to: [old.to, random.pick(lamps)].flat() }),
    () => ({ to: random.pick([...lamps, 'spare/f1', 'spare/s1']) }),
    () => ({ enabled: false }),
    () => ({ atStart: true }),
    () => ({ hear: 'writes' }),
  ])();
  const kept = random.once(4) ? plain : { ...plain, ...(when && { when }), ...(pipe && { pipe }) };
  return { about: `${opened}: ${JSON.stringify(settings)}`, opened, rule: { ...kept, ...settings } as StudioRule };
}
