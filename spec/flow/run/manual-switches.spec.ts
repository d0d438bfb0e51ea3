// A rule or connection that an operator switched stays so until its text changes, and every return is in the log and in the audit.

import { rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import test from 'ava';
import type { Origin } from '../../../lib/model/parameter.ts';
import { VirtualClock } from '../../../lib/testing/virtual-clock.ts';
import { eventually } from '../../support/deadline.ts';
import { startReloading } from '../../support/reload.ts';
import { noted, readAudit } from '../../support/store/audit.ts';
import { install } from '../../support/store/store.ts';

const ann: Origin = { kind: 'client', name: 'api 10.0.0.7' };
const desk = { type: 'dummy', parameters: ['a,I', 'b,I', 'c,I', 'd,I'] };
const copy = { name: 'copy', from: 'desk/a', to: 'desk/b' };
const other = { name: 'other', from: 'desk/a', to: 'desk/c' };
const clock = { type: 'timer', timers: [5] };
const root = resolve(import.meta.dirname, '../../..');

/** Files by name; undefined: the file is deleted. */
type Files = Record<string, unknown>;

const before: Files = { 'a.json5': { connections: { desk }, rules: [copy, other] }, 'b.json5': { rules: [] } };
const template = (more: object[] = []) => ({
  variables: { map: 'value' },
  connections: { '${instance}': { type: 'dummy', parameters: ['a,I', 'b,I'] } },
  rules: [{ name: '${instance} copy', from: '${instance}/a', map: '${map}', to: '${instance}/b' }, ...more],
});
const instances = (each: object) => ({ instances: { template: './_studio.json5', each } });

const saves: [what: string, rule: string, before: Files, saves: Files[]][] = [
  [
    'another rule is saved',
    'copy',
    before,
    [{ 'a.json5': { connections: { desk }, rules: [copy, { ...other, map: '1' }] } }],
  ],
  ['it is moved in its file', 'copy', before, [{ 'a.json5': { connections: { desk }, rules: [other, copy] } }]],
  [
    'it is moved to another file',
    'copy',
    before,
    [{ 'a.json5': { connections: { desk }, rules: [other] }, 'b.json5': { rules: [copy] } }],
  ],
  [
    'it is moved to another file, one file saved after the other',
    'copy',
    before,
    [{ 'a.json5': { connections: { desk }, rules: [other] } }, { 'b.json5': { rules: [copy] } }],
  ],
  ['its file has another name', 'copy', before, [{ 'a.json5': undefined, 'c.json5': before['a.json5'] }]],
  [
    'its folder has another name',
    'copy',
    { 'a.json5': { connections: { desk }, rules: [{ folder: 'Door', rules: [copy] }] } },
    [{ 'a.json5': { connections: { desk }, rules: [{ folder: 'Gate', rules: [copy] }] } }],
  ],
  [
    'its folder is disabled in the file, and enabled again',
    'copy',
    { 'a.json5': { connections: { desk }, rules: [{ folder: 'Door', rules: [copy] }] } },
    [
      { 'a.json5': { connections: { desk }, rules: [{ folder: 'Door', enabled: false, rules: [copy] }] } },
      { 'a.json5': { connections: { desk }, rules: [{ folder: 'Door', rules: [copy] }] } },
    ],
  ],
  [
    'one of its parameters is replaced',
    'copy',
    before,
    [{ 'a.json5': { connections: { desk: { ...desk, parameters: ['a,F', 'b,F', 'c,I'] } }, rules: [copy] } }],
  ],
  [
    'another instance is added',
    's1 copy',
    { '_studio.json5': template(), 'a.json5': instances({ s1: {} }) },
    [{ 'a.json5': instances({ s0: {}, s1: {} }) }],
  ],
  [
    'its template gets another rule',
    's1 copy',
    { '_studio.json5': template(), 'a.json5': instances({ s1: {}, s2: {} }) },
    [{ '_studio.json5': template([{ name: 'more', from: '${instance}/a', to: '${instance}/b' }]) }],
  ],
];

async function save(folder: string, files: Files): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    if (content === undefined) await rm(join(folder, name));
    else await writeFile(join(folder, name), JSON.stringify(content));
  }
}

for (const [what, name, files, steps] of saves)
  test(`a rule that was switched off stays off: ${what}`, async (t) => {
    const { hub, folder, lines } = await startReloading(t, files);
    const rule = () => hub.rules().find((one) => one.name === name);
    hub.switchRule(name, undefined, false, ann);
    for (const files of steps) {
      await save(folder, files);
      await hub.reload();
    }
    t.like(rule(), { enabled: false, state: 'disabled', reason: 'disabled by api 10.0.0.7' });
    t.false(lines.some(({ level }) => level === 'warn'));
    hub.switchRule(name, undefined, true, ann);
    t.like(rule(), { enabled: true });
  });

test('of identical rules, only the switched one stays off', async (t) => {
  const rules = (...more: object[]) => ({ connections: { desk }, rules: [...more, { ...copy, name: 'x' }, copy] });
  const { hub, reload } = await startReloading(t, { 'a.json5': rules() });
  hub.switchRule('copy', undefined, false, ann);
  await reload('a.json5', rules(copy));
  t.is(hub.rules().filter(({ name, enabled }) => name === 'copy' && !enabled).length, 1);
});

test('a rule that its file disables stays on after it was switched on', async (t) => {
  const off = { ...copy, enabled: false };
  const { hub, reload } = await startReloading(t, { 'a.json5': { connections: { desk }, rules: [off, other] } });
  hub.switchRule('copy', undefined, true, ann);
  await reload('a.json5', { connections: { desk }, rules: [{ ...other, map: '1' }, off] });
  t.like(hub.rules()[1], { name: 'copy', enabled: true });
  await reload('a.json5', { connections: { desk }, rules: [{ ...off, map: '1' }] });
  t.like(hub.rules()[0], { name: 'copy', enabled: false });
});

test('a stream in TypeScript stays off while its file has a rule of its name with its destinations', async (t) => {
  const flow = (text: string) => `
    import { defineFlow } from ${JSON.stringify(join(root, 'lib/index.ts'))};
    const desk = ${JSON.stringify(desk)};
    export default defineFlow({ connections: { desk }, rules: (on) => [
      ${text}
      { name: 'copy', from: on.integer('desk/a').pipe(), to: 'desk/b' },
      ${JSON.stringify({ ...copy, name: 'data' })},
    ] });`;
  const files = { 'package.json': { type: 'module' }, 'a.ts': flow('') };
  const { hub, folder, write, value } = await startReloading(t, files);
  for (const name of ['copy', 'data']) hub.switchRule(name, undefined, false, ann);
  await writeFile(join(folder, 'a.ts'), flow("{ name: 'more', from: on.integer('desk/a'), to: 'desk/c' }, // more"));
  await hub.reload();
  write('desk/a', 1);
  t.deepEqual([value('desk/b'), value('desk/c')], [undefined, 1]);
});

test('a rule whose text changes follows its file, and the log and the audit say so', async (t) => {
  const installation = await install(t, { desk, clock }, { rules: [copy, { ...other, enabled: false }] });
  const hub = await installation.start();
  hub.switchRule('copy', undefined, false, ann);
  hub.switchRule('other', undefined, true, ann);
  hub.control('clock', 'stop', ann);
  const flow = (rules: object[], timers: number[]) =>
    writeFile(
      join(installation.folder, 'flow.json5'),
      JSON.stringify({
        connections: { store: { type: 'store', folder: './data' }, desk, clock: { ...clock, timers } },
        rules,
      }),
    );
  await flow([copy, { ...other, enabled: false }, { name: 'more', from: 'desk/a', to: 'desk/d' }], [5]);
  await hub.reload();
  t.deepEqual(
    hub.rules().map(({ enabled }) => enabled),
    [false, true, true],
  );
  await flow(
    [
      { ...copy, map: 'value + 1' },
      { ...other, map: '1', enabled: false },
    ],
    [6],
  );
  await hub.reload();
  t.deepEqual(
    hub.rules().map(({ enabled }) => enabled),
    [true, false],
  );
  const file = join(installation.folder, 'flow.json5');
  const reported = [
    `rule "copy" (${file}) was switched off by api 10.0.0.7 and is on again: its text has changed`,
    `rule "other" (${file}) was switched on by api 10.0.0.7 and is off again: its text has changed`,
    `connection "clock" (${file}) was stopped by api 10.0.0.7 and runs again: its settings have changed`,
  ];
  t.deepEqual(
    hub.lines
      .filter(({ message }) => message.includes(' again: '))
      .map(({ message }) => message)
      .sort(),
    reported.sort(),
  );
  await noted(installation, ({ user, kind, after }) => user === 'hub' && kind === 'connection' && after === 'start');
  const entries = readAudit(installation).filter(({ user, kind }) => user === 'hub' && kind === 'rule');
  t.deepEqual(
    entries.map(({ address, after, cause }) => [address, after, cause]),
    [
      ['copy', 'on', `rule "copy" (${file}) was switched off by api 10.0.0.7; its text has changed`],
      ['other', 'off', `rule "other" (${file}) was switched on by api 10.0.0.7; its text has changed`],
    ],
  );
  await hub.stop();
});

test('switches of an earlier run are reported when their files apply again', async (t) => {
  const installation = await install(t, { desk, clock }, { rules: [copy, other] });
  const first = await installation.start();
  first.switchRule('copy', undefined, false, ann);
  first.switchRule('other', undefined, false, ann);
  first.switchRule('other', undefined, true, ann);
  first.control('clock', 'stop', ann);
  await first.stop();
  t.true(
    first.lines.some(({ message }) =>
      /^rule "copy" .* was switched off by api 10\.0\.0\.7: this lasts until the hub stops/.test(message),
    ),
  );
  await installation.closed();
  const second = await installation.start();
  await second.logged(/^rule "copy" .* was switched off by api 10\.0\.0\.7 and is on again: the hub was restarted$/);
  await second.logged(/^connection "clock" .* was stopped by api 10\.0\.0\.7 and runs again: the hub was restarted$/);
  t.false(second.lines.some(({ message }) => message.includes('"other"')));
  await noted(
    installation,
    ({ user, kind, address, after }) => user === 'hub' && kind === 'rule' && address === 'copy' && after === 'on',
  );
  await noted(installation, ({ user, kind, after }) => user === 'hub' && kind === 'connection' && after === 'start');
  await second.stop();
  await installation.closed();
  const third = await installation.start();
  t.false(
    third.lines.some(({ message }) => message.includes('again: ')),
    'once is enough',
  );
  await third.stop();
});

test('a connection that was stopped stays so while its settings are the same', async (t) => {
  const pair = {
    desk,
    core: { type: 'virtual-core', inputs: { a: 'desk/a' }, outputs: { out: { type: 'F', expression: 'a' } } },
  };
  const { hub, reload, folder } = await startReloading(t, { 'a.json5': { connections: { ...pair, clock } } });
  const isStopped = (id: string) => {
    const { state, reason } = hub.connections().find((one) => one.id === id)!;
    return state === 'disabled' && reason === 'stopped by api 10.0.0.7';
  };
  hub.control('core', 'stop', ann);
  hub.control('clock', 'stop', ann);
  await reload('a.json5', {
    connections: { ...pair, desk: { ...desk, parameters: ['a,F'] }, clock: { ...clock, description: 'x' } },
  });
  t.true(isStopped('core') && isStopped('clock'), 'what core listens to is another parameter');
  await rename(join(folder, 'a.json5'), join(folder, 'b.json5'));
  await hub.reload();
  t.true(isStopped('core') && isStopped('clock'));
  hub.control('core', 'start', ann);
  t.is(hub.connections().find(({ id }) => id === 'core')!.state, 'running');
});

test('a rule that was switched off does nothing in shadow either', async (t) => {
  const virtual = new VirtualClock();
  const rules = [
    { name: 'lamp', from: 'desk/a', to: 'desk/b' },
    { name: 'echo', from: 'desk/b', to: 'desk/c' },
    { name: 'lamp', from: 'desk/a', map: 'value + 1', to: 'desk/b', shadow: true },
  ];
  const { hub, write } = await startReloading(
    t,
    { 'a.json5': { connections: { desk }, rules } },
    { scheduler: virtual },
  );
  const reported = () => hub.shadow()!.deviations.map(({ address }) => address);
  write('desk/a', 1);
  t.deepEqual(reported(), ['desk/b', 'desk/c']);
  hub.switchRule('echo', undefined, false, ann);
  write('desk/a', 5);
  t.deepEqual(reported(), ['desk/b'], 'it is off in both');
  hub.switchRule('echo', undefined, true, ann);
  write('desk/a', 9);
  await eventually(() => reported().includes('desk/c'));
});
