// The search bar of the parameter list: the search text and mode, and the choice between list and tree.

import { For, Show } from 'solid-js';
import { formatCount } from '../../language/language.ts';
import { route, setParams } from '../../page/route.ts';
import { type SearchMode, searchModes } from './search.ts';

const hints: Readonly<Record<SearchMode, string>> = {
  text: 'Search: desk lamp  ( / )',
  glob: 'desk/*/lamp, desk/**  ( / )',
  regex: '^desk/.*-lamp$  ( / )',
};

export const modeOf = (given: string | undefined): SearchMode => searchModes.find((mode) => mode === given) ?? 'text';

export function SearchBar(props: {
  readonly count: number;
  readonly total: number | undefined;
  readonly fault: string;
  /** Called when the user presses the arrow-down key, to move the focus into the list. */
  readonly onDown: () => void;
}) {
  const mode = () => modeOf(route().params.mode);
  const as = () => route().params.as;
  return (
    <div class="bar">
      <h1>Parameters</h1>
      <input
        type="search"
        class="grow mono"
        data-search
        placeholder={hints[mode()]}
        aria-label="Search parameters"
        aria-invalid={props.fault !== ''}
        value={route().params.search ?? ''}
        onInput={(event) => setParams({ search: event.currentTarget.value })}
        onKeyDown={(event) => event.key === 'ArrowDown' && props.onDown()}
      />
      <select
        aria-label="Search mode"
        value={mode()}
        onChange={(event) =>
          setParams({ mode: event.currentTarget.value === 'text' ? undefined : event.currentTarget.value })
        }
      >
        <For each={searchModes}>{(one) => <option value={one}>{one}</option>}</For>
      </select>
      <span class="segments">
        <button
          type="button"
          aria-pressed={as() !== 'tree' && as() !== 'recent'}
          onClick={() => setParams({ as: undefined })}
        >
          List
        </button>
        <button type="button" aria-pressed={as() === 'tree'} onClick={() => setParams({ as: 'tree' })}>
          Tree
        </button>
        <button type="button" aria-pressed={as() === 'recent'} onClick={() => setParams({ as: 'recent' })}>
          Recent
        </button>
      </span>
      <span class="count" role="status">
        {formatCount(props.count)} of {formatCount(props.total ?? 0)}
      </span>
      <Show when={props.fault}>
        <p role="alert" class="error">
          {props.fault}
        </p>
      </Show>
    </div>
  );
}
