// The rules and connections that operators have switched manually, temporarily or permanently: for the navigation, the list, and the
// buttons.

import { createRoot } from 'solid-js';
import type { OverrideList } from '../../wire/http/operation.ts';
import { mayManage } from '../hub/me.ts';
import { usePolled } from '../hub/polled.ts';

export type Override = OverrideList['overrides'][number];

const everyMs = 10_000;

/** The overrides on the hub, which are polled while the console is open. */
export const overrides = createRoot(() => {
  const { data, error, refresh } = usePolled<OverrideList>(
    () => (mayManage() ? '/hub/overrides' : undefined),
    'none',
    everyMs,
  );
  return {
    list: (): OverrideList['overrides'] => (Array.isArray(data()?.overrides) ? data()!.overrides.filter(Boolean) : []),
    error,
    refresh,
  };
});

/** Returns the override of a rule or connection, or undefined if its flow file applies. */
export function overrideOf(kind: Override['kind'], name: string, file?: string): Override | undefined {
  return overrides
    .list()
    .find((one) => one.kind === kind && one.name === name && (file === undefined || one.file === file));
}

/** Returns the path and the body of the request that switches a rule or connection on or off. */
export function switchRequest(
  { kind, name, file }: Pick<Override, 'kind' | 'name' | 'file'>,
  isOn: boolean,
  lasting: { readonly until: string | null; readonly reason: string } | undefined,
): readonly [path: string, body: object] {
  const more =
    lasting === undefined ? {} : { until: lasting.until, ...(lasting.reason !== '' && { reason: lasting.reason }) };
  return kind === 'rule'
    ? ['/hub/rules', { rule: name, file, enabled: isOn, ...more }]
    : [`/hub/connections/${encodeURIComponent(name)}`, { action: isOn ? 'start' : 'stop', ...more }];
}
