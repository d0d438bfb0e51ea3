import { existsSync } from 'node:fs';
import test from 'ava';
import { peersIn, peersOf } from '../../lib/net/linux-sockets.ts';
import { api, startTestHub } from '../support/hub.ts';
import { openClient } from '../support/sockets/socket.ts';

const tables = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:4273 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1
   1: 0100007F:4273 0100007F:D431 01 00000000:00000000 00:00000000 00000000     0        0 2
   2: 0100007F:4273 0100007F:D432 08 00000000:00000000 00:00000000 00000000     0        0 3
   3: 0100007F:4273 0100007F:D433 06 00000000:00000000 00:00000000 00000000     0        0 4
   4: 0100007F:D431 0100007F:4273 01 00000000:00000000 00:00000000 00000000     0        0 5
   6: 0100007F:4273 0100007F:D434 01 00000000:00000000 00:00000000 00000000     0        0 0
   0: 0000000000000000FFFF00000100007F:4273 0000000000000000FFFF0000070200C0:8000 01 00000000:00000000 00:00000000 00000000  1000        0 6
   1: B80D0120000000000000000001000000:4273 B80D0120020001000000000005000000:8001 01 00000000:00000000 02:000A7D8C 00000000     0        0 7
`;

test('connections of a port are counted by address; IPv4 in IPv6 counts as IPv4; ended, listening and unaccepted ones do not count', (t) => {
  t.deepEqual(
    [...peersIn(tables, 17_011)],
    [
      ['127.0.0.1', 2],
      ['192.0.2.7', 1],
      ['2001:0db8:0001:0002:0000:0000:0000:0005', 1],
    ],
  );
});

const onLinux = existsSync('/proc/net/tcp') ? test : test.skip;
onLinux('the system tells of the clients of a hub', async (t) => {
  const hub = await startTestHub(t, { connections: { api } });
  const before = (await peersOf(hub.port)).get('127.0.0.1') ?? 0;
  await openClient(t, hub.port);
  await openClient(t, hub.port);
  t.is((await peersOf(hub.port)).get('127.0.0.1'), before + 2);
});
