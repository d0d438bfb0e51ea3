// What the hub makes of the reasons that the server gives for a socket that it has cut.

import { readFileSync } from 'node:fs';
import test from 'ava';
import { limitOfCut, limitsByReason } from '../../../../lib/connections/rest-api/sockets/sockets.ts';
import { closesLateUpgrades } from '../../../../lib/net/uws.ts';

test('the server gives these reasons: its binary contains them', (t) => {
  closesLateUpgrades(); // loads it
  const { sharedObjects } = process.report.getReport() as { sharedObjects: string[] };
  const binary = sharedObjects.find((path) => /uws[^/\\]*\.node$/.test(path));
  const bytes = readFileSync(binary!);
  for (const reason of limitsByReason.keys()) t.true(bytes.includes(reason), reason);
});

test('a socket that was cut for such a reason has exceeded the limit; one that a client closed with these words has not', (t) => {
  for (const [reason, limit] of limitsByReason) {
    const bytes = new TextEncoder().encode(reason).buffer;
    t.is(limitOfCut(1006, bytes), limit);
    t.is(limitOfCut(1000, bytes), undefined);
  }
  t.is(limitOfCut(1006, new ArrayBuffer(0)), undefined);
});
