// The dialog for switching a rule or connection off for an hour, until a given time, or permanently, with a reason.

import { createSignal, createUniqueId, Show } from 'solid-js';
import { messageOf } from '../../model/error.ts';
import { postJson } from '../hub/page-request.ts';
import { t } from '../language/language.ts';
import { formatDate } from '../page/units.ts';
import { type Override, overrideOf, overrides, switchRequest } from './overrides.ts';

const hourMs = 3_600_000;

type Lasting = 'hour' | 'time' | 'good';

interface SwitchOffProps extends Pick<Override, 'kind' | 'name' | 'file'> {
  /** The name of the rule or connection as shown on the page, for screen readers and the dialog's title. */
  readonly label: string;
  readonly disabled?: boolean;
  switched(): void;
}

export function SwitchOff(props: SwitchOffProps) {
  let dialog!: HTMLDialogElement;
  const id = createUniqueId();
  const [lasting, setLasting] = createSignal<Lasting>('hour');
  const [time, setTime] = createSignal('');
  const [reason, setReason] = createSignal('');
  const [failure, setFailure] = createSignal('');
  const open = () => {
    setTime(localTime(Date.now() + hourMs));
    setFailure('');
    dialog.showModal();
  };
  const until = () => {
    if (lasting() === 'good') return null;
    return new Date(lasting() === 'hour' ? Date.now() + hourMs : time()).toISOString();
  };
  const act = async () => {
    try {
      const [path, body] = switchRequest(props, false, { until: until(), reason: reason().trim() });
      await postJson(path, body);
      dialog.close();
    } catch (error) {
      setFailure(messageOf(error));
    }
    overrides.refresh();
    props.switched();
  };
  const Choice = (choice: { readonly value: Lasting; readonly label: string }) => (
    <label>
      <input
        type="radio"
        name={`lasting-${id}`}
        checked={lasting() === choice.value}
        onChange={() => setLasting(choice.value)}
      />{' '}
      {choice.label}
    </label>
  );
  return (
    <>
      <button
        type="button"
        disabled={props.disabled ?? false}
        onClick={open}
        aria-label={`Switch ${props.label} off for a while`}
      >
        Off for …
      </button>
      <dialog ref={dialog} aria-labelledby={id} class="switch-off">
        <h2 id={id}>Switch {props.label} off</h2>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void act();
          }}
        >
          <Choice value="hour" label="for an hour" />
          <Choice value="time" label="until" />
          <Show when={lasting() === 'time'}>
            <input
              type="datetime-local"
              aria-label="Until"
              required
              value={time()}
              onInput={(event) => setTime(event.currentTarget.value)}
            />
          </Show>
          <Choice value="good" label="until somebody switches it on again" />
          <label>
            Reason{' '}
            <input
              type="text"
              class="wide"
              maxLength={200}
              placeholder="visible to others"
              value={reason()}
              onInput={(event) => setReason(event.currentTarget.value)}
            />
          </label>
          <small>It stays off even if files are saved or the hub restarts.</small>
          <Show when={failure()}>
            <p role="alert" class="error">
              {failure()}
            </p>
          </Show>
          <p class="actions">
            <button type="button" onClick={() => dialog.close()}>
              Cancel
            </button>
            <button type="submit" class="cut">
              Switch off
            </button>
          </p>
        </form>
      </dialog>
    </>
  );
}

/** Formats a time in milliseconds since 1970 for a `datetime-local` input. */
function localTime(ms: number): string {
  const date = new Date(ms);
  return new Date(ms - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** Shows that a rule or connection is overridden: by whom, why, and until when. */
export function OverrideNote(props: Pick<Override, 'kind' | 'name'> & { readonly file?: string }) {
  return (
    <Show when={overrideOf(props.kind, props.name, props.file)}>
      {(found) => <small class="warning">{overrideText(found())}</small>}
    </Show>
  );
}

/** Describes an override: `off by api olivia until 29 Nov 2026, 23:00:00: lamp is being repaired`. */
export function overrideText({ isOn, by, reason, until, isLasting }: Override): string {
  const change = isLasting ? '' : t(', until its text changes or the hub restarts');
  const end = until === undefined ? change : ` ${t('until {1}', formatDate(until))}`;
  return `${t(isOn ? 'on by {1}' : 'off by {1}', by)}${end}${reason === '' ? '' : `: ${reason}`}`;
}
