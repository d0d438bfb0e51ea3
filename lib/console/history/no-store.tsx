// What views say that need a store where there is none, or when it cannot answer.

import { Show } from 'solid-js';
import { messageOf } from '../../model/error.ts';
import { Refusal } from '../hub/page-request.ts';
import { Fault } from '../parts/view-bar.tsx';

/** Whether the hub has nothing that could tell of earlier times. */
export function isWithoutStore(fault: unknown): boolean {
  return fault instanceof Refusal && fault.code === 'not-found';
}

/** Says why there is no answer: `what` is not kept, or something else went wrong. Without a fault it is nothing. */
export function StoreFault(props: { readonly fault: unknown; readonly what: string }) {
  return (
    <Show when={props.fault !== undefined}>
      <Show when={isWithoutStore(props.fault)} fallback={<Fault text={messageOf(props.fault)} />}>
        <p class="note">
          {props.what}: this hub has no store. A connection such as{' '}
          <code>
            store: {'{'} type: 'store', folder: './data' {'}'}
          </code>{' '}
          in a flow file gives it one.
        </p>
      </Show>
    </Show>
  );
}
