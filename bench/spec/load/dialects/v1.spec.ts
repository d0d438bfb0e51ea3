// What a receiver of patchbay.v1 takes, and each way in which a hub could be wrong.

import test from 'ava';
import { encodeServerText } from '../../../../spec/support/load/web-socket.ts';
import { createV1Dialect } from '../../../load/dialects/v1.ts';

const picture = [
  '{"hello":{"epoch":"e"}}',
  '{"sub":1,"mode":"snapshot","rate":0,"delivery":"all"}',
  '{"def":[[7,"desk/level","F","rw"]]}',
  '{"end":1,"rev":3}',
];

function receive(...texts: string[]) {
  const receiver = createV1Dialect('desk/level', 4).createReceiver();
  for (const text of texts) {
    const frame = encodeServerText(text);
    receiver.read(frame, frame.length);
  }
  return receiver;
}

const set = (...values: number[]) => JSON.stringify({ set: values.map((value) => [7, value]), rev: 9 });

test('a receiver is ready after its snapshot, and counts batches in pieces of any length', (t) => {
  t.false(receive(...picture.slice(0, 3)).isReady);
  const receiver = receive(...picture, set(0, 0.001), set(0.002, 0.003, 0.004));
  t.true(receiver.isReady);
  t.is(receiver.batches, 1);
  t.is(receiver.countMistake(1), 'received 5 changes, expected 4 as were sent');
  t.is(receive(...picture, set(0, 0.001, 0.002, 0.003)).countMistake(1), undefined);
});

const wrong: Record<string, { texts: string[]; says: RegExp }> = {
  'a value that is left out': { texts: [set(0, 0.002)], says: /expected 0\.001 in its turn, got 0\.002/ },
  'a frame that is left out': {
    texts: [set(0, 0.001), set(0.003)],
    says: /expected 0\.002 as the next value, got 0\.003/,
  },
  'a frame that comes twice': { texts: [set(0), set(0)], says: /expected 0\.001 as the next value, got 0/ },
  'a value of another parameter': { texts: ['{"set":[[8,0]],"rev":4}'], says: /expected thousandths in 7, got 0 in 8/ },
  'changes that were lost': { texts: ['{"lost":{"7":3}}'], says: /expected every change/ },
  'an error': { texts: ['{"error":"no"}'], says: /expected no error/ },
};

for (const [name, { texts, says }] of Object.entries(wrong))
  test(`${name} is reported`, (t) => {
    t.throws(() => receive(...picture, ...texts), { message: says });
  });
