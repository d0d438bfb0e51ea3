// One keyboard connection by itself, with all that it tells.

import type { ExecutionContext } from 'ava';
import { type Observable, ReplaySubject, type SchedulerLike } from 'rxjs';
import { filter, map, take, toArray } from 'rxjs/operators';
import type { ConnectionEvent, ConnectionType } from '../../../lib/connections/connection.ts';
import { keyboard } from '../../../lib/connections/keyboard/keyboard.ts';
import { type ConnectionUnderTest, connect } from '../connection.ts';
import { first } from '../deadline.ts';

export interface RunningKeyboard extends ConnectionUnderTest {
  /** All that fired so far. */
  readonly fired: readonly string[];
  stop(): Promise<void>;
}

/** Starts it; it is stopped when the test ends. */
export function startKeyboard(t: ExecutionContext, settings: object, scheduler?: SchedulerLike): RunningKeyboard {
  const connection = connect(keyboard as ConnectionType, settings, scheduler && { scheduler });
  const events$ = new ReplaySubject<ConnectionEvent>();
  const fired: string[] = [];
  const subscription = connection.events$.subscribe(events$);
  events$.subscribe({ next: (event) => 'set' in event && fired.push(event.set), error: (error) => t.fail(error) });
  const stop = async () => {
    subscription.unsubscribe();
    await Promise.all(connection.unfinished);
  };
  t.teardown(stop);
  return { ...connection, events$, fired, stop };
}

/** The next values, so many of them. */
export function next<T>(source$: Observable<T>, count: number): Promise<T[]> {
  return first(source$.pipe(take(count), toArray()), `${count} emissions`);
}

/** What the connection says when it tells this state for the n-th time: its reason. */
export async function state({ events$ }: RunningKeyboard, name: string, nth = 1): Promise<string> {
  const reasons$ = events$.pipe(
    filter((event) => 'state' in event && event.state === name),
    map((event) => ('reason' in event ? event.reason : '')),
  );
  return (await next(reasons$, nth)).at(-1)!;
}

/** Waits until so many triggers have fired. */
export function fires({ events$ }: RunningKeyboard, count: number): Promise<unknown> {
  return next(events$.pipe(filter((event) => 'set' in event)), count);
}
