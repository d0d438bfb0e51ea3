// docs/protocol.md "Stale parameters": what has changed meanwhile comes before a parameter is told to be fresh. The reader is played.

import test from 'ava';
import type { Remote } from '../../../../../lib/model/parameter.ts';
import { within } from '../../../../support/deadline.ts';
import { ScriptedDesk } from '../../../../support/sockets/scripted/desk.ts';
import { ScriptedReader } from '../../../../support/sockets/scripted/reader.ts';

const count = 20;
/** A few values fill a socket. */
const padding = 'x'.repeat(900);
const nextRound = () => new Promise((done) => setImmediate(done));

for (const delivery of ['latest', 'all'] as const)
  test(`${delivery}: a client that did not read gets the newest values first, and then learns that they are fresh`, async (t) => {
    const remote = { hub: 'west', staleSince: undefined as number | undefined, write: async () => [] };
    const ids = Array.from({ length: count }, (_, index) => `p${index}`);
    const context = new ScriptedDesk(ids.map((id) => ({ id, type: 'S', access: 'read-write' })));
    const parameters = [...context.graph.parameters()];
    for (const parameter of parameters) (parameter as { remote?: Remote }).remote = remote;
    const write = (value: number) => {
      for (const { address } of parameters) context.set(address, `${value} ${padding}`);
    };
    const reader = new ScriptedReader(context);
    const until = async (isSo: () => boolean) => {
      while (!isSo()) {
        await nextRound();
        reader.drain();
      }
    };
    write(1);
    reader.subscribe(1, { include: ['**'], rate: 0, delivery });
    await within(
      until(() => reader.state === 'live'),
      'an end',
    );
    remote.staleSince = Date.now();
    context.groups.staleness.look(parameters);
    await within(
      until(() => reader.stale.size === count),
      'what is stale',
    );
    reader.socket.isReading = false;
    for (let value = 2; value < 5; value++) {
      write(value);
      await nextRound();
    }
    reader.socket.isReading = true;
    reader.drain(); // it has room again, and lacks most values
    remote.staleSince = undefined;
    context.groups.staleness.look(parameters);
    await within(
      until(() => reader.stale.size === 0),
      'what is fresh',
    );
    t.deepEqual(reader.faults, []);
    t.deepEqual([...new Set(reader.atFresh.values())], [4]);
  });
