// The console's one link to the hub that served it: the parameters that views show, and whether they are old.
import { type Accessor, createEffect, createSignal, onCleanup } from 'solid-js';
import { connect, type HubState, type Stream, type Value } from '../../client/index.ts';

/** People read no faster. A view that needs values more often asks with `hub.select({ rate })`. */
export const readableRate = 10;

/** With these times people see within three seconds that a hub hangs or a cable is out. */
const times = { pingAfterMs: 1000, answerWithinMs: 1500 };

export const hub = connect(undefined, { rate: readableRate, ...times });

/** Follows a stream for as long as the console runs. */
function held<T>(stream: Stream<T>, first: T): Accessor<T> {
  const [value, setValue] = createSignal(first);
  stream.subscribe((next) => setValue(() => next));
  return value;
}

/** Whether the values on the page may be old. */
export const isStale = held(hub.stale$, true);
export const linkState = held<HubState>(hub.state$, hub.state);

/** Follows the parameter of the address for the scope that calls it; undefined: its value is unknown. */
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
