// What followed from a change, and under which conditions a rule acted. Both are derived from the hub's explanations of the parameters that
// the rules name.

import { createEffect, createResource, createSignal, For, on, Show } from 'solid-js';
import { pathOf } from '../../model/address.ts';
import type { WayList } from '../../wire/http/operation.ts';
import type { CausedChange, Explanation } from '../../wire/http/parameter-shapes.ts';
import { namesAddress, type ShownRule } from '../flows/rule-text.tsx';
import { getJson } from '../hub/page-request.ts';
import { useDelay } from '../page/page-timers.ts';
import { linkTo } from '../page/route.ts';
import { formatValue } from '../page/units.ts';
import { GuardedFor } from '../parts/guarded.tsx';
import { Breakable } from '../parts/text.tsx';
import { Author, formatLag } from './chain.tsx';

/** The maximum number of parameters that are queried to find out what followed from a change. */
const maxAsked = 40;
/** The minimum time between two searches, in milliseconds, so that a constantly changing value does not keep the hub busy. */
const pauseMs = 1500;

const explain = (address: string): Promise<Explanation | undefined> =>
  getJson<Explanation>(`/hub/explain/${pathOf(address)}`).catch(() => undefined);

interface Effect {
  readonly change: CausedChange;
  /** The time that passed since the original change, in milliseconds. */
  readonly afterMs: number;
}

interface Found {
  readonly effects: readonly Effect[];
  /** The names of rules that read the parameter, but did not change any of their destinations because of it. */
  readonly idle: readonly string[];
  /** Whether the search ended early, although more parameters could have been queried. */
  readonly isCut: boolean;
}

/** Lists the changes that followed from the current value of a parameter, in chronological order. */
export function Followed(props: { readonly change: CausedChange; readonly rules: readonly ShownRule[] }) {
  const [ways] = createResource(() => getJson<WayList>('/hub/ways').catch(() => undefined));
  const [found, setFound] = createSignal<Found>();
  const pause = useDelay();
  let searched = '';
  const key = () => `${props.change.parameter} ${props.change.revision} ${props.rules.length} ${ways.loading}`;
  const search = async () => {
    const wanted = key();
    if (wanted === searched) return;
    searched = wanted;
    const next = await followedFrom(props.change, props.rules, ways()?.ways ?? []);
    if (wanted === key()) setFound(next);
  };
  createEffect(on(key, (_, before) => pause.start(before === undefined ? 0 : pauseMs, () => void search())));
  return (
    <Show when={found()}>
      {(known) => (
        <section class="followed" aria-label="What followed">
          <h2>What followed</h2>
          <ol aria-label="Effects, in chronological order">
            <GuardedFor
              each={known().effects}
              as="li"
              fallback={<li class="muted">This change caused no other changes.</li>}
            >
              {({ change, afterMs }) => (
                <li class="effect">
                  <span class="muted">{formatLag(afterMs)}</span>
                  <span>
                    <a class="mono" href={linkTo('why', { address: change.parameter })}>
                      <Breakable text={change.parameter} />
                    </a>{' '}
                    {change.type === 'T' ? 'fired' : '='}{' '}
                    <Show when={change.type !== 'T'}>
                      <strong>{formatValue(change.value)}</strong>{' '}
                    </Show>
                    <Author origin={change.origin} awaySince={undefined} />
                  </span>
                </li>
              )}
            </GuardedFor>
          </ol>
          <Show when={known().idle.length > 0}>
            <p class="muted">
              These rules also read this parameter, but none of their changes is still in effect:{' '}
              <For each={known().idle}>
                {(name, index) => (
                  <>
                    {index() > 0 && ', '}
                    <a href={linkTo('flows', { rule: name })}>{name}</a>
                  </>
                )}
              </For>
            </p>
          </Show>
          <Show when={known().isCut}>
            <p class="muted">There may be more: only the nearest {maxAsked} parameters were checked.</p>
          </Show>
        </section>
      )}
    </Show>
  );
}

type Way = WayList['ways'][number];

/** Finds what followed from a change: follows rules and connections to the parameters whose current value the change has caused. */
async function followedFrom(cause: CausedChange, rules: readonly ShownRule[], ways: readonly Way[]): Promise<Found> {
  const asked = new Set([cause.parameter]);
  const effects: Effect[] = [];
  const idle: string[] = [];
  let next = [cause.parameter];
  while (next.length > 0 && asked.size <= maxAsked) {
    const reading = rules.filter((rule) => next.some((address) => isRead(rule, address)));
    const targets = [
      ...reading.flatMap(({ to }) => to),
      ...ways.filter(({ from }) => from.some((one) => next.includes(one))).flatMap(({ to }) => to),
    ];
    const fresh = [...new Set(targets)].filter((address) => !asked.has(address)).slice(0, maxAsked + 1 - asked.size);
    for (const address of fresh) asked.add(address);
    const answers = await Promise.all(fresh.map(explain));
    const caused = answers.flatMap((answer) => answer?.chain.slice(0, 1).filter(() => isCausedBy(answer, cause)) ?? []);
    for (const change of caused)
      effects.push({ change, afterMs: Math.max(0, Date.parse(change.time) - Date.parse(cause.time)) });
    if (next[0] === cause.parameter)
      idle.push(
        ...reading.filter(({ to }) => !caused.some(({ parameter }) => to.includes(parameter))).map(({ name }) => name),
      );
    next = caused.map(({ parameter }) => parameter);
  }
  effects.sort((one, other) => one.afterMs - other.afterMs);
  return { effects, idle, isCut: asked.size > maxAsked };
}

function isRead(rule: ShownRule, address: string): boolean {
  return rule.from.includes(address) || (!rule.to.includes(address) && namesAddress(rule, address));
}

function isCausedBy({ chain }: Explanation, { parameter, revision }: CausedChange): boolean {
  return chain.slice(1).some((one) => one.parameter === parameter && one.revision === revision);
}

/** Lists the conditions under which a rule wrote a change: the other parameters that the rule reads, with their values at that time. */
export function Conditions(props: { readonly rule: ShownRule; readonly change: Pick<CausedChange, 'time'> }) {
  const others = () => conditionsOf(props.rule);
  const [held] = createResource(
    () => ({ addresses: others().join('\n'), time: props.change.time }),
    ({ addresses, time }) =>
      Promise.all(addresses === '' ? [] : addresses.split('\n').map(async (address) => heldAt(address, time))),
  );
  return (
    <Show when={(held.latest ?? []).length > 0}>
      <ul class="conditions" aria-label="Conditions that held">
        <For each={held.latest}>
          {({ address, text }) => (
            <li>
              <span class="muted">while</span>{' '}
              <a class="mono" href={linkTo('why', { address })}>
                <Breakable text={address} />
              </a>{' '}
              <strong>{text}</strong>
            </li>
          )}
        </For>
      </ul>
    </Show>
  );
}

/** Returns the addresses in a rule's condition and, if there are several named sources, the addresses of these sources. */
function conditionsOf({ when, names }: ShownRule): string[] {
  const quoted = [...(when ?? '').matchAll(/(['"])([^'"\s]+\/[^'"]+)\1/g)].map(([, , address]) => address!);
  const named = Object.entries(names ?? {}).filter(([name]) => new RegExp(`\\b${name}\\b`).test(when ?? ''));
  return [...new Set([...quoted, ...named.map(([, address]) => address)])];
}

async function heldAt(address: string, time: string): Promise<{ readonly address: string; readonly text: string }> {
  const [last] = (await explain(address))?.chain ?? [];
  if (last === undefined) return { address, text: 'was unknown' };
  if (Date.parse(last.time) <= Date.parse(time)) return { address, text: `= ${formatValue(last.value)}, as it is now` };
  if (last.previous === undefined) return { address, text: 'has changed since' };
  return { address, text: `= ${formatValue(last.previous)} before its last change` };
}
