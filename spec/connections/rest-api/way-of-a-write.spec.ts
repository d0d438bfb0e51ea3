// A plain write goes, from its socket until it is published, the way that the README of the room draws.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { api, startTestHub } from '../../support/hub.ts';
import { lib } from '../../support/repository/imports.ts';
import { traceCalls } from '../../support/repository/trace-calls.ts';
import { openClient } from '../../support/sockets/socket.ts';
import { openV1 } from '../../support/sockets/v1.ts';

const room = 'connections/rest-api';
const readme = await readFile(join(lib, room, 'README.md'), 'utf8');
const chapter = readme.split('### The way of a write')[1]!.split('\n### ')[0]!;
const pathOf = (name: string) => (name.startsWith('lib/') ? name.slice('lib/'.length) : `${room}/${name}`);

/** The numbered files of the diagram, and those of the table. */
const way = [...chapter.matchAll(/(\d+) {2}(\S+\.ts)/g)]
  .sort(([, one], [, other]) => Number(one) - Number(other))
  .map(([, , name]) => pathOf(name!));
const asked = [
  ...chapter
    .split('| file |')[1]!
    .split('| instead of |')[0]!
    .matchAll(/^\| (`.*?) \|/gm),
]
  .flatMap(([, names]) => [...names!.matchAll(/`(\S+\.ts)`/g)])
  .map(([, name]) => pathOf(name!));

/** These are asked in long rounds only, in one turn of 64, or a second after the hub has logged something. */
const seldom = [
  `${room}/pacing/processor-time.ts`,
  'graph/turn-timer.ts',
  'model/time/durations.ts',
  'model/log-gate.ts',
];
/** These read and write bytes, and hand nothing on. */
const transforming = [`${room}/sockets/plain/message.ts`, `${room}/sockets/plain/frame.ts`];

test.serial('a plain write passes through at most 13 files, each once, as the README draws it', async (t) => {
  const hub = await startTestHub(t, { connections: { api, desk: { type: 'dummy', parameters: ['level,F'] } } });
  const client = await openClient(t, hub.port);
  let value = 0;
  const write = async () => {
    value += 0.25;
    client.send({ p: 'desk/level', v: value });
    t.deepEqual(await client.next(), { p: 'desk/level', v: String(value) });
    await new Promise(setImmediate); // by then what runs at the end of the round has run as well
  };
  await write();
  const calls = await traceCalls(write);

  t.true(way.length > 0 && way.length <= 13, `${way.length} files`);
  const ran = [...new Set(calls.map(({ file }) => file))].filter((file) => !seldom.includes(file));
  const onTheWay = ran.filter((file) => !asked.includes(file));
  t.deepEqual(onTheWay, way, 'the files that run, in the order in which they come first');
  const others = ran.filter((file) => !way.includes(file));
  t.deepEqual(others.sort(), asked.filter((file) => !seldom.includes(file)).sort());

  /** The files on the stack of the last call that comes into a file from another one, the first caller first. */
  const stackOf = (file: string) => {
    const { callers } = calls.findLast((call) => call.file === file && ![undefined, file].includes(call.callers[0]))!;
    return [file, ...callers].reverse().filter((one, index, all) => one !== all[index - 1]);
  };
  const [toOutbox, toApps] = [stackOf(`${room}/sockets/plain/outbox.ts`), stackOf(way.at(-1)!)];
  const handedOn = way.filter((file) => !transforming.includes(file));
  t.deepEqual([...toOutbox, ...toApps.slice(1)], handedOn, 'each calls the next, and none comes twice');
});

test.serial('a set of patchbay.v1 passes through the files that the README names for it', async (t) => {
  const named = [...chapter.matchAll(/`(sockets\/v1\/\S+\.ts)`/g)].map(([, name]) => pathOf(name!));
  const hub = await startTestHub(t, { connections: { api, desk: { type: 'dummy', parameters: ['level,F'] } } });
  const client = await openV1(t, hub.port);
  await client.subscribe({ sub: 1, include: ['desk/*'] });
  let value = 0;
  const write = async () => {
    value += 0.25;
    client.send({ set: [['desk/level', value]] });
    await client.until(({ set }) => set !== undefined, 'the value');
    await new Promise(setImmediate);
  };
  await write();
  const ran = new Set((await traceCalls(write)).map(({ file }) => file));
  t.true(named.length > 0);
  t.deepEqual(
    named.filter((file) => !ran.has(file)),
    [],
  );
});
