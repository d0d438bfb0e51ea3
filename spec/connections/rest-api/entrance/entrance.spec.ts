import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { asyncScheduler, firstValueFrom, type SchedulerAction, type SchedulerLike } from 'rxjs';
import { filter } from 'rxjs/operators';
import { Apps, openEntrance } from '../../../../lib/connections/rest-api/entrance/entrance.ts';
import { createLogRecorder } from '../../../support/connection.ts';
import { within } from '../../../support/deadline.ts';
import { createFolder } from '../../../support/folder.ts';
import { openWire, request, type Wire } from '../../../support/http.ts';
import { needs } from '../../../support/programs.ts';
import { makeCertificate } from '../../../support/system/certificate.ts';

needs('openssl');

const lookMs = 10;

/** An entrance that looks at its files all the time, by a clock that the test moves. */
async function startEntrance(t: ExecutionContext) {
  const folder = await createFolder(t);
  const clock = { now: 0 };
  const scheduler: SchedulerLike = {
    now: () => clock.now,
    schedule: <T>(work: (this: SchedulerAction<T>, state?: T) => void, _?: number, state?: T) =>
      asyncScheduler.schedule<T>(
        function (state) {
          work.call(Object.assign(Object.create(this), { schedule: (next?: T) => this.schedule(next, lookMs) }), state);
        },
        lookMs,
        state,
      ),
  };
  const log = createLogRecorder();
  const tls = { certFile: join(folder, 'hub.crt'), keyFile: join(folder, 'hub.key') };
  makeCertificate(folder, 'hub');
  const usedApps = new Set<number>();
  let count = 0;
  const entrance = openEntrance({
    bindIp: '127.0.0.1',
    port: 0,
    tls,
    log,
    scheduler,
    apps: new Apps(),
    furnish(app) {
      const index = count++;
      app.get('/', (response) => void response.end(String(index)));
      return () => usedApps.has(index);
    },
  });
  const looking = entrance.state$.subscribe();
  t.teardown(() => {
    looking.unsubscribe();
    entrance.shut();
    entrance.close();
  });
  return {
    clock,
    usedApps,
    /** Renews the certificate; resolves when new clients are shown it. */
    async renew() {
      const number = count;
      makeCertificate(folder, 'hub');
      await log.logged(/^tls: certificate renewed/, number);
    },
    look: () => within(firstValueFrom(entrance.state$.pipe(filter((_, index) => index === 2))), 'a look at the files'),
    open: () => openWire(t, entrance.port, 'any', { rejectUnauthorized: false }),
  };
}

async function appOf(wire: Wire): Promise<string> {
  wire.send(request('GET /'));
  return (await wire.answer()).text;
}

test('HTTPS: connections stay through seven renewals', async (t) => {
  const { renew, open } = await startEntrance(t);
  const wires = [await open()];
  for (let count = 1; count <= 7; count++) {
    await renew();
    wires.push(await open());
    t.deepEqual(await Promise.all(wires.map(appOf)), [...wires.keys()].map(String)); // so none of them is idle for long
  }
  await renew();
  await wires.shift()!.closed();
  t.deepEqual(await Promise.all(wires.map(appOf)), ['1', '2', '3', '4', '5', '6', '7']);
});

test('HTTPS: an hour after a renewal the earlier connections are closed, unless a WebSocket is among them', async (t) => {
  const { clock, usedApps, renew, open, look } = await startEntrance(t);
  const first = await open();
  await renew();
  const second = await open();
  usedApps.add(1);
  await renew();
  const third = await open();
  clock.now += 3_599_999;
  await look();
  t.deepEqual(await Promise.all([first, second, third].map(appOf)), ['0', '1', '2']);
  clock.now += 1;
  await first.closed();
  t.deepEqual(await Promise.all([second, third].map(appOf)), ['1', '2']);
});
