// The parameters that have changed last, with old and new value and the author of each change.

import { createMemo, For, Show } from 'solid-js';
import { writerName } from '../../model/writer.ts';
import type { RecentChanges } from '../../wire/http/parameter-shapes.ts';
import { usePolled } from '../hub/polled.ts';
import { linkTo, route, setParams } from '../page/route.ts';
import { formatCount, formatDate, formatSpan, formatValue, useNow } from '../page/units.ts';
import { GuardedFor } from '../parts/guarded.tsx';
import { TableHead } from '../parts/table-head.tsx';
import { Breakable } from '../parts/text.tsx';
import { Fault } from '../parts/view-bar.tsx';

/** The periods to choose from, in seconds. */
const periods = [
  [60, 'minute'],
  [600, '10 minutes'],
  [3600, 'hour'],
  [86_400, 'day'],
] as const;
const refreshMs = 2000;

export function Recent() {
  const now = useNow();
  const seconds = () => periods.find(([one]) => String(one) === route().params.seconds)?.[0] ?? periods[0][0];
  const path = createMemo(() => `/hub/changes?seconds=${seconds()}`);
  const { data, error } = usePolled<RecentChanges>(path, 'parameter', refreshMs);
  const search = () => (route().params.search ?? '').toLowerCase();
  const shown = createMemo(() => {
    const { changes = [] } = data() ?? {};
    return changes.filter(
      ({ parameter, origin, value }) =>
        search() === '' || `${parameter} ${origin?.name} ${value}`.toLowerCase().includes(search()),
    );
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
        </select>{' '}
        <span class="count" role="status">
          {formatCount(shown().length)}
        </span>
      </p>
      <Fault text={error()} />
      <div class="scroll" tabIndex={-1}>
        <Show when={shown().length > 0}>
          <table class="cards">
            <TableHead columns={['Ago', 'Parameter', 'Value', 'By']} />
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
          <p class="note">Nothing has changed in this period, apart from meters.</p>
        </Show>
        <Show when={data()?.isComplete === false}>
          <p class="note">More parameters have changed: choose a shorter period.</p>
        </Show>
      </div>
    </>
  );
}
