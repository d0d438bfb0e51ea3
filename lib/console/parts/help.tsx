// The help dialog: which keys do what.

import { For } from 'solid-js';
import { areKeysOn, switchKeys } from '../page/page-keys.ts';
import { offeredViews } from '../views.ts';

export function Help(props: { readonly ref: (dialog: HTMLDialogElement) => void }) {
  const others = [
    ['/', 'search'],
    ['?', 'this help'],
    ['↑ ↓', 'through a list; Enter opens, Esc closes'],
  ] as const;
  return (
    <dialog ref={props.ref} aria-labelledby="help-title">
      <h2 id="help-title">Keys</h2>
      <dl class="keys">
        <For each={offeredViews()}>
          {({ key, title }) => (
            <div>
              <dt>
                <kbd>g</kbd> <kbd>{key}</kbd>
              </dt>
              <dd>{title}</dd>
            </div>
          )}
        </For>
        <For each={others}>
          {([key, meaning]) => (
            <div>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{meaning}</dd>
            </div>
          )}
        </For>
      </dl>
      <label>
        <input type="checkbox" checked={areKeysOn()} onChange={(event) => switchKeys(event.currentTarget.checked)} />{' '}
        single keys are on
      </label>
      <form method="dialog" class="actions">
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}
