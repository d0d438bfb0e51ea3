// History: the events of a parameter, with their times, origins and causes.

import { batch, createEffect, createMemo, createResource, createSignal, on, Show } from 'solid-js';
import type { ParameterInfo } from '../../wire/http/parameter-shapes.ts';
import { getJson } from '../hub/page-request.ts';
import { t } from '../language/language.ts';
import { useDelay } from '../page/page-timers.ts';
import { linkTo, navigate, route, setParams } from '../page/route.ts';
import { AddressInput } from '../parts/address-input.tsx';
import { EventTable, useEvents } from './events.tsx';
import { StoreFault } from './no-store.tsx';
import { dayMs, paramsOf, type Timeframe, timeframeOf } from './time/timeframe.ts';
import { Timeline } from './timeline.tsx';

/** The timeframe with which the view opens. It includes last night. */
const home: Timeframe = { lastMs: dayMs };
/** The pause after which the URL is updated, in milliseconds, because browsers refuse more than about 20 updates per second. */
const stillMs = 300;

export default function HistoryView() {
  const address = () => route().params.address || undefined;
  return (
    <>
      <div class="bar">
        <h1>{t('History')}</h1>
        <AddressInput address={address() ?? ''} choose={(chosen) => setParams({ address: chosen })} />
        <Show when={address()}>
          {(known) => (
            <>
              <a href={linkTo('parameters', { address: known() })}>Parameter</a>
              <a href={linkTo('why', { address: known() })}>Why</a>
            </>
          )}
        </Show>
      </div>
      <Show
        when={address()}
        keyed
        fallback={<p class="note">Enter the address of a parameter to see its changes and their origins.</p>}
      >
        {(known) => <Past address={known} />}
      </Show>
    </>
  );
}

function Past(props: { readonly address: string }) {
  /** The timeframe while the user is moving the plot; undefined at all other times. */
  const [moved, setMoved] = createSignal<Timeframe>();
  const still = useDelay();
  const frame = createMemo(() => moved() ?? timeframeOf(route().params) ?? home, home, {
    equals: (one, other) => JSON.stringify(one) === JSON.stringify(other),
  });
  const settle = () => {
    still.stop();
    setMoved(undefined);
  };
  createEffect(on(route, settle, { defer: true }));
  const events = useEvents(props.address, frame);
  const [infos] = createResource(
    () =>
      getJson<readonly ParameterInfo[]>(`/hub/parameters?${new URLSearchParams({ address: props.address })}`).catch(
        () => [],
      ),
    { initialValue: [] },
  );
  /** The value type that the parameter has in the hub, or otherwise the recorded type. */
  const type = () => infos.latest[0]?.type ?? (infos.state === 'ready' ? events.answer()?.type : undefined);
  const move = (next: Timeframe, isStep: boolean) => {
    const params = paramsOf(next);
    if (isStep)
      return batch(() => {
        navigate('history', { ...route().params, ...params });
        settle();
      });
    setMoved(next);
    still.start(stillMs, () =>
      batch(() => {
        setParams(params);
        settle();
      }),
    );
  };
  return (
    <div class="scroll history" tabIndex={-1}>
      <Show when={type()}>
        {(known) => (
          <>
            <Timeline
              address={props.address}
              type={known()}
              frame={frame()}
              home={home}
              height={240}
              hasStrip
              move={move}
            />
            <EventTable address={props.address} type={known()} events={events} />
          </>
        )}
      </Show>
      <Show when={!type() && events.fault()}>
        <StoreFault fault={events.fault()} what="The history is not available" />
      </Show>
    </div>
  );
}
