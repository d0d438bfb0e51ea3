// What a plot of a dashboard shows of the time before it was opened, as samples at the times at which it would have taken them.

import type { History } from '../../../wire/http/past/history.ts';
import { pathOf } from '../../../wire/http/path.ts';
import { curveOf, heldAt, isMarks, shift } from '../../history/plot/curve.ts';
import { getJson } from '../../hub/request.ts';

export interface Past {
  /** Seconds since 1970, of the clock of the page. */
  readonly times: number[];
  /** One row for each address; null: unknown. */
  readonly rows: (number | null)[][];
}

/** Asks for the last so many seconds of some parameters. Nothing is known of one whose history cannot be had. */
export async function askPast(addresses: readonly string[], seconds: number, samples: number): Promise<Past> {
  const askedAt = Date.now();
  const histories = await Promise.all(addresses.map((address) => ask(address, seconds, samples)));
  return pastOf(histories, seconds, samples, (askedAt + Date.now()) / 2);
}

/** The samples up to `now`, the time of the page at which the hub answered. */
export function pastOf(
  histories: readonly (History | undefined)[],
  seconds: number,
  samples: number,
  now: number,
): Past {
  const stepMs = (seconds * 1000) / samples;
  const times = Array.from({ length: samples }, (_, index) => now - (samples - index) * stepMs);
  const rows = histories.map((history) => {
    if (!history || isMarks(history)) return times.map(() => null);
    return heldAt(shift(curveOf(history), now - history.to), times)[0]!;
  });
  return { times: times.map((time) => time / 1000), rows };
}

function ask(address: string, seconds: number, points: number): Promise<History | undefined> {
  const query = new URLSearchParams({ from: `-${seconds}s`, points: String(points) });
  return getJson<History>(`/hub/history/${pathOf(address)}?${query}`).catch(() => undefined);
}
