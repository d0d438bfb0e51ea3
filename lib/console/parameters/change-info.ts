// Asks the hub when and by whom the parameters in view were changed.

import { onCleanup } from 'solid-js';
import type { ParameterInfo } from '../../wire/http/parameters.ts';
import { getJson } from '../hub/page-request.ts';

/** The page asks as soon as a row has changed, but no more often than this. */
const intervalMs = 3000;
/** How many characters of addresses go into one request: the hub accepts 4 kB of header. */
const maxQueryLength = 2000;

export interface ChangeInfo {
  /** Other rows are in view: asks about them at once. */
  restart(): void;
  /** Some rows have changed: asks soon. */
  askSoon(): void;
}

/** Asks about `addresses` and tells `take` each answer, for the scope that calls it. */
export function createChangeInfo(addresses: () => Iterable<string>, take: (info: ParameterInfo) => void): ChangeInfo {
  let generation = 0;
  let askedMs = Number.NEGATIVE_INFINITY;
  let asking: ReturnType<typeof setTimeout> | undefined;
  const stop = () => {
    clearTimeout(asking);
    asking = undefined;
  };
  onCleanup(() => {
    generation++;
    stop();
  });
  const ask = async () => {
    stop();
    const own = generation;
    askedMs = performance.now();
    for (const query of queriesOf(addresses())) {
      if (own !== generation) return; // other rows are in view by now, and asked for
      const infos = await getJson<readonly ParameterInfo[]>(`/hub/parameters?${query}`).catch(() => []);
      infos.forEach(take);
    }
  };
  return {
    restart() {
      generation++;
      void ask();
    },
    askSoon() {
      asking ??= setTimeout(ask, Math.max(0, askedMs + intervalMs - performance.now()));
    },
  };
}

/** Puts the addresses into queries, each of which is short enough. */
function queriesOf(addresses: Iterable<string>): string[] {
  const queries: string[] = [];
  for (const address of addresses) {
    const part = `address=${encodeURIComponent(address)}`;
    const last = queries.at(-1);
    if (last === undefined || last.length + part.length > maxQueryLength) queries.push(part);
    else queries[queries.length - 1] = `${last}&${part}`;
  }
  return queries;
}
