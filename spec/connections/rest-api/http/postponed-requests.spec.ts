// How much of what comes in a round that has lasted long is answered at once.

import test from 'ava';
import { PostponedRequests } from '../../../../lib/connections/rest-api/http/postponed-requests.ts';
import type { LimitHits } from '../../../../lib/connections/rest-api/limits/limit-hits.ts';
import type { Pace } from '../../../../lib/connections/rest-api/pacing/pace.ts';
import type { HttpRequest } from '../../../../lib/net/uws.ts';

const head = 'GET /parameters/desk/lamp HTTP/1.1\r\nhost: localhost\r\n\r\n';
const request = {
  getMethod: () => 'get',
  getUrl: () => '/parameters/desk/lamp',
  getQuery: () => undefined,
  forEach: (tell: (name: string, value: string) => void) => tell('host', 'localhost'),
} as unknown as HttpRequest;

/** How many requests are answered at once of those that come in a round that has lasted so long. */
function answeredAtOnce(connections: number, workedMs: number): number {
  const pace = { hasTime: () => false, workedMs, add() {} } as unknown as Pace;
  const postponed = new PostponedRequests(pace, {} as LimitHits, () => connections);
  let count = 0;
  while (postponed.hasTime(request)) count++;
  return count;
}

for (const connections of [1, 64, 1000])
  test(`64 KiB, and 16 KiB more for each of ${connections} connections, within 80 ms of work`, (t) => {
    const most = Math.floor((65_536 + connections * 16_384) / head.length);
    t.is(answeredAtOnce(connections, 79), most);
    t.is(answeredAtOnce(connections, 80), 0);
  });
