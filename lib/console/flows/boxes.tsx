// The boxes of the graph: rules, closed groups of rules, parameters with their live values, and connections.

import { createEffect, createMemo, on, Show } from 'solid-js';
import type { LiveValues } from '../hub/live-values.ts';
import { navigate } from '../page/route.ts';
import { formatValue } from '../page/units.ts';
import { StaleMark } from '../parts/stale-mark.tsx';
import { StateMark } from '../parts/state-mark.tsx';
import type { GraphNode } from './graph.ts';
import type { Installation } from './installation.ts';
import { restartAnimation } from './pulse.ts';
import { type RuleGroup, rulesIn } from './rule-groups.ts';

export interface BoxContext {
  readonly installation: Installation;
  readonly values: LiveValues;
  readonly groupOf: (id: string) => RuleGroup | undefined;
  readonly selectedRule: () => string | undefined;
  selectRule(key: string): void;
  openGroup(id: string): void;
}

/** The text of a box. A press opens the box. */
export function BoxContent(props: { readonly node: GraphNode; readonly context: BoxContext }) {
  const { node, context } = props;
  switch (node.kind) {
    case 'rule':
      return <RuleBox rule={node.rule} context={context} />;
    case 'group':
      return <GroupBox group={node.group} context={context} />;
    case 'parameter':
      return <ParameterBox address={node.address} context={context} />;
    case 'connection':
      return <ConnectionBox connection={node.connection} context={context} />;
  }
}

function RuleBox(props: { readonly rule: string; readonly context: BoxContext }) {
  const rule = () => props.context.installation.ruleOf(props.rule);
  return (
    <button
      type="button"
      class="box rule"
      classList={{ off: rule()?.enabled === false || rule()?.shadow }}
      aria-pressed={props.context.selectedRule() === props.rule}
      onClick={() => props.context.selectRule(props.rule)}
    >
      <span class="truncate" title={rule()?.name}>
        {rule()?.name}
      </span>
      <Show when={rule()?.shadow}>
        <StateMark state="in shadow" />
      </Show>
      <Show when={rule()?.state !== 'running'}>
        <StateMark state={rule()?.state ?? ''} />
      </Show>
    </button>
  );
}

function GroupBox(props: { readonly group: string; readonly context: BoxContext }) {
  const group = () => props.context.groupOf(props.group);
  const keys = createMemo(() => {
    const found = group();
    return found ? rulesIn(found) : [];
  });
  const trouble = () => keys().filter(({ state }) => state === 'failing' || state === 'limited').length;
  return (
    <button type="button" class="box group" onClick={() => props.context.openGroup(props.group)} title="Open">
      <strong class="truncate" title={group()?.title}>
        {group()?.title}
      </strong>
      <span class="muted">
        {keys().length} {keys().length === 1 ? 'rule' : 'rules'}
        <Show when={trouble() > 0}>
          , <span class="error">{trouble()} in trouble</span>
        </Show>
      </span>
    </button>
  );
}

function ParameterBox(props: { readonly address: string; readonly context: BoxContext }) {
  const { value, moves, kind, staleSince } = props.context.values.of(props.address);
  const [connection, ...rest] = props.address.split('/');
  const state = () => props.context.installation.connectionOf(connection!)?.state ?? 'running';
  let label!: HTMLOutputElement;
  createEffect(on(moves, () => restartAnimation(label, 'flash'), { defer: true }));
  const shown = () => (kind()?.type === 'T' ? '⚡' : formatValue(value()));
  return (
    <button
      type="button"
      class="box parameter"
      onClick={() => navigate('parameters', { address: props.address })}
      title={props.address}
    >
      <span class="connection truncate">
        {connection}
        <Show when={state() !== 'running'}>
          {' '}
          <StateMark state={state()} />
        </Show>{' '}
        <StaleMark since={staleSince} />
      </span>
      <span class="pair">
        <span class="truncate" title={rest.join('/')}>
          {rest.join('/')}
        </span>
        <output class="live" ref={label}>
          {shown()}
        </output>
      </span>
    </button>
  );
}

function ConnectionBox(props: { readonly connection: string; readonly context: BoxContext }) {
  const status = () => props.context.installation.connectionOf(props.connection);
  return (
    <button
      type="button"
      class="box connection-box"
      onClick={() => navigate('connections', { search: props.connection })}
    >
      <strong class="truncate" title={props.connection}>
        {props.connection}
      </strong>
      <Show when={status()} fallback={<small>connection</small>}>
        {(known) => (
          <Show when={known().state !== 'running'} fallback={<small>{known().type}</small>}>
            <StateMark state={known().state} />
          </Show>
        )}
      </Show>
    </button>
  );
}
