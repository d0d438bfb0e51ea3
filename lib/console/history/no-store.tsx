// The notes in views that need a store, shown if there is no store or the store cannot respond.

import { Show } from 'solid-js';
import { messageOf } from '../../model/error.ts';
import { Refusal } from '../hub/page-request.ts';
import { Fault } from '../parts/view-bar.tsx';

/** Returns whether the request failed because the hub has no store. */
export function isWithoutStore(fault: unknown): boolean {
  return fault instanceof Refusal && fault.code === 'not-found';
}

/** Shows why a response is missing: `what` if there is no store, otherwise the error. Without a fault, nothing is shown. */
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
