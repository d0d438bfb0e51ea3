// The audit: one entry for each change that came from outside and for what operators do, over restarts.

import test from 'ava';
import { writer } from '../../../support/hub.ts';
import type { AuditLine } from '../../../support/store/audit.ts';
import { noted, readAudit } from '../../../support/store/audit.ts';
import { install } from '../../../support/store/store.ts';

const desk = { type: 'dummy', parameters: ['lamp,B,false', 'bell,T', 'level,F', 'text,S', 'copy,S', 'scratch,I'] };
const rules = [{ name: 'copies', from: 'desk/text', to: 'desk/copy' }];
const clock = { type: 'timer', pulses: [{ interval: 10 }] };

/** What most entries say, without when. */
const reported = ({ kind, user, address, before, after, cause }: AuditLine) => [
  kind,
  user,
  address,
  before,
  after,
  cause,
];

test('writes of clients are recorded once each; rules, timers and defaults are not', async (t) => {
  const installation = await install(t, { desk, clock }, { rules, store: { audit: { exclude: ['desk/scratch'] } } });
  const hub = await installation.start();
  hub.write('desk/lamp', true, writer);
  hub.write('desk/lamp', true, writer);
  hub.write('desk/bell', 1, writer);
  hub.write('desk/level', 0.5, writer);
  hub.write('desk/scratch', 1, writer);
  hub.write('desk/text', 'x'.repeat(2000), writer);
  const time = hub.find('desk/text')!.lastChange!.time;
  await hub.stop();
  await noted(installation, ({ kind }) => kind === 'stop');
  const lines = readAudit(installation);
  const cut = `${'x'.repeat(500)}…`;
  t.deepEqual(lines.map(reported), [
    ['start', 'hub', '', null, hub.version, 'first start'],
    ['change', 'spec', 'desk/lamp', 0, 1, ''],
    ['fire', 'spec', 'desk/bell', null, null, ''],
    ['change', 'spec', 'desk/level', null, 0.5, ''],
    ['change', 'spec', 'desk/text', null, cut, ''],
    ['stop', 'hub', '', null, null, ''],
  ]);
  t.is(lines[4]!.time, Math.trunc(time));
  t.deepEqual(
    lines.map(({ n, count }) => [n, count]),
    [1, 2, 3, 4, 5, 6].map((n) => [n, 1]),
  );
});

test('actions of operators are recorded with their author, and a reload with its changes or the reason of its refusal', async (t) => {
  const installation = await install(t, { desk }, { rules });
  const hub = await installation.start();
  hub.switchRule('copies', undefined, false, writer);
  hub.control('desk', 'restart', writer);
  hub.control('desk', 'stop', writer);
  hub.control('desk', 'start', writer);
  await installation.change({ desk: { ...desk, parameters: ['lamp,B', 'text,S', 'copy,S'] } });
  await hub.reload();
  await t.throwsAsync(() => installation.change({ desk: { type: 'dumy' } }).then(() => hub.reload()));
  const { file } = hub.rules()[0]!;
  hub.control('store', 'stop', writer);
  await noted(installation, ({ address, after }) => address === 'store' && after === 'stop');
  const lines = readAudit(installation).slice(1).map(reported);
  t.deepEqual(lines.slice(0, 5), [
    ['rule', 'spec', 'copies', null, 'off', `a rule of ${file}`],
    ['connection', 'spec', 'desk', null, 'restart', ''],
    ['connection', 'spec', 'desk', null, 'stop', ''],
    ['connection', 'spec', 'desk', null, 'start', ''],
    ['reload', 'flow files', '', null, 'reloaded', 'connections: 1 changed'],
  ]);
  t.like(lines[5], { 0: 'reload', 1: 'flow files', 4: 'refused' });
  t.regex(String(lines[5]![5]), /unknown type "dumy"|dumy/);
  t.deepEqual(lines.slice(6), [['connection', 'spec', 'store', null, 'stop', '']]);
});

test('a start records how the previous run ended, and numbers continue', async (t) => {
  const installation = await install(t, { desk });
  await (await installation.start()).stop();
  await noted(installation, ({ kind }) => kind === 'stop');
  const hub = await installation.start();
  const { n, cause } = await noted(installation, ({ n, kind }) => n > 1 && kind === 'start');
  t.is(n, 3);
  t.regex(cause, /^it had ended cleanly at \d{4}-\S+Z$/);
  t.true(Math.abs(Date.parse(/\S+Z$/.exec(cause)![0]) - Date.now()) < 60_000);
  await hub.stop();
});
