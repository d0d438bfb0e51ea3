// What the contract suite has to know of keyboard.

import type { ContractCase } from '../../support/contract.ts';

const settings = { inputKeys: ['ctrl-f1'], outputKeys: ['ctrl-f2'] };

export const contractCase: ContractCase = {
  settings,
  troubles: [
    {
      what: 'no display is available',
      state: 'degraded',
      reason: /^no display is available: DISPLAY is not set$/,
      async cause() {
        delete process.env.DISPLAY;
        return { settings };
      },
    },
  ],
};
