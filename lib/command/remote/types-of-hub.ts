// `patchbay types --remote`: the parameters that a running hub mirrors from other hubs, for the setting that names such a file.
import type { Domain } from '../../wire/http/operation.ts';
import type { ParameterInfo } from '../../wire/http/parameter-shapes.ts';
import type { Console } from '../console.ts';
import { type RemoteOptions, request, respond } from './ask-hub.ts';

/**
 * Prints `{"desk/lamp":{"type":"B","access":"read-write","hub":"west"}}`, without the mirrors that a standby hub has of its own pair.
 * Errors: the message of the hub, or no hub.
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

/** Returns the name of the hub; undefined if it is in no domain, or does not reveal it to this user. */
async function ownName(options: RemoteOptions): Promise<string | undefined> {
  const answer = await respond(options, '/hub/hubs', {}, [403, 404]);
  return answer.ok ? ((await answer.json()) as Domain).hub : undefined;
}
