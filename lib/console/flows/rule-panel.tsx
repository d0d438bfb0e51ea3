// One rule: its location, state, switch, and last runs.

import { Show } from 'solid-js';
import type { RuleStatus } from '../../model/reports/rule-status.ts';
import type { RuleRun, RuleTraces } from '../../wire/http/operation.ts';
import { mayEdit } from '../hub/me.ts';
import { usePolled } from '../hub/polled.ts';
import { OverrideNote, SwitchOff } from '../overrides/switch-off.tsx';
import { linkTo } from '../page/route.ts';
import { formatClock, formatValue } from '../page/units.ts';
import { GuardedFor } from '../parts/guarded.tsx';
import { StateMark } from '../parts/state-mark.tsx';
import { linkToSheet, RuleParts } from './rule-text.tsx';
import type { Installation } from './shown-installation.ts';

export function RulePanel(props: { readonly rule: RuleStatus; readonly installation: Installation; close(): void }) {
  return (
    <aside
      class="rule-panel"
      aria-labelledby="rule-name"
      onKeyDown={(event) => event.key === 'Escape' && props.close()}
    >
      <div class="head">
        <h2 id="rule-name">{props.rule.name}</h2>
        <button type="button" class="quiet" onClick={props.close} aria-label="Close">
          ✕
        </button>
      </div>
      <p>
        <StateMark state={props.rule.state} /> {props.rule.reason}
      </p>
      <p class="muted">{[props.rule.place, ...props.rule.folder].join(' › ')}</p>
      <dl>
        <RuleParts rule={props.rule} />
        <Show when={props.rule.faults > 0}>
          <dt>Failed</dt>
          <dd>{props.rule.faults} times</dd>
        </Show>
        <Show when={props.rule.dropped > 0}>
          <dt>Dropped</dt>
          <dd>{props.rule.dropped} writes</dd>
        </Show>
      </dl>
      <Show when={mayEdit() && /\.json5:/.test(props.rule.place)}>
        <p>
          <a class="button" href={linkToSheet(props.rule)}>
            Edit
          </a>
        </p>
      </Show>
      <Show when={!props.rule.shadow} fallback={<InShadow />}>
        <p>
          <button
            type="button"
            classList={{ cut: props.rule.enabled, main: !props.rule.enabled }}
            onClick={() => props.installation.switchRule(props.rule, !props.rule.enabled)}
          >
            {props.rule.enabled ? 'Disable' : 'Enable'}
          </button>{' '}
          <Show when={props.rule.enabled}>
            <SwitchOff
              kind="rule"
              name={props.rule.name}
              file={props.rule.file}
              label={props.rule.name}
              switched={props.installation.refresh}
            />
          </Show>{' '}
          <small>
            {props.rule.enabled
              ? 'A rule that is disabled here stays disabled until it is enabled again or its text changes.'
              : 'The rule is not running.'}
          </small>
        </p>
      </Show>
      <OverrideNote kind="rule" name={props.rule.name} file={props.rule.file} />
      <Runs rule={props.rule} />
    </aside>
  );
}

/** The note that is shown instead of a switch for a rule that its flow file runs in shadow. */
function InShadow() {
  return (
    <p>
      <StateMark state="in shadow" />{' '}
      <small>
        The hub records its writes instead of making them; <code>patchbay shadow</code> prints them.
      </small>
    </p>
  );
}

function Runs(props: { readonly rule: RuleStatus }) {
  const { data, error } = usePolled<RuleTraces>(
    () => `/hub/trace?${new URLSearchParams({ rule: props.rule.name })}`,
    'none',
  );
  const trace = () => {
    const traces = data()?.filter(({ file }) => file === props.rule.file);
    return props.rule.shadow ? traces?.at(-1) : traces?.[0]; // the traces in shadow come last
  };
  return (
    <section class="runs" aria-label="Recent runs">
      <h3>Recent runs</h3>
      <Show when={error()}>
        <p class="error">{error()}</p>
      </Show>
      <ol>
        <GuardedFor each={trace()?.runs} as="li" fallback={<li class="muted">No runs yet.</li>}>
          {(run) => (
            <li classList={{ muted: run.outcome === 'stopped' || run.outcome === 'held' }}>
              <time>{formatClock(run.time)}</time>
              <span>
                <Show when={run.source} fallback="time">
                  {(source) => <a href={linkTo('why', { address: source() })}>{source()}</a>}
                </Show>{' '}
                = {formatValue(run.value)} <Outcome run={run} />
              </span>
            </li>
          )}
        </GuardedFor>
      </ol>
      <Show when={trace()?.isAlwaysRecorded === false}>
        <small>This rule only copies values; its runs are recorded only while someone is watching it.</small>
      </Show>
    </section>
  );
}

function Outcome(props: { readonly run: RuleRun }) {
  const text = () => {
    const { outcome, result, to, error, durationUs } = props.run;
    const time = durationUs === undefined ? '' : `, ${Math.round(durationUs)} µs`;
    if (outcome === 'wrote') return `→ ${formatValue(result)} to ${to.join(', ')}${time}`;
    if (outcome === 'waited') return `– ${error ?? ''}${time}`;
    if (outcome === 'failed') return `failed: ${error ?? ''}`;
    return `${outcome === 'stopped' ? '– its condition was false' : '– held back by a step'}${time}${error === undefined ? '' : `: ${error}`}`;
  };
  return <span classList={{ error: props.run.outcome === 'failed' }}>{text()}</span>;
}
