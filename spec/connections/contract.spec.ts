// The contract of connection.ts, held against every connection type of the registry. Each type has its case in a file of
// its own, <type>/contract.ts beside its specs.

import { connectionTypes } from '../support/connection-types.ts';
import { type ContractCase, holdContract } from '../support/contract.ts';

for (const [name, type] of connectionTypes) {
  const { contractCase }: { contractCase: ContractCase } = await import(`./${name}/contract.ts`);
  holdContract(type, contractCase);
}
