// The input for a parameter address, in the bar of a view.

import { createSignal, For, onCleanup } from 'solid-js';
import type { ParameterInfo } from '../../wire/http/parameter-shapes.ts';
import { request } from '../hub/page-request.ts';
import { useDelay } from '../page/page-timers.ts';

const suggestions = 20;
/** A shorter text would match most parameters. */
const leastLength = 3;
/** The pause in typing before the hub is asked. */
const pauseMs = 200;

/** Suggests addresses that contain the typed text. */
export function AddressInput(props: { readonly address: string; choose(address: string): void }) {
  const [offered, setOffered] = createSignal<readonly string[]>([]);
  const pause = useDelay();
  let asking = new AbortController();
  onCleanup(() => asking.abort());
  const offer = (text: string) => {
    asking.abort();
    if (text.length < leastLength) return pause.stop();
    pause.start(pauseMs, async () => {
      asking = new AbortController();
      const { signal } = asking;
      const found = await find(text, signal).catch(() => []); // the banner of the link shows why
      if (!signal.aborted) setOffered(found);
    });
  };
  return (
    <form
      class="grow"
      onSubmit={(event) => {
        event.preventDefault();
        props.choose(new FormData(event.currentTarget).get('address') as string);
      }}
    >
      <input
        type="search"
        name="address"
        class="wide"
        list="addresses"
        data-search
        autocomplete="off"
        aria-label="Address of the parameter"
        placeholder="Address, such as desk/lamp  ( / )"
        value={props.address}
        onInput={(event) => offer(event.currentTarget.value)}
        onChange={(event) => props.choose(event.currentTarget.value)}
      />
      <datalist id="addresses">
        <For each={offered()}>{(address) => <option value={address} />}</For>
      </datalist>
    </form>
  );
}

async function find(text: string, signal: AbortSignal): Promise<readonly string[]> {
  const filter = text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  const query = new URLSearchParams({ filter, limit: String(suggestions) });
  const response = await request(`/hub/parameters?${query}`, { signal });
  return ((await response.json()) as ParameterInfo[]).map(({ parameter }) => parameter);
}
