// Why: from any value the chain of causes back to the event outside. The page follows it live.

import { createEffect, createResource, createSignal, For, on, Show } from 'solid-js';
import type { Explanation } from '../../wire/http/explanation.ts';
import type { ParameterInfo } from '../../wire/http/parameters.ts';
import { pathOf } from '../../wire/http/path.ts';
import { createLiveValue } from '../hub.ts';
import { usePolled } from '../polled.ts';
import { getJson } from '../request.ts';
import { linkTo, route, setParams } from '../route.ts';
import { Chain } from '../why/chain.tsx';

const suggestions = 20;
/** For a shorter text the hub would send half of its parameters. */
const leastLength = 3;

export default function Why() {
  const address = () => route().params.address || undefined;
  const explanation = usePolled<Explanation>(() => address() && `/hub/explain/${pathOf(address()!)}`, 'none');
  const value = createLiveValue(address);
  createEffect(on(value, () => explanation.refresh(), { defer: true })); // sooner than the next poll
  return (
    <>
      <div class="bar">
        <h1>Why</h1>
        <AddressInput address={address() ?? ''} choose={(chosen) => setParams({ address: chosen })} />
        <Show when={address()}>{(known) => <a href={linkTo('parameters', { address: known() })}>Parameter</a>}</Show>
      </div>
      <Show when={address()} fallback={<p class="note">Give the address of a parameter, to see why it is as it is.</p>}>
        <Show when={explanation.error()}>
          <p role="alert" class="note">
            {explanation.error()}
          </p>
        </Show>
        <Show when={!explanation.error() && explanation.data()}>
          {(known) => (
            <section class="why" aria-label={`Why ${address()} is as it is`}>
              <Chain explanation={known()} />
            </section>
          )}
        </Show>
      </Show>
    </>
  );
}

/** A text field that offers addresses which contain what people type. */
function AddressInput(props: { readonly address: string; choose(address: string): void }) {
  const [typed, setTyped] = createSignal('');
  const [offered] = createResource(
    () => typed().length >= leastLength && typed(),
    async (text) => {
      const filter = text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
      const found = await getJson<readonly ParameterInfo[]>(`/hub/parameters?${new URLSearchParams({ filter })}`);
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
