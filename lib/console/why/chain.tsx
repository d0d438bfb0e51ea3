// The chain of causes that led to a value, newest first, with the times in between, back to the external event.

import { Index, type JSX, Show } from 'solid-js';
import { fixedText } from '../../model/digits.ts';
import { writerName } from '../../model/writer.ts';
import { something } from '../../wire/http/hidden.ts';
import type { CausedChange } from '../../wire/http/parameter-shapes.ts';
import { EditLink, type ShownRule, workText } from '../flows/rule-text.tsx';
import { mayManage } from '../hub/me.ts';
import { linkTo } from '../page/route.ts';
import { formatDate, formatMoment, formatSpan, formatValue } from '../page/units.ts';
import { Guarded } from '../parts/guarded.tsx';
import { Breakable } from '../parts/text.tsx';

/** A change in a chain of causes. */
export interface Cause extends Omit<CausedChange, 'revision'> {
  /** true means that the write did not change the value. */
  readonly isRepeated?: boolean;
}

/**
 * Shows a chain of causes. `forgotten` is the number of causes before the last cause that are no longer stored; undefined if this number is
 * unknown.
 */
export function Chain(props: {
  readonly causes: readonly Cause[];
  readonly forgotten: number | undefined;
  /** Finds the rule with a name that wrote a change. If omitted, rules are shown only by name. */
  ruleOf?(name: string, file: string | undefined): ShownRule | undefined;
  /** Shows the conditions under which a rule wrote a change. If omitted, conditions are not shown. */
  conditionsOf?(rule: ShownRule, change: Cause): JSX.Element;
}) {
  const chain = () => props.causes;
  const ruleOf = ({ origin: { kind, name, file } }: Cause) =>
    kind === 'rule' ? props.ruleOf?.(name, file) : undefined;
  const isOutside = (index: number) => index === chain().length - 1 && props.forgotten === 0;
  return (
    <ol aria-label="Causes, newest first">
      <Index each={chain()}>
        {(change, index) => (
          <Guarded as="li" changed={() => JSON.stringify(change())}>
            <li>
              <div class="cause" classList={{ outside: isOutside(index) }}>
                <time dateTime={change().time} title={formatDate(change().time)}>
                  {formatMoment(change().time)}
                </time>
                <Show
                  when={change().parameter !== something}
                  fallback={<span>a parameter that you are not allowed to see</span>}
                >
                  <span>
                    <a class="mono" href={linkTo('parameters', { address: change().parameter })}>
                      <Breakable text={change().parameter} />
                    </a>{' '}
                    <WhatHappened change={change()} />
                  </span>
                </Show>
                <span>
                  <Show when={change().parameter !== something}>
                    <Author origin={change().origin} awaySince={change().awaySince} />
                  </Show>
                  <Show when={ruleOf(change())}>
                    {(rule) => (
                      <>
                        {' '}
                        <EditLink rule={rule()} />
                        <code class="rule-work">{workText(rule())}</code>
                        {props.conditionsOf?.(rule(), change())}
                      </>
                    )}
                  </Show>
                  <Show when={isOutside(index) && !isRestored(change())}>
                    {' '}
                    <strong>This change came from outside the hub.</strong>
                  </Show>
                </span>
              </div>
              <Show when={change().afterMs !== undefined && !isRestored(change()) && index < chain().length - 1}>
                <p class="after">
                  <span aria-hidden="true">↑</span> {formatLag(change().afterMs!)}
                </p>
              </Show>
            </li>
          </Guarded>
        )}
      </Index>
      <Show when={props.forgotten !== 0}>
        <li class="note">
          {props.forgotten === 1 ? 'One earlier cause is' : `${props.forgotten ?? 'The'} earlier causes are`} no longer
          stored.
        </li>
      </Show>
    </ol>
  );
}

/** Returns whether the change restored a value, in which case its time is the time of the original change. */
function isRestored({ origin }: Cause): boolean {
  return origin.kind === 'restored';
}

function WhatHappened(props: { readonly change: Cause }) {
  return (
    <Show when={props.change.type !== 'T'} fallback={<strong>fired</strong>}>
      = <strong>{formatValue(props.change.value)}</strong>{' '}
      <Show when={props.change.previous !== undefined}>
        <span class="muted">was {formatValue(props.change.previous)}</span>
      </Show>
      <Show when={props.change.isRepeated}>
        <span class="muted">again</span>
      </Show>
    </Show>
  );
}

/** Shows the writer of a change, with a link to the writer's view if the user may see that view. Writers on another hub have no link. */
export function Author(props: Pick<CausedChange, 'origin' | 'awaySince'>) {
  const link = () => {
    const { kind, name, file } = props.origin;
    if (kind === 'rule') return linkTo('flows', { rule: name, file });
    return kind === 'client' ? linkTo('clients') : linkTo('connections', { search: name });
  };
  return (
    <>
      {props.origin.kind === 'restored' ? 'restored by' : `by ${props.origin.kind}`}{' '}
      <Show
        when={mayManage() && props.origin.reportedBy === undefined}
        fallback={<Breakable text={writerName(props.origin)} />}
      >
        <a href={link()}>
          <Breakable text={props.origin.name} />
        </a>
      </Show>
      <Show when={props.awaySince}>
        {(since) => (
          <span class="muted">
            {' '}
            found when the device reconnected; it had been offline since {formatMoment(since())}
          </span>
        )}
      </Show>
      <Show when={props.origin.file}>
        {' '}
        <span class="muted">{props.origin.file}</span>
      </Show>
    </>
  );
}

/** Formats a delay in milliseconds: `immediately`, `12 ms later`, `3.0 s later`, `2 min 5 s later`, `3 h later`. */
export function formatLag(ms: number): string {
  if (ms === 0) return 'immediately';
  if (ms < 1000) return `${Math.round(ms)} ms later`;
  if (ms < 60_000) return `${fixedText(ms / 1000, 1)} s later`;
  if (ms >= 3_600_000) return `${formatSpan(ms)} later`;
  return `${Math.floor(ms / 60_000)} min ${Math.floor((ms % 60_000) / 1000)} s later`;
}
