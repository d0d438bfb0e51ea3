// What the contract suite has to know of timer.

import type { ContractCase } from '../../support/contract.ts';

export const contractCase: ContractCase = {
  settings: { timers: [50], pulses: [{ interval: 50 }, { enabled: false }] },
  sets: ['pulse/1', 'timer/1/trigger'],
};
