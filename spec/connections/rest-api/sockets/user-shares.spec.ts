// What the clients of one user do not read is looked at over several looks, in which clients come and go.

import { setImmediate } from 'node:timers/promises';
import test from 'ava';
import { createLimitHits } from '../../../../lib/connections/rest-api/limits/limit-hits.ts';
import type { ConnectedClient, Socket } from '../../../../lib/connections/rest-api/sockets/socket-protocol.ts';
import { closeSocket, UnreadWatch } from '../../../../lib/connections/rest-api/sockets/user-shares.ts';
import { Journal } from '../../../../lib/hub/journal.ts';
import { createLogRecorder } from '../../../support/connection.ts';
import { eventually } from '../../../support/deadline.ts';

const unreadBytes = 1000;
const mebibyte = 1024 * 1024;

test('a client that leaves between two checks is not ended, and its bytes do not count', async (t) => {
  const connected = new Set<ConnectedClient>();
  const ended: number[] = [];
  let looked = 0;
  for (let id = 0; id < 1500; id++) {
    const session = {
      get unreadBytes() {
        looked++;
        return id < 10 ? unreadBytes + 10 - id : 0;
      },
      end: () => ended.push(id),
    };
    connected.add({
      id,
      remoteAddress: '127.0.0.1',
      principal: { name: 'ann' },
      session,
    } as unknown as ConnectedClient);
  }
  const clients = { clients: () => connected, has: (client: ConnectedClient) => connected.has(client) };
  const hits = createLimitHits(Journal.of(createLogRecorder()));
  const watch = new UnreadWatch(clients, { unreadBytes, unreadBytesPerUser: 5 * unreadBytes }, hits);
  t.teardown(() => watch.stop());
  watch.added(connected.size);
  await eventually(() => looked > 0);
  t.true(looked <= 1000, 'the walk is not over');
  for (const client of connected) if (client.id < 3) connected.delete(client);
  await eventually(() => ended.length > 0);
  t.deepEqual(ended, [3, 4, 5], 'with these gone the other four hold less than 5,000 bytes');
});

test('after long texts all clients are checked before the next regular check', async (t) => {
  const connected = new Set<ConnectedClient>();
  const ended: number[] = [];
  let unread = 0;
  for (let id = 0; id < 3000; id++) {
    const session = {
      get unreadBytes() {
        return id >= 2990 ? unread : 0;
      },
      end: () => ended.push(id),
    };
    connected.add({
      id,
      remoteAddress: '127.0.0.1',
      principal: { name: 'ann' },
      session,
    } as unknown as ConnectedClient);
  }
  const clients = { clients: () => connected, has: (client: ConnectedClient) => connected.has(client) };
  const hits = createLimitHits(Journal.of(createLogRecorder()));
  const watch = new UnreadWatch(clients, { unreadBytes, unreadBytesPerUser: 8 * unreadBytes }, hits);
  t.teardown(() => watch.stop());
  watch.added(connected.size);
  unread = unreadBytes;
  watch.published(mebibyte);
  await setImmediate();
  t.deepEqual(ended, [], 'of so little nobody is full');
  watch.published(64 * mebibyte);
  t.deepEqual(ended, [], 'within the call a client may be at work');
  await setImmediate();
  t.is(ended.length, 2, 'the ten held more than 8,000 bytes');
});

test('a closed client that does not read is cut, while much is held for other closed clients', (t) => {
  const reported: string[] = [];
  const client = (unread: number) => {
    const data = { isCut: false };
    const socket = {
      getBufferedAmount: () => unread,
      getUserData: () => data,
      end: (code: number) => reported.push(`${code}`),
      close: () => reported.push('cut'),
    } as unknown as Socket;
    closeSocket(socket, 4001, 'you do not read');
    return data.isCut;
  };
  for (let count = 0; count < 16; count++) t.false(client(mebibyte));
  t.true(client(mebibyte));
  t.false(client(0), 'nothing is held for it');
  t.deepEqual(reported, [...Array.from({ length: 16 }, () => '4001'), 'cut', '4001']);
});
