// Parts of a page that stand alone: when one fails, it says so in its place, all others stand, and it comes back by itself.

import { type Accessor, createEffect, ErrorBoundary, For, type JSX, on, onMount } from 'solid-js';
import { Dynamic } from 'solid-js/web';
import { messageOf } from '../../model/error.ts';
import { useDelay } from '../page/page-timers.ts';

/** A part that failed is drawn anew after this long, if nothing says earlier that it may work. */
const retryMs = 10_000;

interface FaultProps {
  readonly error: unknown;
  readonly reset: () => void;
}

interface GuardedProps {
  readonly children: JSX.Element;
  /** What is drawn anew once this changes, such as with the next value. */
  readonly changed?: (() => unknown) | undefined;
  /** The element that stands in: of a table its row. Left out: `p`. */
  readonly as?: 'p' | 'tr' | 'li' | undefined;
  /** Draws what stands in; left out: a sentence. */
  readonly fault?: (props: FaultProps) => JSX.Element;
}

/** Draws what is within. A fault goes no further. */
export function Guarded(props: GuardedProps) {
  return (
    <ErrorBoundary
      fallback={(error: unknown, reset) => {
        const retrying = useDelay();
        onMount(() => {
          console.error(error);
          retrying.start(retryMs, reset);
        });
        createEffect(on(() => props.changed?.(), reset, { defer: true }));
        return props.fault?.({ error, reset }) ?? <Sentence as={props.as ?? 'p'} error={error} />;
      }}
    >
      {props.children}
    </ErrorBoundary>
  );
}

/** As `For`, with each item guarded: it is drawn anew when anything in it is another. */
export function GuardedFor<T>(props: {
  readonly each: readonly T[] | undefined;
  readonly as?: GuardedProps['as'];
  readonly fallback?: JSX.Element;
  readonly children: (item: T, index: Accessor<number>) => JSX.Element;
}) {
  return (
    <For each={props.each} fallback={props.fallback}>
      {(item, index) => (
        <Guarded as={props.as} changed={() => JSON.stringify(item)}>
          {props.children(item, index)}
        </Guarded>
      )}
    </For>
  );
}

function Sentence(props: { readonly as: 'p' | 'tr' | 'li'; readonly error: unknown }) {
  const text = () => `This cannot be shown: ${messageOf(props.error)}`;
  return (
    <Dynamic component={props.as} class="fault" role="alert" title={text()}>
      {props.as === 'tr' ? <td colSpan={99}>{text()}</td> : text()}
    </Dynamic>
  );
}
