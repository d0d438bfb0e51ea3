// `patchbay types`: the declaration file of an installation.
import { hubId, hubParameters, type Plan } from '../flow/plan.ts';
import { loadFlows } from '../hub/index.ts';
import { formatAddress } from '../model/address.ts';
import type { Console } from './console.ts';

/** Prints the declaration file. Errors: `bad-flow` with every mistake. */
export async function types(paths: readonly string[], module: string, console: Console): Promise<number> {
  console.print(declareInstallation(await loadFlows(paths), module));
  return 0;
}

// The declaration file of an installation has every address with its type and access. With it an editor finds misspelt
// addresses, writes to read-only parameters and wrong value types in flow files in TypeScript.

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
