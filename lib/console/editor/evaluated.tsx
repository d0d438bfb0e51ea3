// The current value of an expression, or its error, shown directly below the expression.

import { createEffect, createSignal, on, onCleanup, Show } from 'solid-js';
import { messageOf } from '../../model/error.ts';
import type { Evaluated as Answer } from '../../wire/http/editing-shapes.ts';
import { postJson } from '../hub/page-request.ts';
import { useDelay } from '../page/page-timers.ts';
import { formatValue } from '../page/units.ts';

/** The sources of a rule, as written in `from`. */
export type Scope = string | readonly string[] | Readonly<Record<string, string>> | undefined;

const pauseMs = 300;
const againMs = 1000;

/**
 * Shows the value of an expression. The value is requested from the hub while it is visible, because it may come from parameters that the
 * expression looks up.
 */
export function Evaluated(props: { readonly expression: string; readonly scope: Scope; expand(text: string): string }) {
  const [answer, setAnswer] = createSignal<Answer>();
  const [failure, setFailure] = createSignal('');
  const pause = useDelay();
  let isOver = false;
  onCleanup(() => {
    isOver = true;
  });
  const body = () => {
    const from = expandScope(props.scope, props.expand);
    return { expression: props.expand(props.expression), ...(from !== undefined && { from }) };
  };
  const ask = async () => {
    const asked = JSON.stringify(body());
    try {
      const found = await postJson<Answer>('/hub/evaluate', body());
      if (isOver || asked !== JSON.stringify(body())) return;
      setAnswer(found);
      setFailure('');
    } catch (error) {
      if (isOver || asked !== JSON.stringify(body())) return;
      setAnswer(undefined);
      setFailure(messageOf(error));
    }
    if (!document.hidden && failure() === '') pause.start(againMs, ask);
  };
  createEffect(
    on(
      () => JSON.stringify(body()),
      () => {
        pause.stop();
        if (props.expression.trim() !== '') pause.start(pauseMs, ask);
      },
    ),
  );
  return (
    <p class="result">
      <Show when={!failure()} fallback={<span class="error">{failure()}</span>}>
        <Show when={answer()}>
          {(known) => (
            <>
              = <strong class="mono">{known().value === null ? '…' : formatValue(known().value)}</strong>{' '}
              <small>{known().reason || 'now'}</small>
            </>
          )}
        </Show>
      </Show>
    </p>
  );
}

/** Returns the sources of a rule with variables in their addresses replaced. Addresses that are still empty are omitted. */
function expandScope(scope: Scope, expand: (text: string) => string): Scope {
  if (scope === undefined || typeof scope === 'string') return scope ? expand(scope) : undefined;
  if (Array.isArray(scope)) return scope.filter(Boolean).map(expand);
  return Object.fromEntries(
    Object.entries(scope as Readonly<Record<string, string>>).flatMap(([name, address]) =>
      address ? [[name, expand(address)]] : [],
    ),
  );
}
