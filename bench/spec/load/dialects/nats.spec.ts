// What a receiver of NATS takes: messages however they are cut into frames, with the server's PING between any two.

import test from 'ava';
import fc from 'fast-check';
import { encodeServerText } from '../../../../spec/support/load/web-socket.ts';
import { createNatsDialect } from '../../../load/dialects/nats.ts';

const batch = 4;
const welcome = ['INFO {}\r\n', 'PONG\r\n'];
const message = (index: number) => {
  const value = String(index / 1000);
  return `MSG desk.level 1 ${value.length}\r\n${value}\r\n`;
};

function createReceiver() {
  const receiver = createNatsDialect('desk/level', batch).createReceiver();
  const answers: (Buffer | undefined)[] = [];
  const receive = (text: string) => {
    const frame = encodeServerText(text);
    answers.push(receiver.read(frame, frame.length));
  };
  for (const text of welcome) receive(text);
  return { receiver, answers, receive };
}

test('messages arrive in frames of any length, with an answered PING between any two of them', (t) => {
  fc.assert(
    fc.property(fc.nat(8), fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 40 }), (place, lengths) => {
      const texts = Array.from({ length: 8 }, (_, index) => message(index));
      let stream = texts.toSpliced(place, 0, 'PING\r\n').join('');
      const { receiver, answers, receive } = createReceiver();
      for (const length of lengths) {
        if (stream === '') break;
        receive(stream.slice(0, length));
        stream = stream.slice(length);
      }
      if (stream !== '') receive(stream);
      t.is(receiver.countMistake(2), undefined);
      t.is(receiver.batches, 2);
      t.is(answers.filter((answer) => answer?.includes('PONG\r\n')).length, 1);
    }),
    { numRuns: 200 },
  );
});

test('omitted, changed and doubled messages are reported, and so is a PING within a message', (t) => {
  for (const stream of [
    message(0) + message(2),
    message(0) + message(0),
    message(0).replace('0\r\n', '1\r\n'),
    `MSG desk.PING\r\nlevel 1 1\r\n0\r\n`,
    `${message(0)}PINK\r\n`,
  ]) {
    const { receive } = createReceiver();
    t.throws(() => receive(stream), { message: /^byte \d+: expected/ }, JSON.stringify(stream));
  }
});

test('a server that refuses a socket is reported', (t) => {
  const receiver = createNatsDialect('desk/level', batch).createReceiver();
  const frame = encodeServerText("-ERR 'Authorization Violation'\r\n");
  t.throws(() => receiver.read(frame, frame.length), { message: /Authorization Violation/ });
});
