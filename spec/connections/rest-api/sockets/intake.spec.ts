// What the intake keeps of clients while a round of the event loop lasts long, and how it is handed over afterwards.

import test from 'ava';
import type { LimitHits } from '../../../../lib/connections/rest-api/limits/limit-hits.ts';
import type { FairQueue, Task } from '../../../../lib/connections/rest-api/pacing/fair-queue.ts';
import type { Round } from '../../../../lib/connections/rest-api/pacing/round.ts';
import type { Settings } from '../../../../lib/connections/rest-api/settings.ts';
import { Backlog, Intake } from '../../../../lib/connections/rest-api/sockets/intake.ts';
import {
  heartbeatPayload,
  type Session,
  type Socket,
} from '../../../../lib/connections/rest-api/sockets/socket-protocol.ts';
import { eventually } from '../../../support/deadline.ts';
import '../../../support/own-process.ts';

const encode = (text: string) => new TextEncoder().encode(text).buffer;
const decode = (message: ArrayBuffer) => new TextDecoder().decode(message);

/** An intake in a round that has lasted long, and a client whose session notes what it is handed; `comeFrom` makes further ones. */
function startLate() {
  const waiting = new Set<Task>();
  const round: Pick<Round, 'hasTime' | 'number'> = { hasTime: () => false, number: 1 };
  const queue: Pick<FairQueue, 'add' | 'hasTime'> = { add: (task) => void waiting.add(task), hasTime: () => true };
  const settings = { limits: { backlogBytes: 1_000_000 } };
  const hits = { add: () => {} };
  const intake = new Intake(round as Round, queue as FairQueue, hits as unknown as LimitHits, settings as Settings);
  const handed: string[] = [];
  const session = {
    isBusy: false,
    receive: (message: ArrayBuffer) => void handed.push(decode(message)),
    ponged: () => void handed.push('pong'),
  };
  const nextRound = () => {
    for (const task of waiting) if (!task.advance(Number.POSITIVE_INFINITY)) waiting.delete(task);
  };
  const user = { session, principal: {}, remoteAddress: '127.0.0.1' };
  const socket = { getUserData: () => user, cork: (work: () => void) => work() } as unknown as Socket;
  const comeFrom = (remoteAddress: string) => {
    const end = () => {
      further.hasEnded = true;
    };
    const further = { isBusy: false, hasEnded: false, end };
    const about = { session: further, principal: { name: '' }, remoteAddress };
    return { ...about, socket: { getUserData: () => about } as unknown as Socket };
  };
  return { intake, socket, session, handed, nextRound, comeFrom };
}

test('the answer to a ping that comes while messages wait counts once they have been received', (t) => {
  const { intake, socket, handed, nextRound } = startLate();
  for (const text of ['one', 'two']) intake.message(socket, encode(text), false);
  intake.pong(socket, 0);
  t.deepEqual(handed, []);
  nextRound();
  t.deepEqual(handed, ['one', 'two', 'pong']);
  intake.pong(socket, 0);
  t.deepEqual(handed.splice(0), ['one', 'two', 'pong', 'pong'], 'nothing waits any more');
  intake.pong(socket, heartbeatPayload.length);
  intake.message(socket, encode('three'), false);
  nextRound();
  t.deepEqual(handed, ['three'], 'no heartbeat counts, and no answer twice');
});

test('the answer of a client whose last message takes long counts once that is done', (t) => {
  const { intake, socket, session, handed, nextRound } = startLate();
  intake.message(socket, encode('long'), false);
  session.receive = (message) => {
    handed.push(decode(message));
    session.isBusy = true;
  };
  nextRound();
  intake.pong(socket, 0);
  nextRound();
  t.deepEqual(handed, ['long']);
  session.isBusy = false;
  intake.resume(session as unknown as Session);
  nextRound();
  t.deepEqual(handed, ['long', 'pong']);
});

test('messages of all lengths come out of a backlog as they went in', (t) => {
  const backlog = new Backlog();
  const lengths = [0, 1, 40, 1000, 1024, 1025, 5000, 70_000, 262_144, 300_000, 3];
  const texts = lengths.map((length, index) => String.fromCharCode(97 + index).repeat(length));
  for (let round = 0; round < 3; round++) {
    for (const [index, text] of texts.entries()) backlog.put(encode(text), index % 2 === 1);
    t.is(backlog.length, texts.length);
    for (const [index, text] of texts.entries()) {
      const { message, isBinary } = backlog.take()!;
      t.true(decode(message) === text && isBinary === (index % 2 === 1), `${text.length} bytes`);
    }
    t.is(backlog.take(), undefined);
    t.is(backlog.bytes, 0);
  }
});

test('short messages of many clients take little memory', (t) => {
  const before = process.memoryUsage().arrayBuffers;
  const backlogs = Array.from({ length: 1000 }, () => new Backlog());
  for (const backlog of backlogs) backlog.put(encode('{"sub":1,"include":["**"]}'), false);
  const bytes = (process.memoryUsage().arrayBuffers - before) / backlogs.length;
  t.true(bytes < 4096, `${bytes} bytes each`);
});

/** Sends messages or pings of 31 bytes on the wire until the client is ended, at most so many; returns how many. */
function sendUntilEnded(send: () => void, session: { readonly hasEnded: boolean }, most: number): number {
  let count = 0;
  while (count < most && !session.hasEnded) {
    send();
    count++;
  }
  return count;
}

for (const [what, act] of [
  ['messages', (intake: Intake, socket: Socket) => intake.message(socket, encode('x'.repeat(25)), false)],
  ['pings', (intake: Intake, socket: Socket) => intake.control(socket, 25)],
] as const)
  test(`README: after eight floods of an address its next clients may be 4 KiB ahead with ${what}, those of others 64 KiB`, async (t) => {
    const { intake, comeFrom } = startLate();
    const send = (address: string, most: number) => {
      const { socket, session } = comeFrom(address);
      return sendUntilEnded(() => act(intake, socket), session, most);
    };
    for (let client = 0; client < 20; client++) t.is(send('192.0.2.1', 2000), 2000, 'nobody floods');
    let count = 0;
    const isEndedSoon = () => {
      for (let flood = 0; flood < 12; flood++) t.true(send('192.0.2.1', 40_000) < 40_000);
      count = send('192.0.2.1', 2000);
      return count < 2000;
    };
    await eventually(isEndedSoon, 'an end, as the machine does not stand still');
    t.true(count * 31 > 4096 && count * 31 <= 3 * 4096, `${count}`);
    t.is(send('192.0.2.2', 2000), 2000, 'others are not ended');
  });

test('README: after 32 floods of many addresses the clients of each that has flooded may be 4 KiB ahead', async (t) => {
  const { intake, comeFrom } = startLate();
  const send = (address: string, most: number) => {
    const { socket, session } = comeFrom(address);
    return sendUntilEnded(() => intake.control(socket, 25), session, most);
  };
  const isEndedSoon = () => {
    for (let flood = 0; flood < 50; flood++) send(`192.0.2.${flood}`, 40_000);
    return send('192.0.2.1', 2000) < 500;
  };
  await eventually(isEndedSoon, 'an end, as the machine does not stand still'); // allowances come back meanwhile
  t.is(send('192.0.2.99', 2000), 2000, 'one that has not');
});
