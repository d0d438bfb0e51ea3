import test from 'ava';
import fc from 'fast-check';
import { ReceivedBatches } from '../../../load/received/received-batches.ts';

test('a batch is received by all once the last socket has it', (t) => {
  const received = new ReceivedBatches(2);
  t.false(received.add(0, 1));
  t.deepEqual([received.byFirst, received.byAll], [1, 0]);
  t.false(received.add(0, 2));
  t.true(received.add(1, 2));
  t.deepEqual([received.byFirst, received.byAll], [2, 2]);
});

test('the first and the last sockets count, in any order', (t) => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), fc.array(fc.nat(4), { maxLength: 200 }), (sockets, steps) => {
      const received = new ReceivedBatches(sockets);
      const counts = Array.from({ length: sockets }, () => 0);
      for (const step of steps) {
        const socket = step % sockets;
        if (counts[socket]! > Math.min(...counts) + 1) continue; // two batches are under way at most
        received.add(socket, ++counts[socket]!);
        if (received.byFirst !== Math.max(...counts) || received.byAll !== Math.min(...counts)) return false;
      }
      return true;
    }),
  );
  t.pass();
});
