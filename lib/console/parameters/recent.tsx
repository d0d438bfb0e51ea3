// The most recently changed parameters, with the old and new value and the author of each change.

import { createMemo, For, Show } from 'solid-js';
import { writerName } from '../../model/writer.ts';
import type { RecentChanges } from '../../wire/http/parameter-shapes.ts';
import { usePolled } from '../hub/polled.ts';
import { formatCount } from '../language/language.ts';
import { linkTo, route, setParams } from '../page/route.ts';
import { formatDate, formatSpan, formatValue, useNow } from '../page/units.ts';
import { GuardedFor } from '../parts/guarded.tsx';
import { sortOf, TableHead } from '../parts/table-head.tsx';
import { Breakable } from '../parts/text.tsx';
import { Fault, isSought } from '../parts/view-bar.tsx';

/** The periods from which the user can choose, in seconds, each with its name. */
const periods = [
  [60, 'minute'],
  [600, '10 minutes'],
  [3600, 'hour'],
  [86_400, 'day'],
] as const;
const refreshMs = 2000;

const orders = [
  ['time', 'time'],
  ['parameter', 'name'],
  ['value', 'value'],
  ['by', 'author'],
] as const;
const titles = new Map([
  ['Ago', 'time'],
  ['Parameter', 'parameter'],
  ['Value', 'value'],
  ['By', 'by'],
]);
type Change = RecentChanges['changes'][number];
const collator = new Intl.Collator('en', { numeric: true });
const comparisons: Readonly<Record<(typeof orders)[number][0], (one: Change, other: Change) => number>> = {
  time: (one, other) => Date.parse(other.time) - Date.parse(one.time),
  parameter: (one, other) => collator.compare(one.parameter, other.parameter),
  value: ({ value: one }, { value: other }) =>
    typeof one === 'number' && typeof other === 'number' ? one - other : collator.compare(String(one), String(other)),
  by: (one, other) => collator.compare(writerName(one.origin), writerName(other.origin)),
};

export function Recent() {
  const now = useNow();
  const seconds = () => periods.find(([one]) => String(one) === route().params.seconds)?.[0] ?? periods[0][0];
  const path = createMemo(() => `/hub/changes?seconds=${seconds()}`);
  const { data, error } = usePolled<RecentChanges>(path, 'parameter', refreshMs);
  const all = () => (Array.isArray(data()?.changes) ? data()!.changes : []);
  const authors = createMemo(() => [...new Set(all().map(({ origin }) => writerName(origin)))].sort());
  const order = () => sortOf(orders.map(([one]) => one));
  const shown = createMemo(() => {
    const { by, value: wanted = '' } = route().params;
    const found = all().filter(
      ({ parameter, origin, value }) =>
        isSought(parameter, origin?.name, String(value)) &&
        (!by || writerName(origin) === by) &&
        formatValue(value).toLowerCase().includes(wanted.toLowerCase()),
    );
    found.sort(comparisons[order().by]);
    return order().isReversed ? found.reverse() : found;
  });
  return (
    <>
      <p class="periods">
        Changed in the last{' '}
        <select
          aria-label="Period"
          value={seconds()}
          onChange={({ currentTarget: { value } }) =>
            setParams({ seconds: value === String(periods[0][0]) ? undefined : value })
          }
        >
          <For each={periods}>{([value, text]) => <option value={value}>{text}</option>}</For>
        </select>
        <label>
          by{' '}
          <select
            aria-label="Author"
            onChange={({ currentTarget: { value } }) => setParams({ by: value || undefined })}
          >
            <option value="">anyone</option>
            <For each={authors()}>
              {(name) => (
                <option value={name} selected={name === route().params.by}>
                  {name}
                </option>
              )}
            </For>
          </select>
        </label>
        <label>
          value{' '}
          <input
            type="search"
            class="short"
            aria-label="Value"
            value={route().params.value ?? ''}
            onInput={({ currentTarget: { value } }) => setParams({ value: value || undefined })}
          />
        </label>
        <label>
          sort by{' '}
          <select
            aria-label="Sort by"
            value={order().by}
            onChange={({ currentTarget: { value } }) => setParams({ sort: value === 'time' ? undefined : value })}
          >
            <For each={orders}>{([value, text]) => <option value={value}>{text}</option>}</For>
          </select>
        </label>
        <span class="count" role="status">
          {formatCount(shown().length)}
        </span>
      </p>
      <Fault text={error()} />
      <div class="scroll" tabIndex={-1}>
        <Show when={shown().length > 0}>
          <table class="cards">
            <TableHead columns={[...titles.keys()]} sorts={titles} />
            <tbody>
              <GuardedFor each={shown()} as="tr">
                {(change) => (
                  <tr data-recent={change.parameter} class="live">
                    <td class="nowrap" title={formatDate(change.time)}>
                      {formatSpan(Math.max(0, now() - Date.parse(change.time)))}
                    </td>
                    <td class="wide">
                      <a class="mono" href={linkTo('parameters', { ...route().params, address: change.parameter })}>
                        <Breakable text={change.parameter} />
                      </a>
                    </td>
                    <td data-label="value">
                      <Show when={change.previous !== undefined}>
                        <span class="muted">{formatValue(change.previous)} →</span>{' '}
                      </Show>
                      <strong>{`${formatValue(change.value)} ${change.unit ?? ''}`.trim()}</strong>
                    </td>
                    <td data-label="by">
                      {change.origin.kind === 'restored' ? 'restored by' : change.origin.kind}{' '}
                      <strong>
                        <Breakable text={writerName(change.origin)} />
                      </strong>
                    </td>
                  </tr>
                )}
              </GuardedFor>
            </tbody>
          </table>
        </Show>
        <Show when={data() && shown().length === 0}>
          <p class="note">Apart from meters, nothing has changed in this period.</p>
        </Show>
        <Show when={data()?.isComplete === false}>
          <p class="note">Not all changed parameters are shown. To see the rest, choose a shorter period.</p>
        </Show>
      </div>
    </>
  );
}
