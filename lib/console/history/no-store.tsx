// The notes that views show if they need a store and the hub has no store, or the store cannot respond.

import { Show } from 'solid-js';
import { messageOf } from '../../model/error.ts';
import { Refusal } from '../hub/page-request.ts';
import { t } from '../language/language.ts';
import { Fault } from '../parts/view-bar.tsx';

/** Returns whether the request failed because the hub has no store. */
export function isWithoutStore(fault: unknown): boolean {
  return fault instanceof Refusal && fault.code === 'not-found';
}

/** Shows the reason why a response is missing: `what` if the hub has no store, otherwise the error. Shows nothing if there is no error. */
export function StoreFault(props: { readonly fault: unknown; readonly what: string }) {
  return (
    <Show when={props.fault !== undefined}>
      <Show when={isWithoutStore(props.fault)} fallback={<Fault text={messageOf(props.fault)} />}>
        <p class="note">
          {t('{1}: this hub has no store. Add one to a flow file:', props.what)}{' '}
          <code>
            store: {'{'} type: 'store', folder: './data' {'}'}
          </code>
        </p>
      </Show>
    </Show>
  );
}
