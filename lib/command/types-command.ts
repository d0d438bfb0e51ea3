// `patchbay types`: the TypeScript declarations of an installation.

import { hubId, hubParameters, type Plan } from '../flow/plan.ts';
import { formatAddress } from '../model/address.ts';
import type { Domain } from '../wire/http/operation.ts';
import type { ParameterInfo } from '../wire/http/parameter-shapes.ts';
import { type Cli, flowFiles, remoteCommand } from './cli.ts';
import type { Console } from './console.ts';
import { type RemoteOptions, request, respond } from './remote/ask-hub.ts';

export function register(cli: Cli): void {
  remoteCommand(cli, 'types', 'print TypeScript declarations of all addresses, for flow files written in TypeScript')
    .argument(...flowFiles)
    .option('--module <name>', 'module from which the flow files import defineFlow', 'patchbay-hub')
    .option(
      '--remote',
      'instead of declarations, print JSON with the parameters that a running hub mirrors from other hubs',
    )
    .option(
      '--of <connection>',
      'instead of declarations, print JSON with the parameters of one connection on a running hub, for the `expect` setting of that connection',
    )
    .action((paths: string[], options: TypesOptions) => {
      const { module, remote, of } = options;
      if (of !== undefined) return cli.finish(typesOf(of, options, cli.console));
      return cli.finish(remote ? remoteTypes(options, cli.console) : types(paths, module, cli.console));
    });
}

interface TypesOptions extends RemoteOptions {
  readonly module: string;
  readonly remote?: boolean;
  readonly of?: string;
}

/** Prints the declaration file for an installation. Errors: `bad-flow` with every error. */
export async function types(paths: readonly string[], module: string, console: Console): Promise<number> {
  const { loadFlows } = await import('../hub/index.ts');
  console.print(declareInstallation(await loadFlows(paths), module));
  return 0;
}

// The declaration file lists every address with its type and access, so that an editor finds misspelt addresses, writes to read-only
// parameters and wrong value types in flow files in TypeScript.

/** Returns the text of the declaration file, for flow files that import `defineFlow` from the given module. */
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

/**
 * Prints the declarations of a running hub's parameters in JSON: `{"desk/lamp":{"type":"B","access":"read-write","hub":"west"}}`. Omits the
 * parameters that a standby mirrors from the active hub of its pair. Errors: the hub's error message, or an error if no hub responds.
 */
export async function remoteTypes(options: RemoteOptions, console: Console): Promise<number> {
  const list = JSON.parse(await request(options, '/hub/parameters', {})) as ParameterInfo[];
  const own = await ownName(options);
  const mirrored = list.filter(({ hub }) => hub !== undefined && hub !== own);
  const byAddress = mirrored.map(({ parameter, type, access, hub }) => [parameter, { type, access, hub }] as const);
  const sorted = byAddress.sort(([one], [other]) => (one < other ? -1 : 1));
  console.print(JSON.stringify(Object.fromEntries(sorted), undefined, 2));
  return 0;
}

/**
 * Prints the value types of a connection's parameters in JSON: `{"input/Mic/muted":"B"}`. Errors: the same as for `remoteTypes`, and an
 * error if the connection has no parameters.
 */
export async function typesOf(connectionId: string, options: RemoteOptions, console: Console): Promise<number> {
  const list = JSON.parse(await request(options, '/hub/parameters', {})) as ParameterInfo[];
  const start = `${connectionId}/`;
  const own = list.filter(({ parameter }) => parameter.startsWith(start));
  if (own.length === 0) throw new Error(`expected a connection with parameters, but "${connectionId}" has none`);
  const types = own.map(({ parameter, type }) => [parameter.slice(start.length), type] as const);
  console.print(
    JSON.stringify(Object.fromEntries(types.sort(([one], [other]) => (one < other ? -1 : 1))), undefined, 2),
  );
  return 0;
}

/** Returns the name of the running hub, or undefined if the hub is not in a domain or does not reveal its name to this user. */
async function ownName(options: RemoteOptions): Promise<string | undefined> {
  const answer = await respond(options, '/hub/hubs', {}, [403, 404]);
  return answer.ok ? ((await answer.json()) as Domain).hub : undefined;
}
