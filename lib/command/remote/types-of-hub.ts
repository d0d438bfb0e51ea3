// `patchbay types --remote`: the parameters of other hubs, as a running hub mirrors them, for the setting that names such a file.
import type { Domain } from '../../wire/http/operation.ts';
import type { ParameterInfo } from '../../wire/http/parameter-shapes.ts';
import type { Console } from '../console.ts';
import { type RemoteOptions, request, respond } from './ask-hub.ts';

/**
 * Prints `{"desk/lamp":{"type":"B","access":"read-write","hub":"west"}}`, without what a hub that stands by mirrors of its own pair.
 * Errors: the sentence of the hub, or that there is none.
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

/** Undefined: it is in no domain, or does not tell whoever asks. */
async function ownName(options: RemoteOptions): Promise<string | undefined> {
  const answer = await respond(options, '/hub/hubs', {}, [403, 404]);
  return answer.ok ? ((await answer.json()) as Domain).hub : undefined;
}
