// What gateways ask of rules, with those in shadow.

import type { HubPort } from '../../connections/hub-port.ts';
import { HubError } from '../../model/error.ts';
import type { Shadow } from './shadow.ts';

type AskedOfRules = Pick<HubPort, 'rules' | 'runsOf' | 'switchRule' | 'shadow' | 'wouldBe'>;

/** Rules in shadow come last. None of them is switched by hand: its flow file says that it is in shadow. */
export function withShadow({ rules, runsOf, switchRule }: AskedOfRules, shadow: Shadow): AskedOfRules {
  const isInShadowAlone = (name: string) =>
    shadow.runsOf(name).length > 0 && !rules().some((rule) => rule.name === name);
  return {
    rules: () => [...rules(), ...shadow.statuses()],
    runsOf: (name) => (isInShadowAlone(name) ? shadow.runsOf(name) : [...runsOf(name), ...shadow.runsOf(name)]),
    switchRule(name, ...how) {
      if (isInShadowAlone(name))
        throw new HubError(
          'conflict',
          `rule: expected one that is live, "${name}" is in shadow, as its flow file says`,
        );
      return switchRule(name, ...how);
    },
    shadow: () => shadow.report(),
    wouldBe: (address) => shadow.wouldBe(address),
  };
}
