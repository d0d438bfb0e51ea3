// The studio of the trial: everything that waits, expires or is stored, with its results in parameters that a client follows.

import { scryptSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { thisTree } from '../../support/folder.ts';

/** How long everything waits that is started together. */
export const waitMs = 4000;
export const pulseMs = 100;
export const rootToken = 'cm9vdA==';
export const password = 'geheim';

/** As `patchbay password` makes them, but that they are compared soon. */
function hashed(): string {
  const salt = Buffer.alloc(16, 'salt');
  const texts = [salt, scryptSync(password, salt, 32, { N: 16, r: 8, p: 1 })].map((bytes) =>
    bytes.toString('base64').replace(/=+$/, ''),
  );
  return `$scrypt$ln=4,r=8,p=1$${texts.join('$')}`;
}

/** What ends once it has waited: each becomes true, or one more, when it does. */
export const waiting = {
  timer: 'desk/timer',
  TON: 'core/on',
  TOF: 'core/off',
  TP: 'core/pulse',
  alarm: 'alarms/late/active',
  'debounceTime of a rule': 'desk/debounced',
  'delay of a rule': 'desk/delayed',
  'debounceTime in TypeScript': 'desk/ts-debounced',
  'throttleTime in TypeScript': 'desk/ts-throttled',
  'timer in TypeScript': 'desk/ts-timer',
  'bufferTime in TypeScript': 'desk/ts-buffered',
} as const;

const rights = { read: ['**'], write: ['**'] };

/** `port`: cookies have it in their names. */
export async function writeStudio(folder: string, port: number): Promise<void> {
  const counted = [
    'timer',
    'minutes',
    'pulses',
    'debounced',
    'delayed',
    'ts-debounced',
    'ts-throttled',
    'ts-timer',
    'ts-buffered',
  ];
  const oneMore = (from: string, to: string, more: object = {}) => ({ from, to, map: `param('${to}') + 1`, ...more });
  const flow = {
    connections: {
      api: {
        ...{ type: 'rest-api', port, bindIp: '127.0.0.1', deviceFile: 'devices.json', dashboards: 'dashboards' },
        users: {
          root: { token: rootToken, ...rights, manage: true },
          ann: { password: hashed(), ...rights },
          door: { ...rights, dashboards: ['door'] },
        },
      },
      store: { type: 'store', folder: 'data' },
      desk: { type: 'dummy', parameters: ['n,I,0', 'in,B,false', 'late,I,0', ...counted.map((id) => `${id},I,0`)] },
      clock: { type: 'timer', timers: [waitMs, waitMs], pulses: [{ interval: pulseMs }] },
      core: {
        type: 'virtual-core',
        inputs: { mic: 'desk/in' },
        outputs: {
          on: { block: 'TON', in: 'mic', pt: waitMs },
          not: { type: 'B', expression: '!mic' },
          off: { block: 'TOF', in: 'not', pt: waitMs },
          pulse: { block: 'TP', in: 'mic', pt: waitMs },
        },
      },
      times: { type: 'schedule', zone: 'UTC', entries: { minute: { at: '*:*' } } },
      alarms: { type: 'alarms', alarms: { late: { when: 'desk/in', delay: waitMs } } },
    },
    rules: [
      { from: 'desk/in', when: 'value', map: `${waitMs}`, to: 'clock/timer/1/start' },
      oneMore('clock/timer/1/trigger', 'desk/timer'),
      oneMore('clock/timer/2/trigger', 'desk/late'),
      oneMore('clock/pulse/1', 'desk/pulses'),
      oneMore('times/minute', 'desk/minutes'),
      {
        from: 'desk/in',
        when: 'value',
        map: "param('desk/debounced') + 1",
        pipe: [{ debounceTime: waitMs }],
        to: 'desk/debounced',
      },
      {
        from: 'desk/in',
        when: 'value',
        map: "param('desk/delayed') + 1",
        pipe: [{ delay: waitMs }],
        to: 'desk/delayed',
      },
    ],
  };
  const program = `
    import { asyncScheduler, bufferTime, debounceTime, filter, map, switchMap, throttleTime, timer } from 'rxjs';
    import { defineFlow } from ${JSON.stringify(join(thisTree, 'lib/index.ts'))};
    export default defineFlow({
      rules: (on) => {
        const isIn = on.flag('desk/in').pipe(filter((value) => value));
        const one = map(() => 1);
        const throttled = throttleTime(${waitMs}, asyncScheduler, { leading: false, trailing: true });
        return [
          { name: 'debounced', from: isIn.pipe(debounceTime(${waitMs}), one), to: 'desk/ts-debounced' },
          { name: 'throttled', from: isIn.pipe(throttled, one), to: 'desk/ts-throttled' },
          { name: 'timer', from: isIn.pipe(switchMap(() => timer(${waitMs})), one), to: 'desk/ts-timer' },
          { name: 'buffered', from: isIn.pipe(switchMap(() => on.flag('desk/in').pipe(bufferTime(${waitMs}))), one), to: 'desk/ts-buffered' },
        ];
      },
    });
  `;
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  await writeFile(join(folder, 'flow.json5'), JSON.stringify(flow, undefined, 2));
  await writeFile(join(folder, 'flow.ts'), program);
}
