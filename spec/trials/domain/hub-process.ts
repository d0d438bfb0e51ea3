// A hub in its own process, which the trial kills, stops and cuts off; it generates its own load.

import { openSync, writeSync } from 'node:fs';
import { startHub } from '../../../lib/hub/index.ts';
import { HubError, messageOf } from '../../../lib/model/error.ts';
import type { Origin } from '../../../lib/model/parameter.ts';
import type { Acknowledged, FromHub, HubTask, Look, ToHub } from './messages.ts';

const task = JSON.parse(process.argv[2]!) as HubTask;
const logFile = openSync(task.log, 'a');
const write = (_data: object, message: string) => void writeSync(logFile, `${new Date().toISOString()} ${message}\n`);
const log = { debug() {}, info: write, warn: write, error: write, child: () => log };
const client: Origin = { kind: 'client', name: `load ${task.place}` };
const everyMs = 20;
/** Several writes to the other hub are under way, as they would be of a dashboard. */
const ackEveryMs = 50;

const hub = await startHub({ paths: [task.flow], log });
const notify = (message: FromHub) => process.send?.(message);

// Firings, as `<term> <first ns> <last ns> <count>` of each round of the event loop, on the clock that all processes share.
const file = openSync(task.firings, 'a');
let firing: { term: number; first: bigint; last: bigint; count: number } | undefined;
const note = () => {
  if (firing !== undefined) writeSync(file, `${firing.term} ${firing.first} ${firing.last} ${firing.count}\n`);
  firing = undefined;
};
hub.changes$.subscribe(({ origin }) => {
  if (origin.kind !== 'rule' || origin.hub !== undefined) return;
  const now = process.hrtime.bigint();
  const term = hub.leadership.term?.number ?? -1;
  if (firing !== undefined && firing.term !== term) note();
  if (firing === undefined) {
    firing = { term, first: now, last: now, count: 0 };
    setImmediate(note);
  }
  firing.last = now;
  firing.count++;
});

let term: number | undefined;
let isPaused = false;
let value = task.from;
let next = 0;
let dueMs = performance.now();
const acknowledged: Acknowledged[] = [];
let underWay = 0;
let refusal: string | undefined;

setInterval(() => {
  if (hub.leadership.term?.number !== term) {
    term = hub.leadership.term?.number;
    notify({ reports: 'term', term, atMs: Number(process.hrtime.bigint() / 1_000_000n) });
  }
  const now = performance.now();
  if (isPaused || term === undefined) {
    dueMs = now;
    return;
  }
  dueMs = Math.max(dueMs, now - 1000); // what a stop has left out is not made up for
  for (; dueMs < now; dueMs += 1000 / task.rate) {
    if (hub.leadership.term === undefined || !writes(`${task.desk}/in/${next++ % task.inputs}`, ++value)) break;
  }
}, everyMs);

setInterval(async () => {
  const address = `${task.otherDesk}/ack/${task.place}`;
  const parameter = hub.find(address);
  if (isPaused || parameter?.remote === undefined) return;
  const written = ++value;
  underWay++;
  const [reported] = await hub.writeRemote(parameter.remote, [{ parameter, input: written }], client);
  underWay--;
  if (reported === written) acknowledged.push([address, written]);
  else refusal = messageOf(reported);
}, ackEveryMs);

setInterval(async () => {
  const { term: own } = hub.leadership;
  if (isPaused || own === undefined) return;
  const written = ++value;
  const address = `${task.desk}/own/${task.place}`;
  if (!writes(address, written)) return;
  underWay++;
  const isConfirmed = (await own.confirm?.()) ?? true;
  underWay--;
  if (isConfirmed) acknowledged.push([address, written]);
}, ackEveryMs);

process.on('message', ({ ask }: ToHub) => {
  if (ask === 'look') notify({ reports: 'look', look: look() });
  else isPaused = ask === 'pause';
});
process.on('disconnect', () => process.exit());
process.once('SIGTERM', () => void hub.stop().finally(() => process.exit()));
notify({ reports: 'ready' });

/** false: this hub finds at this moment that it owns nothing any more, as one that was stopped does when it goes on. */
function writes(address: string, written: number): boolean {
  try {
    hub.write(address, written, client);
    return true;
  } catch (error) {
    if (error instanceof HubError && error.code === 'unavailable') return false;
    throw error;
  }
}

function look(): Look {
  const own = [task.desk, task.otherDesk].map((desk) => `${desk}/`);
  const parameters = [...hub.parameters()].filter(({ address }) => own.some((desk) => address.startsWith(desk)));
  const stale = parameters.filter(({ remote }) => remote?.staleSince !== undefined).map(({ address }) => address);
  const remote = parameters.filter((parameter) => parameter.remote !== undefined).length;
  return {
    term: hub.leadership.term?.number,
    values: parameters.map(({ address, value }) => [address, value] as const),
    stale: stale.slice(0, 10),
    fresh: remote - stale.length,
    refusal,
    underWay,
    acknowledged: acknowledged.splice(0),
  };
}
