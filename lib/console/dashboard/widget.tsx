// What all widgets share: their properties, how they write, and how they say what is wrong.

import { createSignal, Show } from 'solid-js';
import type { SingleWidget, WidgetOf } from '../../dashboard/format.ts';
import { messageOf } from '../../model/error.ts';
import { hub } from '../hub/hub.ts';
import type { LiveParameter } from '../hub/live-cells.ts';
import type { LiveValues } from '../hub/live-values.ts';
import { useDelay } from '../page/timers.ts';

/** How long a widget shows that a write has failed. */
const failureMs = 5000;

export interface WidgetProps<Type extends SingleWidget['type']> {
  readonly widget: WidgetOf<Type>;
  readonly values: LiveValues;
}

/** Says that the parameter does not exist, or why the last write has failed. */
export function Trouble(props: {
  readonly parameter: LiveParameter;
  readonly values: LiveValues;
  readonly failure?: string;
}) {
  const text = () => props.failure || (props.values.isComplete() && !props.parameter.kind() ? 'no such parameter' : '');
  return (
    <Show when={text()}>
      <p class="trouble" role="alert">
        {text()}
      </p>
    </Show>
  );
}

export type Writes = ReturnType<typeof useWrites>;

/** Writes for a control, and tells for a while why the last write has failed. */
export function useWrites(address: string) {
  const [failure, setFailure] = createSignal('');
  const forgetting = useDelay();
  return {
    failure,
    fail(error: unknown) {
      setFailure(messageOf(error));
      forgetting.start(failureMs, () => setFailure(''));
    },
    send: (value: string | number | boolean) => hub.set(address, value),
  };
}
