// What a hub that has ended cleanly leaves on the disk: databases that nobody has open, and no log beside them.

import test from 'ava';
import { writer } from '../../support/hub.ts';
import { install } from '../../support/store/store.ts';

test('a hub that ends while its past is read leaves no log next to its databases', async (t) => {
  const installation = await install(t, { desk: { type: 'dummy', parameters: ['level,F,0'] } });
  for (let round = 0; round < 5; round++) {
    const hub = await installation.start();
    hub.write('desk/level', round + 1, writer);
    const { past, audit } = hub.persistence.archive!;
    await audit!.flush();
    const range = { from: 0, to: Date.now() };
    const parameters = [{ address: 'desk/level', type: 'F' as const }];
    const ask = () => [
      past!.ask({ ask: 'audit', ...range, limit: 1000 }, 'spec', () => true),
      past!.ask(
        { ask: 'history', ...range, parameters, list: undefined, points: 10_000, format: 'json' },
        'spec',
        () => true,
      ),
    ];
    await Promise.all(ask());
    const underWay = Promise.allSettled(Array.from({ length: 50 }, ask).flat());
    await hub.stop();
    for (const one of await underWay) if (one.status === 'rejected') t.is(one.reason.code, 'unavailable');
    await installation.closed();
  }
  t.pass();
});
