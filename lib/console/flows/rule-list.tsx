// The content of the graph as a list: files and folders, which can be opened, and their rules with sources and destinations.

import { createEffect, For, onMount, Show } from 'solid-js';
import { Guarded, GuardedFor } from '../parts/guarded.tsx';
import { StateMark } from '../parts/state-mark.tsx';
import { keyOf, type RuleGroup, rulesIn } from './rule-groups.ts';
import { EditLink, RuleSentence } from './rule-text.tsx';
import type { Installation } from './shown-installation.ts';

interface ListProps {
  /** The ids of the groups. Because rows are identified by ids, a row stays the same and keeps the focus when its rules change. */
  readonly groups: readonly string[];
  readonly groupOf: (id: string) => RuleGroup | undefined;
  readonly open: ReadonlySet<string>;
  readonly installation: Installation;
  readonly selectedRule: () => string | undefined;
  toggleGroup(id: string, isOpen: boolean): void;
  selectRule(key: string): void;
}

export function RuleList(props: ListProps) {
  return (
    <ul class="rules">
      <GuardedFor each={props.groups} as="li">
        {(id) => <Group {...props} id={id} />}
      </GuardedFor>
    </ul>
  );
}

function Group(props: ListProps & { readonly id: string }) {
  const group = () => props.groupOf(props.id);
  const isOpen = () => props.open.has(props.id);
  return (
    <li>
      <button
        type="button"
        class="quiet folder"
        aria-expanded={isOpen()}
        onClick={() => props.toggleGroup(props.id, !isOpen())}
      >
        <span aria-hidden="true">{isOpen() ? '▾' : '▸'}</span> {group()?.title}{' '}
        <span class="muted">{group() && rulesIn(group()!).length}</span>
      </button>
      <Show when={isOpen()}>
        <ul>
          <For each={group()?.rules.map(keyOf)}>
            {(key) => (
              <Guarded as="li" changed={() => JSON.stringify(props.installation.ruleOf(key))}>
                <RuleRow {...props} key={key} />
              </Guarded>
            )}
          </For>
        </ul>
        <RuleList {...props} groups={group()?.groups.map(({ id }) => id) ?? []} />
      </Show>
    </li>
  );
}

function RuleRow(props: ListProps & { readonly key: string }) {
  const rule = () => props.installation.ruleOf(props.key);
  const isSelected = () => props.selectedRule() === props.key;
  let row!: HTMLLIElement;
  // Scrolls after the layout, which includes the panel of the rule.
  const show = () => row?.scrollIntoView({ block: 'nearest' });
  onMount(() => createEffect(() => isSelected() && requestAnimationFrame(show)));
  return (
    <Show when={rule()}>
      {(known) => (
        <li ref={row} class="rule-row" classList={{ off: !known().enabled || known().shadow }}>
          <button
            type="button"
            class="quiet name"
            aria-pressed={isSelected()}
            onClick={() => props.selectRule(props.key)}
          >
            {known().name}
          </button>
          <Show when={known().shadow}>
            <StateMark state="in shadow" />
          </Show>
          <Show when={known().state !== 'running'}>
            <StateMark state={known().state} />
          </Show>
          <RuleSentence rule={known()} /> <EditLink rule={known()} />
        </li>
      )}
    </Show>
  );
}
