// A text field for the address of a parameter, in the bar of a view.

import { createResource, createSignal, For } from 'solid-js';
import type { ParameterInfo } from '../../wire/http/parameters.ts';
import { getJson } from '../request.ts';

const suggestions = 20;
/** For a shorter text the hub would send half of its parameters. */
const leastLength = 3;

/** It offers addresses which contain what people type. */
export function AddressInput(props: { readonly address: string; choose(address: string): void }) {
  const [typed, setTyped] = createSignal('');
  const [offered] = createResource(
    () => typed().length >= leastLength && typed(),
    async (text) => {
      const filter = text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
      const query = new URLSearchParams({ filter });
      const found = await getJson<readonly ParameterInfo[]>(`/hub/parameters?${query}`).catch(() => []); // the link says why
      return found.slice(0, suggestions);
    },
    { initialValue: [] }, // so that the field stays while the page waits
  );
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
        onInput={(event) => setTyped(event.currentTarget.value)}
        onChange={(event) => props.choose(event.currentTarget.value)}
      />
      <datalist id="addresses">
        <For each={offered.latest}>{({ parameter }) => <option value={parameter} />}</For>
      </datalist>
    </form>
  );
}
