// Why: the chain of causes from a value back to the external event, updated live.

import { createEffect, lazy, on, Show, Suspense } from 'solid-js';
import { pathOf } from '../../model/address.ts';
import type { CausedChange, Explanation } from '../../wire/http/parameter-shapes.ts';
import { useRules } from '../flows/rule-text.tsx';
import { mayManage } from '../hub/me.ts';
import { createLiveValue } from '../hub/page-hub.ts';
import { usePolled } from '../hub/polled.ts';
import { t } from '../language/language.ts';
import { linkTo, route, setParams } from '../page/route.ts';
import { formatValue } from '../page/units.ts';
import { AddressInput } from '../parts/address-input.tsx';
import { type Cause, Chain } from './chain.tsx';

const Conditions = lazy(async () => ({ default: (await import('./effects.tsx')).Conditions }));
const Followed = lazy(async () => ({ default: (await import('./effects.tsx')).Followed }));

export default function Why() {
  const address = () => route().params.address || undefined;
  const explanation = usePolled<Explanation>(() => address() && `/hub/explain/${pathOf(address()!)}`, 'none');
  const rules = useRules();
  const ruleOf = (name: string, file: string | undefined) =>
    rules().find((rule) => rule.name === name && (file === undefined || rule.file === file));
  const value = createLiveValue(address);
  createEffect(on(value, () => explanation.refresh(), { defer: true })); // without waiting for the next poll
  return (
    <>
      <div class="bar">
        <h1>{t('Why')}</h1>
        <AddressInput address={address() ?? ''} choose={(chosen) => setParams({ address: chosen })} />
        <Show when={address()}>
          {(known) => (
            <>
              <a href={linkTo('parameters', { address: known() })}>Parameter</a>
              <a href={linkTo('history', { address: known() })}>History</a>
            </>
          )}
        </Show>
      </div>
      <Show
        when={address()}
        fallback={<p class="note">Enter the address of a parameter to see why it has its current value.</p>}
      >
        <Show when={explanation.error()}>
          <p role="alert" class="note">
            {explanation.error()}
          </p>
        </Show>
        <Show when={!explanation.error() && explanation.data()}>
          {(known) => (
            <section class="why" aria-label={`Why ${address()} has its current value`}>
              <Chain
                causes={known().chain.map(causeOf)}
                forgotten={known().forgotten}
                ruleOf={ruleOf}
                conditionsOf={(rule, change) => (
                  <Suspense>
                    <Conditions rule={rule} change={change} />
                  </Suspense>
                )}
              />
              <Show when={mayManage() && known().chain[0]}>
                {(change) => (
                  <Suspense>
                    <Followed change={change()} rules={rules()} />
                  </Suspense>
                )}
              </Show>
              <Show when={known().would}>
                {(would) => (
                  <>
                    <h2>
                      In shadow, it would be <strong>{formatValue(would().value)}</strong>
                    </h2>
                    <Chain causes={would().chain.map(causeOf)} forgotten={would().forgotten} ruleOf={ruleOf} />
                  </>
                )}
              </Show>
            </section>
          )}
        </Show>
      </Show>
    </>
  );
}

/** Converts a change to a cause in the chain. A write that did not change the value has no revision. */
function causeOf({ revision, ...change }: CausedChange): Cause {
  return { ...change, isRepeated: revision === undefined };
}
