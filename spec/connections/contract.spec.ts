// The contract of connection.ts, held against every connection type of the registry.

import { resolve } from 'node:path';
import test from 'ava';
import { firstValueFrom, ReplaySubject, timeout, VirtualAction, VirtualTimeScheduler } from 'rxjs';
import type { ConnectionEvent, ConnectionType } from '../../lib/connections/connection.ts';
import { connectionTypes } from '../../lib/connections/registry.ts';
import { connectionSchema } from '../../lib/flow/check/schema.ts';
import { parameterIdMistake } from '../../lib/model/address.ts';
import { connect } from '../support/connection.ts';
import { createFolder } from '../support/folder.ts';

/** Settings with which each type declares at least one parameter, where it declares any. */
const samples: Record<string, object> = {
  'rest-api': { port: 0 },
  dummy: { parameters: ['lamp,B,true', 'go,T'] },
  keyboard: { inputKeys: ['ctrl-f1'], outputKeys: ['ctrl-f2'] },
  timer: { timers: [50], pulses: [{ interval: 50 }, { enabled: false }] },
  'xml-file-output': { filename: 'out.xml', template: '<status lamp="$Lamp">$Title</status>' },
  'virtual-core': {
    inputs: { mic: 'desk/mic' },
    outputs: { live: { type: 'B', expression: 'mic' }, on: { block: 'TON', in: true, pt: 50 } },
  },
};

/** What each type sets within 200 ms after all that can be written has been written, in the order of the alphabet. */
const setsOf: Record<string, string[]> = {
  timer: ['pulse/1', 'timer/1/trigger'],
  'virtual-core': ['on', 'on/elapsed'],
};

const accesses = ['read-only', 'write-only', 'read-write'];

for (const [name, type] of connectionTypes) {
  const sample = samples[name];

  test(`${name}: has a sample here`, (t) => t.truthy(sample));

  test(`${name}: refuses unknown settings and describes each of its own`, (t) => {
    const result = connectionSchema(type).safeParse({ type: name, ...sample, 'no-such-setting': 1 });
    t.like(result.error?.issues[0], { code: 'unrecognized_keys', keys: ['no-such-setting'] });
    for (const [setting, schema] of Object.entries(type.settingsSchema.shape)) t.truthy(schema.description, setting);
  });

  test(`${name}: declares valid parameters, the same each time, and leaves its settings alone`, (t) => {
    const config = connectionSchema(type).parse({ type: name, ...sample });
    const before = structuredClone(JSON.stringify(config));
    const [first, second] = [type.parameters(config, resolve), type.parameters(config, resolve)];
    t.deepEqual(JSON.stringify(first), JSON.stringify(second));
    t.is(JSON.stringify(config), before);
    t.is(new Set(first.map(({ id }) => id)).size, first.length);
    for (const { id, access } of first) {
      t.is(parameterIdMistake(id), undefined);
      t.true(accesses.includes(access));
    }
  });

  if (type.isGateway) continue;

  test(`${name}: is cold, tells its state first, stops when unsubscribed and starts again`, async (t) => {
    const connection = connect(type as ConnectionType, sample!, { folder: await createFolder(t) });
    for (let round = 0; round < 2; round++) {
      const first = await firstValueFrom(connection.events$.pipe(timeout(10_000)));
      t.true('state' in first && ['running', 'degraded'].includes(first.state));
    }
    await Promise.all(connection.unfinished);
    t.deepEqual(
      connection.lines.filter(({ level }) => level === 'error'),
      [],
    );
  });

  test(`${name}: sets only parameters that it declares`, async (t) => {
    const scheduler = new VirtualTimeScheduler(VirtualAction, 200);
    const connection = connect(type as ConnectionType, sample!, { scheduler, folder: await createFolder(t) });
    const ids = new Set(connection.parameters.map(({ id }) => id));
    const sets = new Set<string>();
    const events$ = new ReplaySubject<ConnectionEvent>();
    const subscription = connection.events$.subscribe(events$);
    events$.subscribe({
      next: (event) => 'set' in event && sets.add(event.set),
      error: (error) => t.fail(String(error)),
    });
    for (const { id, access } of connection.parameters) if (access !== 'read-only') connection.write(id, '1');
    scheduler.flush();
    await firstValueFrom(events$.pipe(timeout(10_000)));
    subscription.unsubscribe();
    await Promise.all(connection.unfinished);
    t.deepEqual([...sets].sort(), setsOf[name] ?? []);
    for (const id of sets) t.true(ids.has(id), id);
  });
}
