// What the contract suite has to know of dummy.

import type { ContractCase } from '../../support/contract.ts';

export const contractCase: ContractCase = { settings: { parameters: ['lamp,B,true', 'go,T'] } };
