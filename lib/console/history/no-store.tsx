// The notes of views that need a store, if there is none or it cannot answer.

import { Show } from 'solid-js';
import { messageOf } from '../../model/error.ts';
import { Refusal } from '../hub/page-request.ts';
import { Fault } from '../parts/view-bar.tsx';

/** Whether the request failed because the hub has no store. */
export function isWithoutStore(fault: unknown): boolean {
  return fault instanceof Refusal && fault.code === 'not-found';
}

/** Shows why an answer is missing: `what` without a store, otherwise the error. Without a fault, it shows nothing. */
export function StoreFault(props: { readonly fault: unknown; readonly what: string }) {
  return (
    <Show when={props.fault !== undefined}>
      <Show when={isWithoutStore(props.fault)} fallback={<Fault text={messageOf(props.fault)} />}>
        <p class="note">
          {props.what}: this hub has no store. Add one to a flow file:{' '}
          <code>
            store: {'{'} type: 'store', folder: './data' {'}'}
          </code>
        </p>
      </Show>
    </Show>
  );
}
