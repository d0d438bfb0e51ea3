// Overrides: the rules and connections that operators have switched manually, temporarily or permanently. Users can end an override here,
// so that the flow file applies again.

import { For, Show } from 'solid-js';
import { RuleSentence, type ShownRule, useRules } from '../flows/rule-text.tsx';
import { createAttempt, postJson } from '../hub/page-request.ts';
import { t } from '../language/language.ts';
import { linkTo } from '../page/route.ts';
import { formatDate } from '../page/units.ts';
import { Fault } from '../parts/view-bar.tsx';
import { type Override, overrides, switchRequest } from './overrides.ts';
import { overrideText } from './switch-off.tsx';

export default function OverridesView() {
  overrides.refresh();
  const rules = useRules();
  const ruleOf = ({ kind, name, file }: Override) =>
    kind === 'rule' ? rules().find((rule) => rule.name === name && rule.file === file) : undefined;
  return (
    <>
      <div class="bar">
        <h1>{t('Overrides')}</h1>
      </div>
      <Fault text={overrides.error()} />
      <div class="scroll sheet">
        <ul class="overrides">
          <For each={overrides.list()} fallback={<li class="muted">Everything runs as defined in the flow files.</li>}>
            {(one) => <Overridden override={one} rule={ruleOf(one)} />}
          </For>
        </ul>
      </div>
    </>
  );
}

function Overridden(props: { readonly override: Override; readonly rule: ShownRule | undefined }) {
  const { isBusy, failure, run } = createAttempt(() => overrides.refresh());
  const { kind, name, file, isOn } = props.override;
  const link = kind === 'rule' ? linkTo('flows', { rule: name, file }) : linkTo('connections', { search: name });
  return (
    <li class="panel">
      <p>
        {kind === 'rule' ? 'Rule' : 'Connection'} <a href={link}>{name}</a> <small>{file}</small>
      </p>
      <Show when={props.rule}>
        {(rule) => (
          <p>
            <RuleSentence rule={rule()} />
          </p>
        )}
      </Show>
      <p class="warning">{overrideText(props.override)}</p>
      <p class="muted">since {formatDate(props.override.since)}</p>
      <Show when={failure()}>
        <p role="alert" class="error">
          {failure()}
        </p>
      </Show>
      <p class="fields">
        <button
          type="button"
          class="main"
          disabled={isBusy()}
          aria-label={`Switch ${isOn ? 'off' : 'on'} again: ${name}`}
          onClick={() => run(() => postJson(...switchRequest(props.override, !isOn, undefined)))}
        >
          {isOn ? 'Switch off again' : 'Switch on again'}
        </button>
      </p>
    </li>
  );
}
