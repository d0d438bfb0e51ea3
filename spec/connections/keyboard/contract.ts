// What the contract suite has to know of keyboard.

import type { ContractCase } from '../../support/contract.ts';

const settings = { inputKeys: ['ctrl-f1'], outputKeys: ['ctrl-f2'] };

export const contractCase: ContractCase = {
  settings,
  troubles: [
    {
      what: 'there is no display',
      state: 'degraded',
      reason: /^there is no display: DISPLAY is not set$/,
      async cause() {
        delete process.env.DISPLAY;
        return { settings };
      },
    },
  ],
};
