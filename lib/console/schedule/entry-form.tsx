// The form for an entry of a schedule: days, times, dates and exceptions. Changes made by dragging in the week appear in the form, and
// changes typed in the form appear in the week, before anything is saved.

import { createEffect, For, on, onCleanup, Show } from 'solid-js';
import { createItemDraft } from '../editor/item-form.tsx';
import { type Bar, barsOf, dayMinutes, dayNames, readDays, readTime, writeDays, writeTime } from './week.ts';

/** The times of a schedule entry while the user is changing them. */
export interface Times {
  /** The bars in the week that represent the entry's times. */
  readonly bars: readonly Bar[];
  readonly from: number;
  readonly to: number;
  /** Returns the times after the ends of a bar were moved by a number of minutes. */
  moved(from: number, to: number): Times;
}

const timesOf = (days: ReadonlySet<number>, from: number, to: number): Times => ({
  ...{ from, to, bars: barsOf(days, from, to) },
  moved(left, right) {
    const length = to > from ? to - from : to + dayMinutes - from;
    const start = Math.min(Math.max(0, from + left), dayMinutes - 1);
    const end = Math.min(Math.max(start + 1, from + length + right), start + dayMinutes);
    return timesOf(days, start, end > dayMinutes ? end - dayMinutes : end);
  },
});

export default function EntryForm(props: {
  /** The entry's address, such as `opening/office`, or `opening/` for a new entry. */
  readonly address: string;
  readonly isNew: boolean;
  readonly times: Times | undefined;
  setTimes(times: Times | undefined): void;
  saved(address: string | undefined): void;
  close(): void;
}) {
  const at = props.address.indexOf('/');
  const connection = props.address.slice(0, at);
  const name = props.isNew ? undefined : props.address.slice(at + 1);
  const { setting, set, whyNot, Form } = createItemDraft(
    () => ({ connection, list: 'entries', name }),
    (saved) => props.saved(saved === undefined ? undefined : `${connection}/${saved}`),
  );
  const isFiring = () => setting('at') !== undefined;
  const everyDay = () => setting('days') === undefined && setting('dates') === undefined;
  const days = () => (everyDay() ? new Set(dayNames.keys()) : readDays(setting('days')));
  const from = () => readTime(setting('from') ?? '00:00');
  const to = () => readTime(setting('to') ?? '24:00');
  createEffect(() => {
    const [start, end] = [from(), to()];
    const isShown = whyNot() === '' && !isFiring() && start !== undefined && end !== undefined;
    props.setTimes(isShown ? timesOf(days(), start, end) : undefined);
  });
  createEffect(
    on(
      () => props.times,
      (times) => {
        if (times === undefined || isFiring()) return;
        if (times.from !== from()) set({ from: writeTime(times.from) });
        if (times.to !== to()) set({ to: writeTime(times.to) });
      },
      { defer: true },
    ),
  );
  onCleanup(() => props.setTimes(undefined));
  const toggle = (day: number) => {
    const chosen = new Set(days());
    if (!chosen.delete(day)) chosen.add(day);
    const isAll = chosen.size === dayNames.length && setting('dates') === undefined;
    set({ days: isAll ? undefined : writeDays(chosen) });
  };
  const listText = (key: string) => ([setting(key) ?? []].flat() as unknown[]).join(', ');
  const setList = (key: string, text: string) => {
    const list = text.split(/[,\s]+/).filter(Boolean);
    set({ [key]: list.length === 0 ? undefined : list });
  };
  const List = (field: { readonly key: string; readonly label: string; readonly placeholder: string }) => (
    <label>
      <span>{field.label}</span>
      <input
        type="text"
        class="mono"
        placeholder={field.placeholder}
        value={listText(field.key)}
        onChange={({ currentTarget: { value } }) => setList(field.key, value)}
      />
    </label>
  );
  const Time = (field: { readonly key: 'from' | 'to'; readonly label: string; readonly usual: string }) => (
    <label>
      <span>{field.label}</span>
      <input
        type="text"
        class="short mono"
        placeholder={field.usual}
        pattern="[0-9]{2}:[0-9]{2}(:[0-9]{2})?"
        inputMode="numeric"
        value={String(setting(field.key) ?? '')}
        onInput={({ currentTarget: { value } }) => set({ [field.key]: value.trim() || undefined })}
      />
    </label>
  );
  return (
    <Form title={name ?? `New entry in ${connection}`} close={props.close}>
      <Show when={props.isNew}>
        <label class="check">
          <input
            type="checkbox"
            checked={isFiring()}
            onChange={({ currentTarget: { checked } }) =>
              set(checked ? { at: ['12:00'], from: undefined, to: undefined } : { at: undefined })
            }
          />{' '}
          fires at set times instead of opening and closing
        </label>
      </Show>
      <div role="group" aria-label="Days" class="day-boxes">
        <For each={dayNames}>
          {(one, day) => (
            <button type="button" aria-pressed={days().has(day())} onClick={() => toggle(day())}>
              {one}
            </button>
          )}
        </For>
      </div>
      <Show
        when={isFiring()}
        fallback={
          <p class="pair">
            <Time key="from" label="Opens" usual="00:00" />
            <Time key="to" label="Closes" usual="24:00" />
          </p>
        }
      >
        <List key="at" label="Fires at" placeholder="06:00, *:30" />
      </Show>
      <List key="except" label="Except" placeholder="12-24..12-26, 2027-05-01" />
      <List key="dates" label="Also on" placeholder="2026-12-31" />
    </Form>
  );
}
