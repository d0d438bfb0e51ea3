// The connection type `schedule`: parameters that follow the clock in a time zone. An entry is either open from one time to another, or
// fires at set times.
import { Observable, type Subscriber, type Subscription } from 'rxjs';
import type { z } from 'zod';
import { dayMs } from '../../model/time/iso-time.ts';
import { wallClock } from '../../model/time/wall-clock.ts';
import { localTime, momentOf } from '../../model/time/zone-time.ts';
import { type ConnectionContext, type ConnectionEvent, defineConnectionType } from '../connection.ts';
import type { Agenda, AgendaEntry } from '../hub-port.ts';
import { type EntrySettings, type IsDay, settingsSchema } from './settings.ts';

/**
 * The maximum time after which the schedule checks the machine's clock again, in milliseconds. The system may set the clock without notice.
 */
const trustMs = 60_000;
/**
 * The maximum delay with which an entry still fires, and the maximum time by which the clock may go back without repeating entries, in
 * milliseconds.
 */
const graceMs = 60_000;

type Settings = z.output<typeof settingsSchema>;

export const schedule = defineConnectionType({
  type: 'schedule',
  isExternal: false,
  settingsSchema,
  parameters: ({ entries }) =>
    Object.entries(entries).map(([id, { at }]) => ({ id, type: at === undefined ? 'B' : 'T', access: 'read-only' })),
  run: (context, hub) =>
    new Observable((subscriber) => {
      const stop = runSchedule(context, subscriber);
      hub?.agendas.set(context.id, createAgenda(context.settings));
      return () => {
        hub?.agendas.delete(context.id);
        stop();
      };
    }),
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
  /** The time of day up to which entries have been reported, and the time at which they were reported, in milliseconds. */
  let reportedMs = timeOfDay();
  let reportedAt = scheduler.now();
  const reportOne = ({ name, entry, nextAt }: Running, now: number) => {
    if (entry.isOpenAt !== undefined) subscriber.next({ set: name, value: entry.isOpenAt(now) });
    else if (entry.nextAfter(Math.max(reportedMs, now - graceMs)) <= now) subscriber.next({ set: name, value: true });
    else if (nextAt <= now)
      log.warn({ entry: name }, `${name} did not fire: the machine was asleep, or its clock was changed`, name);
  };
  const announce = (now: number) => {
    const isSetBack = now < reportedMs;
    if (isSetBack) reportedMs = now - (scheduler.now() - reportedAt); // reports the entries that are due again since the clock was set back
    for (const one of all) {
      if (one.lookAt > now && !isSetBack) continue;
      reportOne(one, now);
      one.nextAt = one.entry.nextAfter(now);
      one.lookAt = Math.min(one.nextAt, now + lookAgainMs);
    }
    reportedMs = now;
    reportedAt = scheduler.now();
  };
  let waiting: Subscription | undefined;
  const wait = (now: number) => {
    if (subscriber.closed) return;
    const nextAt = all.reduce((least, { lookAt }) => Math.min(least, lookAt), Infinity);
    waiting = scheduler.schedule(wake, Math.min(trustMs, Math.max(1, Math.ceil(nextAt - now))));
  };
  const wake = () => {
    const now = timeOfDay();
    if (now > reportedMs || now < reportedMs - graceMs) turn(() => announce(now));
    wait(now);
  };
  subscriber.next({ state: 'running' });
  turn(() => announce(reportedMs));
  wait(reportedMs);
  const unwatch = wallClock.watch(() => {
    waiting?.unsubscribe();
    waiting = scheduler.schedule(wake);
  });
  return () => {
    unwatch();
    waiting?.unsubscribe();
  };
}

// The times at which an entry opens, closes or fires, in milliseconds since 1970

/** The number of days that are searched for the next time of an entry. */
const aheadDays = 8;
/** The time after which an entry without a next time is searched again, in milliseconds. */
const lookAgainMs = (aheadDays - 1) * dayMs;

interface Entry {
  /** Returns whether the entry is open at a time. Missing if the entry fires at set times. */
  isOpenAt?(timeMs: number): boolean;
  /** Returns the first time after `timeMs` at which the entry opens, closes or fires, or Infinity if there is none within the next week. */
  nextAfter(timeMs: number): number;
}

function createEntry(settings: EntrySettings, zone: string): Entry {
  const isDay = dayTest(settings);
  return settings.at === undefined ? createOpening(settings, isDay, zone) : createFiring(settings.at, isDay, zone);
}

function createFiring(times: readonly number[], isDay: IsDay, zone: string): Entry {
  const firstAfter = (day: number, timeMs: number): number => {
    let [low, high] = [0, times.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (momentOf(day * dayMs + times[middle]!, zone) > timeMs) high = middle;
      else low = middle + 1;
    }
    return low === times.length ? Infinity : momentOf(day * dayMs + times[low]!, zone);
  };
  return { nextAfter: (timeMs) => search(timeMs, zone, 0, (day) => (isDay(day) ? firstAfter(day, timeMs) : Infinity)) };
}

function createOpening({ from = 0, to = dayMs }: EntrySettings, isDay: IsDay, zone: string): Entry {
  const length = to > from ? to - from : to - from + dayMs;
  const opens = (day: number) => momentOf(day * dayMs + from, zone);
  const closes = (day: number) => momentOf(day * dayMs + from + length, zone);
  return {
    isOpenAt(timeMs) {
      const today = dayAt(timeMs, zone);
      // the period may have begun the day before, or before the clocks went back over midnight
      return [-1, 0, 1].some((more) => {
        const day = today + more;
        return isDay(day) && opens(day) <= timeMs && timeMs < closes(day);
      });
    },
    nextAfter: (timeMs) =>
      search(timeMs, zone, -1, (day) => {
        if (!isDay(day)) return Infinity;
        const opensAt = opens(day);
        const closesAt = closes(day);
        if (opensAt > timeMs) return opensAt;
        return closesAt > timeMs ? closesAt : Infinity;
      }),
  };
}

/**
 * Returns the earliest result of `momentOn`, starting `more` days from today. The search always includes tomorrow and then ends as soon as
 * a time has been found, because later days cannot have earlier times.
 */
function search(timeMs: number, zone: string, more: number, momentOn: (day: number) => number): number {
  const today = dayAt(timeMs, zone);
  let least = Infinity;
  for (let day = today + more; day <= today + aheadDays; day++) {
    least = Math.min(least, momentOn(day));
    if (least < Infinity && day > today) return least;
  }
  return least;
}

function dayTest(settings: EntrySettings): IsDay {
  const isMeant = meantTest(settings);
  return (day) => isMeant(day) && !settings.except.some((isDate) => isDate(day));
}

/** Returns a function that checks whether an entry applies on a day, ignoring the exceptions. */
function meantTest({ days, dates }: EntrySettings): IsDay {
  if (days === undefined && dates === undefined) return () => true;
  return (day) => (days?.(day) ?? false) || (dates?.some((isDate) => isDate(day)) ?? false);
}

function dayAt(timeMs: number, zone: string): number {
  return Math.floor(localTime(timeMs, zone).getTime() / dayMs);
}

// The agenda that people see

const weekDays = 7;
const minuteMs = 60_000;
const shownNext = 5;
const mostTries = 20;
const shownFires = 300;
/** The number of days from a Monday to 1 January 1970, which was a Thursday. */
const daysBeforeMonday = 3;

function createAgenda({ zone, entries }: Settings): Agenda {
  const all = Object.entries(entries).map(([name, settings]) => ({
    name,
    settings,
    entry: createEntry(settings, zone),
  }));
  return {
    zone,
    read(week, nowMs) {
      const today = dayAt(nowMs, zone);
      const monday = today - ((today + daysBeforeMonday) % weekDays) + week * weekDays;
      const days = Array.from({ length: weekDays }, (_, index) => monday + index);
      return {
        days: days.map((day) => new Date(day * dayMs).toISOString().slice(0, 10)),
        entries: all.map(({ name, settings, entry }): AgendaEntry => {
          const isDay = dayTest(settings);
          const isMeant = meantTest(settings);
          return {
            name,
            ...(settings.at === undefined
              ? { bars: barsOf(settings, (day) => isDay(monday + day)) }
              : { fires: firesOf(settings.at, (day) => isDay(monday + day)) }),
            except: days.flatMap((day, index) => (isMeant(day) && !isDay(day) ? [index] : [])),
            next: nextOf(entry, nowMs),
          };
        }),
      };
    },
  };
}

/** Returns the periods of the week in which an entry is open. A period that passes midnight is split into two. */
function barsOf({ from = 0, to = dayMs }: EntrySettings, isDay: IsDay): NonNullable<AgendaEntry['bars']> {
  const end = to > from ? to : to + dayMs;
  return Array.from({ length: weekDays + 1 }, (_, index) => index - 1).flatMap((day) => {
    if (!isDay(day)) return [];
    const parts = [
      { day, from, to: Math.min(end, dayMs) },
      { day: day + 1, from: 0, to: end - dayMs },
    ];
    return parts
      .filter((part) => part.day >= 0 && part.day < weekDays && part.to > part.from)
      .map((part) => ({ day: part.day, from: part.from / minuteMs, to: part.to / minuteMs }));
  });
}

function firesOf(times: readonly number[], isDay: IsDay): NonNullable<AgendaEntry['fires']> {
  const fires: { day: number; at: number }[] = [];
  for (let day = 0; day < weekDays; day++)
    if (isDay(day)) for (const at of times) if (fires.length < shownFires) fires.push({ day, at: at / minuteMs });
  return fires;
}

/** Returns the next times at which an entry opens, closes or fires. An entry that closes and opens at the same moment stays open. */
function nextOf(entry: Entry, nowMs: number): AgendaEntry['next'] {
  const next: { timeMs: number; isOpen?: boolean }[] = [];
  let wasOpen = entry.isOpenAt?.(nowMs);
  for (let timeMs = nowMs, tries = 0; next.length < shownNext && tries < mostTries; tries++) {
    timeMs = entry.nextAfter(timeMs);
    if (timeMs === Infinity) break;
    const isOpen = entry.isOpenAt?.(timeMs);
    if (isOpen === undefined) next.push({ timeMs });
    else if (isOpen !== wasOpen) next.push({ timeMs, isOpen });
    wasOpen = isOpen;
  }
  return next;
}
