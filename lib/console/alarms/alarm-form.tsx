// The form for an alarm: its cause, how long the cause has to last, its priority and its text.

import { For, Show } from 'solid-js';
import { createItemDraft } from '../editor/item-form.tsx';
import { createLiveValue } from '../hub/page-hub.ts';
import { formatValue } from '../page/units.ts';
import { AddressField } from '../parts/address-input.tsx';

const priorities = [1, 2, 3, 4, 5, 6, 7, 8, 9];
const usualPriority = 3;

export default function AlarmForm(props: {
  /** The alarm's address, such as `alarm/silence`, or `alarm/` for a new alarm. */
  readonly address: string;
  readonly isNew: boolean;
  saved(address: string | undefined): void;
  close(): void;
}) {
  const at = props.address.indexOf('/');
  const connection = props.address.slice(0, at);
  const name = props.isNew ? undefined : props.address.slice(at + 1);
  const { setting, set, Form } = createItemDraft(
    () => ({ connection, list: 'alarms', name }),
    (saved) => props.saved(saved === undefined ? undefined : `${connection}/${saved}`),
  );
  const when = () => String(setting('when') ?? '');
  const present = createLiveValue(() => when() || undefined);
  const textOf = (key: string) => String(setting(key) ?? '');
  return (
    <Form title={name ?? `New alarm in ${connection}`} close={props.close}>
      <div class="labelled">
        <span>
          Raised when{' '}
          <Show when={present() !== undefined}>
            <small>now {formatValue(present())}</small>
          </Show>
        </span>
        <AddressField
          label="Raised when"
          placeholder="a parameter of type B"
          address={when()}
          choose={(address) => set({ when: address || undefined })}
        />
      </div>
      <p class="pair">
        <label>
          <span>is</span>
          <select
            value={String(setting('is') ?? true)}
            onChange={({ currentTarget: { value } }) => set({ is: value === 'true' ? undefined : false })}
          >
            <option value="true">true</option>
            <option value="false">false</option>
          </select>
        </label>
        <label>
          <span>for at least</span>
          <input
            type="text"
            class="mono"
            placeholder="0, or 10s"
            value={textOf('delay')}
            onInput={({ currentTarget: { value } }) => set({ delay: value.trim() || undefined })}
          />
        </label>
      </p>
      <label>
        <span>Priority</span>
        <select
          value={textOf('priority') || String(usualPriority)}
          onChange={({ currentTarget: { value } }) =>
            set({ priority: Number(value) === usualPriority ? undefined : Number(value) })
          }
        >
          <For each={priorities}>
            {(one) => (
              <option value={one} selected={(setting('priority') ?? usualPriority) === one}>
                {one}
                {one === 1 ? ', most urgent' : one === 9 ? ', least urgent' : ''}
              </option>
            )}
          </For>
        </select>
      </label>
      <label>
        <span>Text</span>
        <input
          type="text"
          autocomplete="off"
          placeholder={name}
          value={textOf('text')}
          onInput={({ currentTarget: { value } }) => set({ text: value.trim() || undefined })}
        />
      </label>
    </Form>
  );
}
