// What a snapshot saved beside what is now, value by value.

import { createSignal, Show } from 'solid-js';
import type { Snapshot } from '../../wire/http/past.ts';
import { usePolled } from '../hub/polled.ts';
import { linkTo } from '../page/route.ts';
import { formatCount, formatValue } from '../page/units.ts';
import { GuardedFor } from '../parts/guarded.tsx';
import { TableHead } from '../parts/table-head.tsx';
import { Fault } from '../parts/view-bar.tsx';

/** The page draws no more rows at a time. */
const mostRows = 500;

export function Comparison(props: { readonly selection: string; readonly name: string }) {
  const [isAll, setAll] = createSignal(false);
  const path = () => `/hub/snapshots/${encodeURIComponent(props.selection)}/${encodeURIComponent(props.name)}`;
  const { data, error } = usePolled<Snapshot>(path, 'parameter');
  const values = () => data()?.values ?? [];
  const differing = () => values().filter(({ differs }) => differs);
  const shown = () => (isAll() ? values() : differing());
  return (
    <div class="comparison">
      <Fault text={error()} />
      <Show when={data()}>
        <p>
          {formatCount(differing().length)} of {formatCount(values().length)} differ.{' '}
          <label>
            <input type="checkbox" checked={isAll()} onChange={(event) => setAll(event.currentTarget.checked)} /> all of
            them
          </label>
        </p>
        <Show when={shown().length > 0}>
          <table>
            <TableHead columns={['Parameter', 'Saved', 'Now']} />
            <tbody>
              <GuardedFor each={shown().slice(0, mostRows)} as="tr">
                {(value) => (
                  <tr classList={{ differs: value.differs }}>
                    <td>
                      <a class="mono" href={linkTo('parameters', { address: value.parameter })}>
                        {value.parameter}
                      </a>
                    </td>
                    <td>
                      <strong>{formatValue(value.value)}</strong>
                    </td>
                    <td>
                      {value.present === undefined ? <span class="muted">unknown</span> : formatValue(value.present)}
                    </td>
                  </tr>
                )}
              </GuardedFor>
            </tbody>
          </table>
        </Show>
        <Show when={shown().length > mostRows}>
          <p class="muted">The first {formatCount(mostRows)} are shown.</p>
        </Show>
      </Show>
    </div>
  );
}
