// The running installation, polled every second, and the function that switches a rule.
import { createMemo, createSignal } from 'solid-js';
import { messageOf } from '../../model/error.ts';
import type { RuleStatus } from '../../model/reports/rule-status.ts';
import type {
  ConnectionList,
  ConnectionStatus,
  LoadReport,
  RuleList,
  RuleSwitch,
  WayList,
} from '../../wire/http/operation.ts';
import { postJson } from '../hub/page-request.ts';
import { type Polled, usePolled } from '../hub/polled.ts';
import { keyOf } from './rule-groups.ts';

/** The polling interval for ways, in milliseconds, because ways change only on a reload. */
const wayMs = 5000;

export function useInstallation() {
  const polledRules = usePolled<RuleList>('/hub/rules', 'none');
  const polledConnections = usePolled<ConnectionList>('/hub/connections');
  const polledWays = usePolled<WayList>('/hub/ways', 'none', wayMs);
  const polledFiles = usePolled<LoadReport>('/hub/files', 'path');
  const [failure, setFailure] = createSignal('');
  const rules = createMemo(() => snapshot(polledRules) ?? []);
  const connections = createMemo(
    () => new Map<string, ConnectionStatus>(snapshot(polledConnections)?.connections.map((one) => [one.id, one])),
  );
  const ways = createMemo(() => snapshot(polledWays)?.ways ?? []);
  const byKey = createMemo(() => new Map(rules().map((rule) => [keyOf(rule), rule])));
  const switchRule = async ({ name, file }: RuleStatus, enabled: boolean) => {
    try {
      await postJson('/hub/rules', { rule: name, file, enabled } satisfies RuleSwitch);
      setFailure('');
    } catch (error) {
      setFailure(messageOf(error));
    }
    polledRules.refresh();
  };
  return {
    rules,
    ruleOf: (key: string) => byKey().get(key),
    ways,
    connectionOf: (id: string) => connections().get(id),
    report: polledFiles.data,
    isLoaded: () => polledRules.data() !== undefined,
    error: () => failure() || polledRules.error() || polledFiles.error(),
    switchRule,
    refresh: polledRules.refresh,
  };
}

export type Installation = ReturnType<typeof useInstallation>;

/** Returns a plain copy of a polled response, which is made again whenever a part of the response has changed. */
function snapshot<T>(polled: Polled<T>): T | undefined {
  const data = polled.data();
  return data === undefined ? undefined : (JSON.parse(JSON.stringify(data)) as T);
}
