// What the contract suite has to know of schedule.

import type { ContractCase } from '../../support/contract.ts';

export const contractCase: ContractCase = {
  settings: { zone: 'Europe/Berlin', entries: { open: { days: 'mon-fri', from: '06:00' }, news: { at: '*:00' } } },
  sets: ['open'],
};
