// Error boundaries: a failed part of the page shows its error in place, recovers automatically, and does not affect other parts.

import { type Accessor, createEffect, ErrorBoundary, For, type JSX, on, onMount } from 'solid-js';
import { Dynamic } from 'solid-js/web';
import { messageOf } from '../../model/error.ts';
import { t } from '../language/language.ts';
import { useDelay } from '../page/page-timers.ts';

/** The time after which a failed part is drawn again, in milliseconds, if its data does not change earlier. */
const retryMs = 10_000;

interface FaultProps {
  readonly error: unknown;
  readonly reset: () => void;
}

interface GuardedProps {
  readonly children: JSX.Element;
  /** If the value returned by this function changes, a failed part is drawn again, for example on the next value of a parameter. */
  readonly changed?: (() => unknown) | undefined;
  /** The element that shows the error, such as a table row. The default is `p`. */
  readonly as?: 'p' | 'tr' | 'li' | undefined;
  /** Draws the error in place of the failed part. The default is a sentence. */
  readonly fault?: (props: FaultProps) => JSX.Element;
}

/** An error boundary: draws its children, and shows an error in them in place. */
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

/** Like Solid's `For`, but guards each item: a failed item is drawn again when its data changes. */
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
  const text = () => t('This cannot be shown: {1}', messageOf(props.error));
  return (
    <Dynamic component={props.as} class="fault" role="alert" title={text()}>
      {props.as === 'tr' ? <td colSpan={99}>{text()}</td> : text()}
    </Dynamic>
  );
}
