// History: what happened to a parameter, when, who did it, and why.

import { createMemo, createResource, Show } from 'solid-js';
import type { ParameterInfo } from '../../wire/http/parameters.ts';
import { EventTable } from '../history/events.tsx';
import { StoreFault } from '../history/no-store.tsx';
import { dayMs, paramsOf, type Timeframe, timeframeOf } from '../history/timeframe.ts';
import { Timeline } from '../history/timeline.tsx';
import { useEvents } from '../history/use-events.ts';
import { AddressInput } from '../parts/address-input.tsx';
import { getJson } from '../request.ts';
import { linkTo, navigate, route, setParams } from '../route.ts';

/** So that the last night is in view at once. */
const home: Timeframe = { lastMs: dayMs };

export default function HistoryView() {
  const address = () => route().params.address || undefined;
  return (
    <>
      <div class="bar">
        <h1>History</h1>
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
        fallback={<p class="note">Give the address of a parameter, to see what happened to it and who did it.</p>}
      >
        {(known) => <Past address={known} />}
      </Show>
    </>
  );
}

function Past(props: { readonly address: string }) {
  const frame = createMemo(() => timeframeOf(route().params) ?? home, home, {
    equals: (one, other) => JSON.stringify(one) === JSON.stringify(other),
  });
  const events = useEvents(() => props.address, frame);
  const [infos] = createResource(
    () =>
      getJson<readonly ParameterInfo[]>(`/hub/parameters?${new URLSearchParams({ address: props.address })}`).catch(
        () => [],
      ),
    { initialValue: [] },
  );
  /** That of the hub, or of what it was when it was recorded. */
  const type = () => infos.latest[0]?.type ?? (infos.state === 'ready' ? events.listed()?.type : undefined);
  const move = (next: Timeframe, isStep: boolean) => {
    const params = { ...route().params, ...paramsOf(next) };
    if (isStep) navigate('history', params);
    else setParams(params);
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
        <StoreFault fault={events.fault()} what="Nothing is known of earlier" />
      </Show>
    </div>
  );
}
