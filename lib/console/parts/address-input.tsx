// Inputs for the address of a parameter: in the bar of a view, and in a form.

import { createMemo, createSignal, createUniqueId, For, onCleanup } from 'solid-js';
import type { ParameterInfo } from '../../wire/http/parameter-shapes.ts';
import { request } from '../hub/page-request.ts';
import { useDelay } from '../page/page-timers.ts';

const suggestions = 20;
/** The minimum length of a search text, in characters, because a shorter text would match most parameters. */
const leastLength = 3;
/** The pause in typing after which the hub is asked, in milliseconds. */
const pauseMs = 200;

/** Returns addresses that contain the typed text, as suggestions, until the calling reactive scope is disposed. */
function useSuggestions(least: number) {
  const [offered, setOffered] = createSignal<readonly string[]>([]);
  const pause = useDelay();
  let asking = new AbortController();
  onCleanup(() => asking.abort());
  const offer = (text: string, found?: (addresses: readonly string[]) => void) => {
    asking.abort();
    if (text.length < least) return pause.stop();
    pause.start(pauseMs, async () => {
      asking = new AbortController();
      const { signal } = asking;
      const addresses = await find(text, signal).catch(() => []); // the banner about the link shows the reason
      if (signal.aborted) return;
      setOffered(addresses);
      found?.(addresses);
    });
  };
  return { offered, offer };
}

/** An input for an address in the bar of a view. */
export function AddressInput(props: { readonly address: string; choose(address: string): void }) {
  const { offered, offer } = useSuggestions(leastLength);
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
        aria-label="Parameter address"
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

/** An input for an address in a form. Addresses are suggested from the first key press on, and `choose` receives each complete address. */
export function AddressField(props: {
  readonly label: string;
  readonly address: string;
  readonly isWrong?: boolean;
  readonly placeholder?: string;
  choose(address: string): void;
}) {
  const { offered, offer } = useSuggestions(0);
  /** The address of the field. A memo, so that other changes in the form do not replace the text that the user is typing here. */
  const address = createMemo(() => props.address);
  const id = createUniqueId();
  return (
    <>
      <input
        type="text"
        class="address mono"
        list={id}
        autocomplete="off"
        spellcheck={false}
        aria-label={props.label}
        aria-invalid={props.isWrong}
        placeholder={props.placeholder ?? 'desk/lamp'}
        value={address()}
        onFocus={(event) => offer(event.currentTarget.value)}
        onInput={(event) => {
          const input = event.currentTarget;
          const text = input.value.trim();
          const isStill = () => document.activeElement === input && input.value.trim() === text;
          if (offered().includes(text)) props.choose(text);
          else offer(text, (addresses) => addresses.includes(text) && isStill() && props.choose(text));
        }}
        onChange={(event) => props.choose(event.currentTarget.value.trim())}
      />
      <datalist id={id}>
        <For each={offered()}>{(address) => <option value={address} />}</For>
      </datalist>
    </>
  );
}

async function find(text: string, signal: AbortSignal): Promise<readonly string[]> {
  const filter = text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  const query = new URLSearchParams({ filter, limit: String(suggestions) });
  const response = await request(`/hub/parameters?${query}`, { signal });
  return ((await response.json()) as ParameterInfo[]).map(({ parameter }) => parameter);
}
