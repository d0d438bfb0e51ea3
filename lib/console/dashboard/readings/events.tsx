// The most recent changes of given parameters: first the changes that a store has recorded, and then those that arrive.

import { batch, createEffect, createSignal, For, on, onMount, Show } from 'solid-js';
import { lastPartOf, pathOf } from '../../../model/address.ts';
import { messageOf } from '../../../model/error.ts';
import type { EventList } from '../../../wire/http/past-shapes.ts';
import { isWithoutStore } from '../../history/no-store.tsx';
import { getJson, Refusal } from '../../hub/page-request.ts';
import { t } from '../../language/language.ts';
import { beginningOf, formatMoment } from '../../page/units.ts';
import { showValue } from '../showing.ts';
import { WidgetFault, WidgetName, type WidgetProps } from '../widget.tsx';

interface Row {
  readonly time: number;
  readonly name: string;
  readonly address: string;
  readonly value: string;
}

export function Events(props: WidgetProps<'events'>) {
  const { addresses, label, last } = props.widget;
  const parameters = addresses.map((address) => props.values.of(address));
  const [rows, setRows] = createSignal<readonly Row[]>([]);
  const [whyNoPast, setWhyNoPast] = createSignal('');
  const nameOf = (index: number) => parameters[index]!.about()?.label ?? lastPartOf(addresses[index]!);
  const rowOf = (index: number, time: number, value: Parameters<typeof showValue>[0]): Row => ({
    time,
    name: nameOf(index),
    address: addresses[index]!,
    value: parameters[index]!.kind()?.type === 'T' ? t('fired') : beginningOf(showValue(value)),
  });
  const add = (added: readonly Row[]) =>
    setRows((former) => [...added, ...former].sort((one, other) => other.time - one.time).slice(0, last));
  batch(() => {
    for (const [index, parameter] of parameters.entries())
      createEffect(on(parameter.moves, () => add([rowOf(index, Date.now(), parameter.value())]), { defer: true }));
  });
  onMount(async () => {
    const opened = Date.now();
    const past = await Promise.all(
      addresses.map((address) =>
        askPast(address).catch((fault: unknown) => {
          const isUnknown = fault instanceof Refusal && fault.code === 'unknown-parameter'; // the widget's own mark says so
          if (!isUnknown)
            setWhyNoPast(
              isWithoutStore(fault)
                ? t('Earlier changes are not available, because this hub has no store.')
                : t('Earlier changes are not available: {1}.', messageOf(fault)),
            );
          return [];
        }),
      ),
    );
    const found = past.flatMap((events, index) =>
      events.map(({ time, value }) => rowOf(index, Date.parse(time), value)).filter(({ time }) => time < opened),
    );
    add(found);
  });
  return (
    <>
      <WidgetName label={label} />
      <div class="event-table" tabIndex={0} role="region" aria-label={label ?? t('Events')}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t('Time')}</th>
              <th scope="col">{t('What')}</th>
              <th scope="col">{t('Value')}</th>
            </tr>
          </thead>
          <tbody>
            <For
              each={rows()}
              fallback={
                <tr>
                  <td colSpan={3}>{t('No changes yet.')}</td>
                </tr>
              }
            >
              {(row) => (
                <tr>
                  <td>
                    <time>{formatMoment(row.time).replace(/\.\d+$/, '')}</time>
                  </td>
                  <td title={row.address}>{row.name}</td>
                  <td title={row.value}>{row.value}</td>
                </tr>
              )}
            </For>
          </tbody>
        </table>
      </div>
      <Show when={whyNoPast()}>
        <p class="muted hint" role="note">
          {whyNoPast()}
        </p>
      </Show>
      <For each={parameters}>
        {(parameter, index) => (
          <WidgetFault address={addresses[index()]!} parameter={parameter} values={props.values} />
        )}
      </For>
    </>
  );
}

/** Requests the recorded events of a parameter in the last day. Errors: the same as for `getJson`; without a store, a `Refusal`. */
async function askPast(address: string): Promise<EventList['events']> {
  return (await getJson<EventList>(`/hub/events/${pathOf(address)}?from=-24h`)).events ?? [];
}
