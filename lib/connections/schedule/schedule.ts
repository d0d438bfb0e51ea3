// Schedule: parameters that follow the clocks of a time zone. An entry is open from one time to another, or fires at times.

import { Observable, type Subscriber, type Subscription } from 'rxjs';
import type { z } from 'zod';
import { wallClock } from '../../model/time/wall-clock.ts';
import { type ConnectionContext, type ConnectionEvent, defineConnectionType } from '../connection.ts';
import { createEntry, type Entry, lookAgainMs } from './entry.ts';
import { settingsSchema } from './settings.ts';

/** How long it trusts that nobody sets the clock of the machine, where nobody says that somebody has. */
const trustMs = 60_000;
/** How late an entry fires at most, and how far the clock may go back without all that follows coming again. */
const graceMs = 60_000;

type Settings = z.output<typeof settingsSchema>;

export const schedule = defineConnectionType({
  type: 'schedule',
  isExternal: false,
  settingsSchema,
  parameters: ({ entries }) =>
    Object.entries(entries).map(([id, { at }]) => ({ id, type: at === undefined ? 'B' : 'T', access: 'read-only' })),
  run: (context) => new Observable((subscriber) => runSchedule(context, subscriber)),
});

interface Running {
  readonly name: string;
  readonly entry: Entry;
  nextAt: number;
  lookAt: number;
}

function runSchedule(
  { settings, scheduler, timeOfDay, log, turn }: ConnectionContext<Settings>,
  subscriber: Subscriber<ConnectionEvent>,
): () => void {
  const every = Object.entries(settings.entries).map(
    ([name, entry]): Running => ({
      name,
      entry: createEntry(entry, settings.zone),
      nextAt: Infinity,
      lookAt: -Infinity,
    }),
  );
  const isState = ({ entry }: Running) => entry.isOpenAt !== undefined;
  const all = [...every.filter(isState), ...every.filter((one) => !isState(one))];
  /** What was told last: up to which time of day, and when that was. */
  let toldMs = timeOfDay();
  let toldAt = scheduler.now();
  const tellOne = ({ name, entry, nextAt }: Running, now: number) => {
    if (entry.isOpenAt !== undefined) subscriber.next({ set: name, value: entry.isOpenAt(now) });
    else if (entry.nextAfter(Math.max(toldMs, now - graceMs)) <= now) subscriber.next({ set: name, value: true });
    else if (nextAt <= now)
      log.warn({ entry: name }, `${name} did not fire: the machine slept, or its clock was set`, name);
  };
  const tell = (now: number) => {
    const isSetBack = now < toldMs;
    if (isSetBack) toldMs = now - (scheduler.now() - toldAt); // what has come since it was set back comes now
    for (const one of all) {
      if (one.lookAt > now && !isSetBack) continue;
      tellOne(one, now);
      one.nextAt = one.entry.nextAfter(now);
      one.lookAt = Math.min(one.nextAt, now + lookAgainMs);
    }
    toldMs = now;
    toldAt = scheduler.now();
  };
  let waiting: Subscription | undefined;
  const wait = (now: number) => {
    if (subscriber.closed) return;
    const nextAt = all.reduce((least, { lookAt }) => Math.min(least, lookAt), Infinity);
    waiting = scheduler.schedule(wake, Math.min(trustMs, Math.max(1, Math.ceil(nextAt - now))));
  };
  const wake = () => {
    const now = timeOfDay();
    if (now > toldMs || now < toldMs - graceMs) turn(() => tell(now));
    wait(now);
  };
  subscriber.next({ state: 'running' });
  turn(() => tell(toldMs));
  wait(toldMs);
  const unwatch = wallClock.watch(() => {
    waiting?.unsubscribe();
    waiting = scheduler.schedule(wake);
  });
  return () => {
    unwatch();
    waiting?.unsubscribe();
  };
}
