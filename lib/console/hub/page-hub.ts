// The console's only link to the hub that served the console: the values in the views, and whether they are stale.
import { type Accessor, createEffect, createSignal, onCleanup } from 'solid-js';
import { connect, type HubState, type Stream, type Value } from '../../client/index.ts';
import { readableRate } from './live-cells.ts';
import { pageName } from './page-name.ts';
import { seenAs } from './page-request.ts';

/** Timeouts with which the page shows within three seconds that the hub is hanging or that a cable is unplugged. */
const times = { pingAfterMs: 1000, answerWithinMs: 1500 };

const seeing = seenAs === '' ? '' : `&see-as=${encodeURIComponent(seenAs)}`;
/** The console's client. A view that needs more updates than a person can read uses `hub.select({ rate })`. */
export const hub = connect(`/ws?name=${pageName}${seeing}`, { rate: readableRate, ...times });

/** Converts a stream to a signal that lasts as long as the console. */
function held<T>(stream: Stream<T>, first: T): Accessor<T> {
  const [value, setValue] = createSignal(first);
  stream.subscribe((next) => setValue(() => next));
  return value;
}

/** Whether the values on the page may be outdated. */
export const isStale = held(hub.stale$, true);
export const linkState = held<HubState>(hub.state$, hub.state);

/**
 * Follows the value of the parameter at an address until the calling reactive scope is disposed. The value is undefined while it is
 * unknown.
 */
export function createLiveValue(address: Accessor<string | undefined>): Accessor<Value | undefined> {
  const [value, setValue] = createSignal<Value | undefined>();
  createEffect(() => {
    const wanted = address();
    setValue(undefined);
    if (!wanted) return;
    const subscription = hub.param(wanted).subscribe({ next: (next) => setValue(() => next), error: () => {} });
    onCleanup(() => subscription.unsubscribe());
  });
  return value;
}
