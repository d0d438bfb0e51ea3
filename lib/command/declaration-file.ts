// The declaration file of an installation has every address with its type and access. With it an editor finds misspelt
// addresses, writes to read-only parameters and wrong value types in flow files in TypeScript.

import { hubId, hubParameters, type Plan } from '../flow/plan.ts';
import { formatAddress } from '../model/address.ts';

/** Writes the declaration file for flow files that import `defineFlow` from the module. */
export function declareInstallation({ connections }: Pick<Plan, 'connections'>, module: string): string {
  const all = [...connections.filter(({ id }) => id !== hubId), { id: hubId, parameters: hubParameters }];
  const lines = all.flatMap(({ id, parameters }) =>
    parameters.map(
      (parameter) =>
        `    ${JSON.stringify(formatAddress(id, parameter.id))}: { type: '${parameter.type}'; access: '${parameter.access}' };`,
    ),
  );
  return [
    '// Written by `patchbay types`: the parameters of this installation.',
    `import '${module}';`,
    '',
    `declare module '${module}' {`,
    '  interface Installation {',
    ...lines,
    '  }',
    '}',
    '',
  ].join('\n');
}
