// Connections that operators stop, start and restart while the hub runs.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { firstValueFrom, Observable } from 'rxjs';
import { filter, timeout } from 'rxjs/operators';
import { z } from 'zod';
import { type ConnectionEvent, defineConnectionType } from '../../../../lib/connections/connection.ts';
import { HubError } from '../../../../lib/model/error.ts';
import type { Origin } from '../../../../lib/model/parameter.ts';
import { connectionTypes } from '../../../support/connection-types.ts';
import { deadlineMs } from '../../../support/deadline.ts';
import { isConnected, startTestHub, statusOf } from '../../../support/hub.ts';
import { startReloading } from '../../../support/reload.ts';

const ann: Origin = { kind: 'client', name: 'api 10.0.0.7' };
const timer = { type: 'timer', timers: [5], pulses: [{ interval: 3_600_000 }], statusParameter: true };

test('a stopped connection does nothing and keeps its parameters; started, it works again', async (t) => {
  const desk = { type: 'dummy', parameters: ['a,I,1', 'b,T'], description: 'the desk' };
  const { hub, write, value, lines, folder } = await startReloading(t, {
    'a.json5': { connections: { clock: timer, desk } },
  });
  const file = join(folder, 'a.json5');
  const [first, second] = hub.connections();
  t.like(first, { id: 'clock', state: 'running', enabled: true, parameters: 4, file });
  t.like(second, { id: 'desk', state: 'running', description: 'the desk', enabled: true, parameters: 2, file });
  const fired = () =>
    firstValueFrom(
      hub.changes$.pipe(
        filter(({ parameter }) => parameter.address === 'clock/timer/1/trigger'),
        timeout(deadlineMs),
      ),
    );
  const stopped = hub.control('clock', 'stop', ann);
  t.like(stopped, { state: 'disabled', reason: 'stopped by api 10.0.0.7', enabled: true, parameters: 4 });
  t.true(stopped.since >= first!.since);
  t.false(value('clock/_status/connected'));
  t.true(lines.some(({ message }) => message === 'connection "clock" is disabled: stopped by api 10.0.0.7'));
  write('clock/timer/1/start', 0); // its own timer would fire it at once
  t.is(hub.find('clock/timer/1/trigger')!.lastChange, undefined);
  t.like(hub.control('clock', 'start', ann), { state: 'running', reason: '' });
  t.true(value('clock/_status/connected'));
  const firing = fired();
  write('clock/timer/1/start', 1);
  await firing;
  write('clock/timer/1/start', 60_000);
  t.like(hub.control('clock', 'restart', ann), { state: 'running' });
  t.is(value('desk/a'), 1);
  t.like(hub.control('desk', 'restart', ann), { state: 'running', parameters: 2 });
  t.is(value('desk/a'), 1);
});

test('a connection that fails to stop is stopped anyway, and its fault is logged', async (t) => {
  const faulty = defineConnectionType({
    type: 'faulty',
    isExternal: false,
    settingsSchema: z.object({}),
    parameters: () => [],
    run: () =>
      new Observable<ConnectionEvent>((subscriber) => {
        subscriber.next({ state: 'running' });
        return () => {
          throw new Error('its socket is gone');
        };
      }),
  });
  const types = new Map([...connectionTypes, ['faulty', faulty]]);
  const hub = await startTestHub(t, { connections: { desk: { type: 'faulty' } } }, { types });
  t.like(hub.control('desk', 'stop', ann), { state: 'disabled' });
  await hub.logged(/^failed to stop: .*its socket is gone/s);
  await hub.stop();
});

test('a connection disabled by its settings can be started; the status still shows its settings', async (t) => {
  const { hub } = await startReloading(t, { 'a.json5': { connections: { clock: { ...timer, enabled: false } } } });
  t.like(statusOf(hub, 'clock'), { state: 'disabled', reason: '', enabled: false });
  t.like(hub.control('clock', 'start', ann), { state: 'running', enabled: false });
  await hub.reload();
  t.like(statusOf(hub, 'clock'), { state: 'running', enabled: false });
});

test('a stopped connection stays stopped over reloads, until one changes it', async (t) => {
  const connections = { clock: timer };
  const { hub, reload, value } = await startReloading(t, { 'a.json5': { connections } });
  hub.control('clock', 'stop', ann);
  await reload('a.json5', { connections: { ...connections, desk: { type: 'dummy', parameters: ['a'] } } });
  t.like(statusOf(hub, 'clock'), { state: 'disabled', reason: 'stopped by api 10.0.0.7' });
  await reload('a.json5', { connections: { clock: { ...timer, timers: [6] } } });
  t.like(statusOf(hub, 'clock'), { state: 'running', reason: '' });
  t.true(value('clock/_status/connected'));
});

test('a file being written is finished before its connection restarts, and no value set in the meantime is lost', async (t) => {
  const out = { type: 'xml-file-output', filename: 'out.xml', template: '<a>$A</a>', statusParameter: true };
  const { hub, write, folder } = await startReloading(t, { 'a.json5': { connections: { out } } });
  write('out/A', 'one');
  hub.control('out', 'restart', ann);
  write('out/A', 'two');
  await isConnected(hub, 'out', true);
  await hub.stop();
  t.is(await readFile(join(folder, 'out.xml'), 'utf8'), '<a>two</a>');
});

test('an action that the state does not allow is refused, and changes nothing', async (t) => {
  const out = { type: 'xml-file-output', filename: 'out.xml', template: '<a>$A</a>' };
  const connections = { clock: timer, one: out, other: { ...out, enabled: false } };
  const { hub } = await startReloading(t, { 'a.json5': { connections } });
  const refuse = (
    ...[id, action]: Parameters<typeof hub.control> extends [infer I, infer A, ...unknown[]] ? [I, A] : never
  ) => t.throws(() => hub.control(id, action, ann), { instanceOf: HubError })!;
  t.like(refuse('clokc', 'stop'), { code: 'not-found', message: 'unknown connection "clokc", did you mean "clock"?' });
  t.like(refuse('clock', 'start'), {
    code: 'conflict',
    message: 'start: expected a disabled connection, but "clock" is running',
  });
  t.like(refuse('other', 'stop'), {
    code: 'conflict',
    message: 'stop: expected an enabled connection, but "other" is disabled',
  });
  t.like(refuse('other', 'restart'), { code: 'conflict' });
  t.regex(
    refuse('other', 'start').message,
    /^start: expected exclusive use of file .*out\.xml, but "one" also uses it$/,
  );
  t.is(statusOf(hub, 'clock').state, 'running');
  t.is(statusOf(hub, 'other').state, 'disabled');
  hub.control('one', 'stop', ann);
  t.like(hub.control('other', 'start', ann), { id: 'other' });
  t.is(refuse('one', 'start').code, 'conflict');
});
