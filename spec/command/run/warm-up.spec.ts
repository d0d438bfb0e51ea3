// The warm-up before a hub: it goes all the way through a hub, and leaves nothing behind.

import test from 'ava';
import { warmUp } from '../../../lib/command/run/warm-up.ts';

test('a warm-up ends by itself, within its time, and leaves neither sockets nor listeners behind', async (t) => {
  const before = openSockets();
  await warmUp();
  t.deepEqual(openSockets(), before);
});

/** The kinds of what would keep the process alive that have to do with the network. */
function openSockets(): string[] {
  return process
    .getActiveResourcesInfo()
    .filter((kind) => /TCP|Poll|Server/i.test(kind))
    .sort();
}
