// Each connection is started once and stopped once, whichever settings its type drops after declaration.

import test, { type ExecutionContext } from 'ava';
import { merge, Observable } from 'rxjs';
import { ignoreElements, tap } from 'rxjs/operators';
import { z } from 'zod';
import {
  type AnyConnectionType,
  type ConnectionEvent,
  defineConnectionType,
  defineGatewayType,
} from '../../../../lib/connections/connection.ts';
import { HubError } from '../../../../lib/model/error.ts';
import type { Origin, ParameterDeclaration } from '../../../../lib/model/parameter.ts';
import { startReloading } from '../../../support/reload.ts';

const client: Origin = { kind: 'client', name: 'spec' };

/** Starts a hub with a connection that records its starts, its stops and its inputs. Number 13 cannot start. */
async function start(
  t: ExecutionContext,
  kind: 'connection' | 'gateway',
  unfinished: readonly Promise<unknown>[] = [],
) {
  const notes: string[] = [];
  const work = [...unfinished];
  const settingsSchema = z.strictObject({ number: z.number(), parameters: z.array(z.string()) });
  const parametersOf = (ids: readonly string[]) =>
    ids.map((id): ParameterDeclaration => ({ id, type: 'F', access: 'read-write', defaultValue: 0.5 }));
  const run = (number: number, onStop: () => void, inbox$: Observable<unknown>) =>
    merge(
      inbox$.pipe(
        tap((value) => notes.push(`heard ${value}`)),
        ignoreElements(),
      ),
      new Observable<ConnectionEvent>((subscriber) => {
        if (number === 13) return subscriber.error(new HubError('cannot-start', 'expected another number, got 13'));
        notes.push(`start ${number}`);
        subscriber.next({ state: 'running' });
        return () => {
          notes.push(`stop ${number}`);
          onStop();
        };
      }),
    );
  const connection = defineConnectionType({
    type: 'noted',
    isExternal: true,
    settingsSchema,
    declaring: ['parameters'],
    parameters: ({ parameters }) => parametersOf(parameters),
    claims: () => [{ kind: 'device', name: 'the device', scope: '*' }],
    run({ settings, inbox, finish }) {
      return run(settings.number, () => finish(work.shift() ?? Promise.resolve()), inbox('level'));
    },
  });
  const gateway = defineGatewayType({
    type: 'noted',
    isExternal: true,
    settingsSchema,
    declaring: ['parameters'],
    parameters: ({ parameters }) => parametersOf(parameters),
    run: ({ settings, inbox }) => run(settings.number, () => {}, inbox('level')),
  });
  const flow = (number: number, ...parameters: string[]) => ({
    connections: { desk: { type: 'noted', number, parameters } },
  });
  const type: AnyConnectionType = kind === 'gateway' ? gateway : connection;
  const types = new Map([['noted', type]]);
  const reloading = await startReloading(t, { 'a.json5': flow(1, 'level', 'old') }, { types });
  return { ...reloading, flow, takeNotes: () => notes.splice(0) };
}

for (const kind of ['connection', 'gateway'] as const)
  test(`a ${kind} that drops settings starts once, also at a reload, and stops once`, async (t) => {
    const { hub, reload, write, value, flow, takeNotes } = await start(t, kind);
    t.deepEqual(takeNotes(), ['start 1']);
    write('desk/level', 0.75);
    t.deepEqual(takeNotes(), ['heard 0.75']);
    await reload('a.json5', flow(2, 'level', 'new'));
    await hub.reload();
    t.deepEqual(takeNotes(), ['stop 1', 'start 2']);
    t.deepEqual([...hub.parameters()].map(({ address }) => address).sort(), ['desk/level', 'desk/new']);
    t.is(value('desk/level'), 0.75);
    await hub.stop();
    t.deepEqual(takeNotes(), ['stop 2']);
  });

test('a gateway whose reload is refused restarts as before, with its parameters', async (t) => {
  const { hub, reload, write, value, flow, takeNotes } = await start(t, 'gateway');
  write('desk/level', 0.75);
  write('desk/old', 0.25);
  takeNotes();
  await t.throwsAsync(reload('a.json5', flow(13, 'level')), {
    message: /a\.json5:\d+:\d+: connections\.desk: expected another number/,
  });
  t.deepEqual(takeNotes(), ['stop 1', 'start 1']);
  t.is(value('desk/level'), 0.75);
  t.is(value('desk/old'), 0.5, 'it was taken out, and has its default value again');
  t.is(hub.connections()[0]!.parameters, 2);
  await reload('a.json5', flow(2, 'level', 'old'));
  t.deepEqual(takeNotes(), ['stop 1', 'start 2']);
  t.is(value('desk/level'), 0.75);
});

test('writes are not lost while a connection that drops settings waits for its predecessor', async (t) => {
  const finished = Promise.withResolvers<void>();
  const { hub, write, takeNotes } = await start(t, 'connection', [finished.promise]);
  hub.control('desk', 'restart', client);
  write('desk/level', 0.25);
  t.deepEqual(takeNotes(), ['start 1', 'stop 1']);
  finished.resolve();
  await hub.logged(/^connection "desk" is running$/, 2);
  t.deepEqual(takeNotes(), ['heard 0.25', 'start 1']);
});

test('the latest 1,024 writes to each parameter of a waiting connection are held, and the log says so', async (t) => {
  const finished = Promise.withResolvers<void>();
  const { hub, write, takeNotes } = await start(t, 'connection', [finished.promise]);
  hub.control('desk', 'restart', client);
  takeNotes();
  for (let count = 1; count <= 1026; count++) write('desk/level', count);
  const sentence = 'level: more than 1,024 writes were waiting for the connection to start; the oldest one was dropped';
  t.is(await hub.logged(/writes were waiting/), sentence);
  finished.resolve();
  await hub.logged(/^connection "desk" is running$/, 2);
  const heard = takeNotes().filter((note) => note.startsWith('heard'));
  t.deepEqual([heard.length, heard[0], heard.at(-1)], [1024, 'heard 3', 'heard 1026']);
});
