// The declaration file of an installation: every address with type and access, so that an editor finds a misspelt address,
// a write to a read-only parameter and a wrong value type in flow files written in TypeScript.

import type { Plan } from '../flow/plan.ts';
import { formatAddress } from '../model/address.ts';

/** Writes the declaration file for flow files that import `defineFlow` from the module. */
export function declareInstallation({ connections }: Plan, module: string): string {
  const lines = connections.flatMap(({ id, parameters }) =>
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
