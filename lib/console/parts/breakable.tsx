// Addresses and names of clients without spaces, which break where a part of them ends: behind `:`, `/`, `.`, `@`, `-` and `_`.

import { For } from 'solid-js';

export function Breakable(props: { readonly text: string }) {
  return (
    <For each={props.text.match(/[^:/.@_-]*[:/.@_-]+|[^:/.@_-]+$/g) ?? []}>
      {(part) => (
        <>
          {part}
          <wbr />
        </>
      )}
    </For>
  );
}
