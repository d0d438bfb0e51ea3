// A studio, what happens in it, and ways in which its rules may be changed.

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
