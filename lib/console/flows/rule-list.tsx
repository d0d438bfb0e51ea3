// The same as the graph, as a list: files and folders that open, and in them the rules with what they read and write.

import { For, Show } from 'solid-js';
import { linkTo } from '../route.ts';
import { StateMark } from '../state-mark.tsx';
import type { Installation } from './installation.ts';
import type { RuleStatus } from './kinds.ts';
import { keyOf, type RuleGroup, rulesIn } from './rule-groups.ts';

interface ListProps {
  readonly groups: readonly RuleGroup[];
  readonly open: ReadonlySet<string>;
  readonly installation: Installation;
  readonly selectedRule: () => string | undefined;
  toggleGroup(id: string, isOpen: boolean): void;
  selectRule(key: string): void;
}

export function RuleList(props: ListProps) {
  return (
    <ul class="rules">
      <For each={props.groups}>
        {(group) => (
          <li>
            <button
              type="button"
              class="quiet folder"
              aria-expanded={props.open.has(group.id)}
              onClick={() => props.toggleGroup(group.id, !props.open.has(group.id))}
            >
              <span aria-hidden="true">{props.open.has(group.id) ? '▾' : '▸'}</span> {group.title}{' '}
              <span class="muted">{rulesIn(group).length}</span>
            </button>
            <Show when={props.open.has(group.id)}>
              <ul>
                <For each={group.rules}>{(rule) => <RuleRow {...props} rule={rule} />}</For>
              </ul>
              <RuleList {...props} groups={group.groups} />
            </Show>
          </li>
        )}
      </For>
    </ul>
  );
}

function RuleRow(props: ListProps & { readonly rule: RuleStatus }) {
  return (
    <li class="rule-row" classList={{ off: !props.rule.enabled }}>
      <button
        type="button"
        class="quiet name"
        aria-pressed={props.selectedRule() === keyOf(props.rule)}
        onClick={() => props.selectRule(keyOf(props.rule))}
      >
        {props.rule.name}
      </button>
      <Show when={props.rule.state !== 'running'}>
        <StateMark state={props.rule.state} />
      </Show>
      <span class="ends">
        <Addresses list={props.rule.from} /> → <Addresses list={props.rule.to} />
      </span>
    </li>
  );
}

/** Addresses as links to their parameters. */
export function Addresses(props: { readonly list: readonly string[] }) {
  return (
    <For each={props.list} fallback={<span class="muted">time</span>}>
      {(address, index) => (
        <>
          {index() > 0 && ', '}
          <a class="mono" href={linkTo('parameters', { address })}>
            {address}
          </a>
        </>
      )}
    </For>
  );
}
