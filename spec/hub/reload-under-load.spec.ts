// Saves while 5,000 changes a second run: nothing is lost or doubled in untouched rules, a delay that was begun fires on
// time, clients stay connected.

import { monitorEventLoopDelay } from 'node:perf_hooks';
import test from 'ava';
import { firstValueFrom } from 'rxjs';
import { filter, map, skip, timeout } from 'rxjs/operators';
import { deadlineMs } from '../support/deadline.ts';
import { api } from '../support/hub.ts';
import { startReloading } from '../support/reload.ts';
import { openClient } from '../support/sockets/socket.ts';
import { slowness } from '../support/system/machine.ts';
import '../support/own-process.ts';

const changesPerSecond = 5000;
const delayMs = 3000;
/** How late a timer may fire, beside the time for which this process itself could not go on. */
const toleranceMs = 250;

const untouched = {
  connections: {
    api,
    clock: { type: 'timer', timers: [delayMs] },
    desk: { type: 'dummy', parameters: ['in,I', 'once,I', 'twice,I', 'fired,T', 'begin,T', 'ended,T'] },
  },
  rules: [
    { from: 'desk/in', to: 'desk/once' },
    { from: 'desk/once', map: 'value * 2', to: ['desk/twice', 'lamps/level'] },
    { from: 'clock/timer/1/trigger', to: 'desk/fired' },
    { from: 'desk/begin', pipe: [{ delay: delayMs }], to: 'desk/ended' },
  ],
};
const changing = (map: string, ...more: string[]) => ({
  connections: { lamps: { type: 'dummy', parameters: ['level,I', 'lit,I', 'step', ...more] } },
  rules: [{ name: 'lit', from: 'lamps/level', map, to: 'lamps/lit' }],
});

test('saves under load only affect their own changes', async (t) => {
  const { hub, write, value, save, lines } = await startReloading(
    t,
    { 'a-untouched.json5': untouched, 'b-changing.json5': changing('value') },
    { watch: true },
  );
  const client = await openClient(t, hub.port, '?filter=^desk/twice$');
  const heard: Record<string, number[]> = { once: [], twice: [], level: [] };
  hub.changes$.subscribe(({ parameter, value }) => {
    heard[parameter.address.replace(/^(desk|lamps)\//, '')]?.push(Number(value));
  });

  const timeOf = (address: string) =>
    firstValueFrom(
      hub.changes$.pipe(
        filter(({ parameter }) => parameter.address === address),
        map(() => performance.now() - start),
        timeout(deadlineMs),
      ),
    );
  const fired = Promise.all([timeOf('desk/fired'), timeOf('desk/ended')]);
  const start = performance.now();
  write('clock/timer/1/start', true);
  write('desk/begin', true);
  const own = monitorEventLoopDelay();
  own.enable();
  let sent = 0;
  const load = setInterval(() => {
    const due = ((performance.now() - start) * changesPerSecond) / 1000;
    while (sent < due) write('desk/in', ++sent);
  }, 1);
  t.teardown(() => clearInterval(load));

  /** Waits for further changes, which come at a known pace. */
  const moreChanges = (count: number) =>
    firstValueFrom(
      hub.changes$.pipe(
        filter(({ parameter }) => parameter.address === 'desk/in'),
        skip(count - 1),
        timeout({ first: deadlineMs }),
      ),
    );
  const effects: number[] = [];
  const saveUntil = async (content: unknown, isEffective: () => boolean) => {
    await save('b-changing.json5', content);
    const savedAt = performance.now();
    await firstValueFrom(hub.changes$.pipe(filter(isEffective), timeout({ first: deadlineMs })));
    effects.push(performance.now() - savedAt);
  };
  const refusals = () => lines.filter(({ message }) => message.startsWith('reload failed')).length;
  for (let round = 1; round <= 2; round++) {
    await moreChanges(0.2 * changesPerSecond);
    await saveUntil(changing('-value', `new${round},B,true`), () => value(`lamps/new${round}`) === true);
    await moreChanges(0.1 * changesPerSecond);
    t.is(value('lamps/lit'), -(value('lamps/level') as number));
    await moreChanges(0.1 * changesPerSecond);
    const seen = refusals();
    await saveUntil('{ connections: ', () => refusals() > seen);
    await moreChanges(0.1 * changesPerSecond);
    await saveUntil(changing('value + 1', 'mended,B,true'), () => value('lamps/mended') === true);
    await moreChanges(0.1 * changesPerSecond);
    t.is(value('lamps/lit'), (value('lamps/level') as number) + 1);
  }
  const firedAfterMs = await fired;
  clearInterval(load);
  t.log(`${sent} changes; saves took effect after ${effects.map(Math.round).join(', ')} ms`);
  t.log(`timer and delay of ${delayMs} ms fired after ${firedAfterMs.map(Math.round).join(', ')} ms`);
  const ownMs = own.max / 1e6;
  for (const timeMs of firedAfterMs) {
    t.true(timeMs > delayMs - toleranceMs, `${timeMs} ms`);
    t.true(timeMs < delayMs + toleranceMs + 3 * ownMs, `${timeMs} ms, where the process stood still for ${ownMs} ms`);
  }
  t.true(Math.min(...effects) < 300 * slowness());
  t.true(sent >= 0.9 * (delayMs / 1000) * changesPerSecond, `${sent}`);
  const expected = Array.from({ length: sent }, (_, index) => index + 1);
  const doubled = expected.map((number) => 2 * number);
  t.true(isEqual(heard.once!, expected));
  t.true(isEqual(heard.twice!, doubled));
  t.true(isEqual(heard.level!, doubled), 'the changed connection misses nothing either');
  const received = await client.frames.until(({ v }) => Number(v) === 2 * sent);
  t.true(
    isEqual(
      received.map(({ v }) => Number(v)),
      doubled,
    ),
    `${received.length} of ${sent}`,
  );
  t.true(client.isOpen);
});

function isEqual(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((number, index) => number === b[index]);
}
