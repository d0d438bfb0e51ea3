// 400 crosspoints that are set in one turn, at routers whose side has Nagle's algorithm on: what a router writes in a second piece stays there
// until the first piece is acknowledged, which takes 40 ms unless the hub has something to send. One command after the other would take 16 s.

import test, { type ExecutionContext } from 'ava';
import { eventually } from '../../support/deadline.ts';
import { startTestHub, statusOf, writer } from '../../support/hub.ts';
import { startPeer } from '../../support/peer.ts';
import { type Fake, routers } from './fakes.ts';

const count = 400;
const limitMs = 8000; // 300 on a machine that does nothing else

for (const [protocol, create] of Object.entries(routers))
  test.serial(`400 crosspoints of one turn reach a router with Nagle's algorithm at once: ${protocol}`, (t) =>
    setAll(t, protocol, create(count)),
  );

async function setAll(t: ExecutionContext, protocol: string, fake: Fake): Promise<void> {
  const { settings, greeting, findEnd, end, answer, writes } = fake;
  const peer = await startPeer(t, {
    ...(greeting && { greeting }),
    ...(findEnd && { findEnd }),
    end: end!,
    answer,
    hasNagle: true,
  });
  const hub = await startTestHub(t, {
    connections: { it: { type: 'device', tcp: `127.0.0.1:${peer.port}`, protocol, ...settings } },
  });
  await eventually(() => statusOf(hub, 'it').state === 'running', 'the router to be there');
  const addresses = Object.entries(writes).map(([id, [value]]) => [`it/${id}`, value!] as const);
  const startMs = performance.now();
  hub.turn(() => {
    for (const [address, wanted] of addresses) hub.write(address, wanted, writer);
  });
  await eventually(
    () =>
      addresses.every(
        ([address, wanted]) => hub.find(address)!.value === wanted && hub.find(address)!.wanted === undefined,
      ),
    'all crosspoints to be confirmed',
  );
  const tookMs = performance.now() - startMs;
  t.log(`${tookMs.toFixed(0)} ms`);
  t.true(tookMs < limitMs, `${tookMs} ms`);
}
