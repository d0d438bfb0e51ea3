// What the contract suite has to know of virtual-core.

import type { ContractCase } from '../../support/contract.ts';

export const contractCase: ContractCase = {
  settings: {
    inputs: { mic: 'desk/mic' },
    outputs: { live: { type: 'B', expression: 'mic' }, on: { block: 'TON', in: true, pt: 50 } },
  },
  sets: ['on', 'on/elapsed'],
};
