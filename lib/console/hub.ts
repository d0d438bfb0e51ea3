// The one link of the console to the hub that served it, and what of it the views show: parameters and whether they are old.

import { type Accessor, createEffect, createSignal, onCleanup } from 'solid-js';
import { connect, type HubState, type Stream, type Value } from '../client/index.ts';

/** People read no faster; what a view needs more often it asks for by `hub.select({ rate })`. */
export const readableRate = 10;

/** A hub that hangs, or a cable that is out, is seen within three seconds. */
const times = { pingAfterMs: 1000, answerWithinMs: 1500 };

export const hub = connect(undefined, { rate: readableRate, ...times });

/** The newest value of a stream that lives as long as the console. */
function held<T>(stream: Stream<T>, first: T): Accessor<T> {
  const [value, setValue] = createSignal(first);
  stream.subscribe((next) => setValue(() => next));
  return value;
}

/** Whether what is shown may be old. */
export const isStale = held(hub.stale$, true);
export const linkState = held<HubState>(hub.state$, hub.state);

/** The live value of the parameter whose address `address` gives, for the scope that calls it; undefined: unknown. */
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
