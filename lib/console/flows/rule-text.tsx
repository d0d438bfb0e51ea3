// Describes rules in the words used in flow files: for the list, the panel, Why, and the page of a parameter.

import { For, type JSX, Show } from 'solid-js';
import type { RuleList } from '../../wire/http/operation.ts';
import { mayEdit, mayManage } from '../hub/me.ts';
import { usePolled } from '../hub/polled.ts';
import { linkTo } from '../page/route.ts';
import { Breakable } from '../parts/text.tsx';

export type ShownRule = RuleList[number];

/** Returns the link that opens the sheet of a rule, given the rule's name and location. */
export function linkToSheet({ name, place }: { readonly name: string; readonly place: string }): string {
  return linkTo('rule', { rule: name, place });
}

/** Returns the link that opens the sheet of a new rule, with the given source or destination filled in. */
export function linkToNewRule(ends: { readonly from?: string; readonly to?: string } = {}): string {
  return linkTo('rule', { new: 'yes', ...ends });
}

/** The polling interval for rules in views that do not show their state, in milliseconds. There, a rule changes only on a reload. */
const rarelyMs = 10_000;

/**
 * Follows the rules until the calling reactive scope is disposed, for views other than Flows. The list is empty for users who may not see
 * rules.
 */
export function useRules(): () => RuleList {
  const { data } = usePolled<RuleList>(() => (mayManage() ? '/hub/rules' : undefined), 'none', rarelyMs);
  return () => data() ?? [];
}

/** Returns whether a rule contains an address as a source, as a destination, or within an expression. */
export function namesAddress(rule: ShownRule, address: string): boolean {
  if (rule.from.includes(address) || rule.to.includes(address)) return true;
  const texts = [rule.when, rule.map, JSON.stringify(rule.pipe ?? ''), ...Object.values(rule.split ?? {})];
  return texts.some((text) => text?.includes(`'${address}'`) || text?.includes(`"${address}"`));
}

/** Formats a step on one line: `debounceTime 2s`. */
export function stepText(step: unknown): string {
  if (typeof step !== 'object' || step === null) return String(step);
  return Object.entries(step)
    .map(([name, setting]) => `${name} ${plainText(setting)}`)
    .join(', ');
}

/** Formats a setting for display: strings without quotes, lists and objects on one line. */
export function plainText(setting: unknown): string {
  if (Array.isArray(setting)) return `[${setting.map(plainText).join(', ')}]`;
  if (typeof setting !== 'object' || setting === null) return String(setting);
  return `{ ${Object.entries(setting)
    .map(([name, one]) => `${name}: ${plainText(one)}`)
    .join(', ')} }`;
}

/** Returns what a rule does between its sources and its destinations, as text. Returns an empty string if the rule only copies. */
export function workText({ when, map, pipe, split }: ShownRule): string {
  return [
    ...(when === undefined ? [] : [`only if ${when}`]),
    ...(map === undefined ? [] : [map]),
    ...(pipe ?? []).map(stepText),
    ...(split === undefined ? [] : [Object.values(split).join(', ')]),
  ].join(' → ');
}

/** Shows a rule on one line: `desk/mic only if !value → true → delay 2s → desk/lamp`. */
export function RuleSentence(props: { readonly rule: ShownRule }) {
  return (
    <span class="ends">
      <Sources rule={props.rule} />
      <Show when={props.rule.when !== undefined}>
        {' '}
        only if <code>{props.rule.when}</code>
      </Show>
      <Show when={props.rule.map !== undefined}>
        {' → '}
        <code>{props.rule.map}</code>
      </Show>
      <For each={props.rule.pipe}>{(step) => <> → {<code>{stepText(step)}</code>}</>}</For> →{' '}
      <Destinations rule={props.rule} />
    </span>
  );
}

/** Shows the parts of a rule, each as a row of a `dl` element. */
export function RuleParts(props: { readonly rule: ShownRule }) {
  return (
    <>
      <dt>When</dt>
      <dd>
        <Sources rule={props.rule} />
      </dd>
      <Show when={props.rule.when !== undefined}>
        <dt>only if</dt>
        <dd>
          <code>{props.rule.when}</code>
        </dd>
      </Show>
      <Show when={props.rule.map !== undefined}>
        <dt>write</dt>
        <dd>
          <code>{props.rule.map}</code>
        </dd>
      </Show>
      <Show when={props.rule.pipe}>
        {(pipe) => (
          <>
            <dt>after</dt>
            <dd>
              <For each={pipe()}>{(step) => <code class="step">{stepText(step)}</code>}</For>
            </dd>
          </>
        )}
      </Show>
      <dt>to</dt>
      <dd>
        <Destinations rule={props.rule} />
      </dd>
    </>
  );
}

function Sources(props: { readonly rule: ShownRule }): JSX.Element {
  return (
    <Show when={props.rule.names} fallback={<Addresses list={props.rule.from} />}>
      {(names) => (
        <For each={Object.entries(names())}>
          {([name, address], index) => (
            <>
              {index() > 0 && ', '}
              <code>{name}</code> = <Addresses list={[address]} />
            </>
          )}
        </For>
      )}
    </Show>
  );
}

function Destinations(props: { readonly rule: ShownRule }): JSX.Element {
  return (
    <Show when={props.rule.split} fallback={<Addresses list={props.rule.to} none="nothing" />}>
      {(split) => (
        <For each={Object.entries(split())}>
          {([address, text], index) => (
            <>
              {index() > 0 && ', '}
              <Addresses list={[address]} /> = <code>{text}</code>
            </>
          )}
        </For>
      )}
    </Show>
  );
}

/** Shows addresses as links to their parameters. */
export function Addresses(props: { readonly list: readonly string[]; readonly none?: string }) {
  return (
    <For each={props.list} fallback={<span class="muted">{props.none ?? 'time'}</span>}>
      {(address, index) => (
        <>
          {index() > 0 && ', '}
          <a class="mono" href={linkTo('parameters', { address })}>
            <Breakable text={address} />
          </a>
        </>
      )}
    </For>
  );
}

/** Shows the link to the sheet of a rule. A TypeScript rule has no link. */
export function EditLink(props: { readonly rule: ShownRule }) {
  return (
    <Show when={mayEdit() && /\.json5:\d/.test(props.rule.place)}>
      <a href={linkToSheet(props.rule)} aria-label={`Edit ${props.rule.name}`}>
        edit
      </a>
    </Show>
  );
}

/** Lists the rules that name an address, with links to the view `flows` and to sheets. */
export function RulesOf(props: { readonly address: string; readonly isWritable: boolean }) {
  const rules = useRules();
  const found = () => rules().filter((rule) => namesAddress(rule, props.address));
  return (
    <Show when={mayManage()}>
      <section class="rules-of" aria-label="Rules">
        <h3>Rules</h3>
        <Show when={mayEdit()}>
          <a href={linkToNewRule({ from: props.address })}>New rule from this parameter</a>
          <Show when={props.isWritable}>
            {' · '}
            <a href={linkToNewRule({ to: props.address })}>New rule to this parameter</a>
          </Show>
        </Show>
        <ul>
          <For each={found()}>
            {(rule) => (
              <li>
                <a href={linkTo('flows', { rule: rule.name, file: rule.file })}>{rule.name}</a> <EditLink rule={rule} />
                <br />
                <RuleSentence rule={rule} />
              </li>
            )}
          </For>
        </ul>
      </section>
    </Show>
  );
}
