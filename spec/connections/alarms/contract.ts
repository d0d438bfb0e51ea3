// What the contract suite has to know of alarms.

import type { ContractCase } from '../../support/contract.ts';

export const contractCase: ContractCase = {
  settings: { alarms: { silence: { when: 'desk/silent', delay: '10s', priority: 1, text: 'Silence on air' } } },
  sets: [
    'all/active',
    'all/priority',
    'all/shelved',
    'all/text',
    'all/unacknowledged',
    'silence/priority',
    'silence/shelved',
  ],
};
