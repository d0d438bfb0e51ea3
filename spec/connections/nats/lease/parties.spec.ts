// Whether another run of a hub is there: it answers, nobody listens, or nobody can say.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import test from 'ava';
import { lifeOf } from '../../../../lib/connections/nats/lease/parties.ts';
import type { Session } from '../../../../lib/connections/nats/link/nats-link.ts';
import { timeOf } from '../../../support/system/machine.ts';

const name = { domain: 'd', hub: 'west' };

/** A session in which a socket answers. */
function sessionWith(port: number): Session {
  const request = async (_subject: string, _data: unknown, timeoutMs: number) => {
    const socket = connect(port, '127.0.0.1');
    try {
      const [answer] = await once(socket, 'data', { signal: AbortSignal.timeout(timeoutMs) });
      return answer;
    } finally {
      socket.destroy();
    }
  };
  return { transport: { publish() {}, subscribe: () => () => {}, request } } as unknown as Session;
}

test('a hub that answers is present, even if this thread was busy until long after the answer', async (t) => {
  const server = createServer((socket) => {
    socket.end('yes');
    block(900);
  });
  t.teardown(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.is(await lifeOf(sessionWith((server.address() as AddressInfo).port), name, 'x'), 'there');
});

test('the register waits at most half a second for a silent hub', async (t) => {
  const server = createServer(() => {});
  t.teardown(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const session = sessionWith((server.address() as AddressInfo).port);
  const ms = await timeOf(async () => t.is(await lifeOf(session, name, 'x'), 'silent'));
  t.true(ms >= 450, `after ${Math.round(ms)} ms`);
  t.is(await lifeOf(undefined, name, 'x'), 'silent', 'there is no session');
});

function block(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}
