// The palette: parameters to drag onto the grid, each with a suitable widget, and the widget types. Clicking an entry places the widget at
// the first free position.

import { createEffect, createResource, createSignal, For, onCleanup, Show } from 'solid-js';
import type { ParameterInfo } from '../../wire/http/parameter-shapes.ts';
import { whyReadOnly } from '../hub/me.ts';
import { getJson } from '../hub/page-request.ts';
import { useDelay } from '../page/page-timers.ts';
import { type Kind, type Kinds, kindsFor, newWidget, type Widget } from './widget-kinds.ts';

const mostShown = 60;
const pauseMs = 200;

/** A widget that the palette offers, ready to be placed on the grid. */
export interface Offer {
  readonly kind: Kind;
  readonly widget: Widget;
}

export function Palette(props: {
  readonly kinds: Kinds;
  readonly isLocked: boolean;
  /** Follows the pointer after a press on an offer, until the offer is dropped or the press turns out to be a click. */
  take(offer: Offer, event: PointerEvent): void;
  put(offer: Offer): void;
}) {
  const [text, setText] = createSignal('');
  const [asked, setAsked] = createSignal('');
  const pause = useDelay();
  onCleanup(() => pause.stop());
  const [found] = createResource(asked, async (typed) => {
    const filter = typed.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
    const query = new URLSearchParams({ ...(filter && { filter }), limit: String(mostShown) });
    return getJson<ParameterInfo[]>(`/hub/parameters?${query}`).catch(() => []);
  });
  /** Whether the first parameter that is found is to be added, which then clears the field for the next search. */
  const [isAdding, setAdding] = createSignal(false);
  createEffect(() => {
    if (!isAdding() || found.loading || asked() !== text()) return;
    setAdding(false);
    const [parameter] = found.latest ?? [];
    const offer = parameter && offersFor(props.kinds, parameter)[0];
    if (offer === undefined) return;
    props.put(offer);
    setText('');
    pause.start(pauseMs, () => setAsked(''));
  });
  const keys = (offer: Offer) => (event: KeyboardEvent) => {
    if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    props.put(offer);
  };
  return (
    <section class="palette" aria-label="Palette" inert={props.isLocked}>
      <h2>Parameters</h2>
      <input
        type="search"
        data-search
        aria-label="Search parameters"
        placeholder="Search, Enter adds  ( / )"
        title="Enter adds the first parameter found"
        value={text()}
        onInput={(event) => {
          const typed = event.currentTarget.value.trim();
          setText(typed);
          pause.start(pauseMs, () => setAsked(typed));
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || text() === '') return;
          event.preventDefault();
          pause.stop();
          setAsked(text());
          setAdding(true);
        }}
      />
      <ul class="offers" tabIndex={-1}>
        <For each={found.latest ?? []} fallback={<li class="muted">{found.loading ? 'Loading …' : 'None found'}</li>}>
          {(parameter) => <ParameterOffer parameter={parameter} kinds={props.kinds} take={props.take} keys={keys} />}
        </For>
      </ul>
      <h2>Widgets</h2>
      <div class="kinds">
        <For each={props.kinds.all}>
          {(kind) => {
            const offer = { kind, widget: newWidget(kind) };
            return (
              <button
                type="button"
                title={kind.about}
                data-kind={kind.type}
                onPointerDown={(event) => props.take(offer, event)}
                onKeyDown={keys(offer)}
              >
                {kind.type}
              </button>
            );
          }}
        </For>
      </div>
    </section>
  );
}

/** Returns the widgets that the palette offers for a parameter, the most suitable widget first. */
function offersFor(kinds: Kinds, parameter: ParameterInfo): Offer[] {
  const { parameter: address, type, access } = parameter;
  const suitable = kindsFor(kinds, { type }, whyReadOnly(address, access) === '');
  return suitable.map((kind) => ({ kind, widget: newWidget(kind, parameter) }));
}

function ParameterOffer(props: {
  readonly parameter: ParameterInfo;
  readonly kinds: Kinds;
  take(offer: Offer, event: PointerEvent): void;
  keys(offer: Offer): (event: KeyboardEvent) => void;
}) {
  const { parameter: address, about } = props.parameter;
  const [first, ...others] = offersFor(props.kinds, props.parameter);
  return (
    <li>
      <Show when={first}>
        {(offer) => (
          <button
            type="button"
            class="offer"
            data-address={address}
            title={`${about?.label ?? address}: drag it onto the panel as a widget of type ${offer().kind.type}`}
            onPointerDown={(event) => props.take(offer(), event)}
            onKeyDown={(event) => props.keys(offer())(event)}
          >
            <span class="mono truncate">{address}</span> <small>{offer().kind.type}</small>
          </button>
        )}
      </Show>
      <span class="others-of">
        <For each={others}>
          {(offer) => (
            <button
              type="button"
              class="quiet"
              aria-label={`${address} as ${offer.kind.type}`}
              title={`as ${offer.kind.type}: ${offer.kind.about}`}
              onPointerDown={(event) => props.take(offer, event)}
              onKeyDown={props.keys(offer)}
            >
              {offer.kind.type}
            </button>
          )}
        </For>
      </span>
    </li>
  );
}
