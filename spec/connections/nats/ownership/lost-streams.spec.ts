// Servers that have lost all that they stored: each connection stays with the hub that had it, whichever hub is back first. Real hubs, and a
// real server.

import { once } from 'node:events';
import { createServer, connect as openSocket, type Socket } from 'node:net';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import test, { type ExecutionContext } from 'ava';
import { eventually } from '../../../support/deadline.ts';
import { type HubUnderTest, startTestHub, statusOf } from '../../../support/hub.ts';
import { startNats } from '../../../support/nats/servers.ts';
import { needs } from '../../../support/programs.ts';

needs('nats');

const lamp = (value: number) => ({ type: 'dummy', parameters: [`lamp,I,${value}`] });

test('when servers have lost the claims, the first returning hub leaves each connection to its former hub', async (t) => {
  const nats = await startNats();
  t.teardown(() => nats.end());
  const [server] = nats.servers;
  const way = await openWay(t, server!.port);
  const start = (hub: string, port: number, connections: object) => {
    const house = { type: 'nats', servers: [`nats://127.0.0.1:${port}`], domain: 'd', hub };
    return startTestHub(t, { connections: { house, ...connections } });
  };
  const west = await start('west', way.port, { desk: lamp(1) });
  await eventually(() => leaseOf(west)?.state === 'held' && statusOf(west, 'desk').state === 'running');
  const term = leaseOf(west)!.term!;
  const east = await start('east', server!.port, { desk: lamp(2), rack: lamp(2) });
  await eventually(() => statusOf(east, 'desk').state === 'failed' && statusOf(east, 'rack').state === 'running');

  const before = west.lines.length;
  const isLeftAlone = () => !west.lines.slice(before).some(({ message }) => message.startsWith('connection "desk"'));
  const loseAll = async () => {
    way.close();
    await server!.kill();
    await server!.lose();
    await server!.start();
  };
  await loseAll();
  await eventually(async () => {
    const claims = await claimsAt(server!.url);
    if (claims === undefined) await server!.start(); // one of version 2.9 dies now and then when it has lost what it stored
    return claims?.rack === 'east';
  }, 'east is back');
  t.deepEqual(await claimsAt(server!.url), { desk: 'west', rack: 'east' });
  way.open();
  await eventually(() => leaseOf(west)?.state === 'held' && leaseOf(west)!.term! > term, 'a greater term than before');
  t.deepEqual(await claimsAt(server!.url), { desk: 'west', rack: 'east' });
  t.false(
    east.lines.some(({ message }) => message === 'connection "desk" is running'),
    'it has never started',
  );
  t.true(isLeftAlone(), 'it has run all the time');
});

const leaseOf = (hub: HubUnderTest) => hub.mirroring.domain?.().lease;

/** What the stream of the claims has; undefined: no server answers. */
async function claimsAt(url: string): Promise<Record<string, string> | undefined> {
  const connection = await connect({ servers: url }).catch(() => undefined);
  if (connection === undefined) return undefined;
  try {
    const { streams } = await jetstreamManager(connection, { checkAPI: false });
    const message = await streams.getMessage('patchbay+d', { last_by_subj: 'patchbay.d.claims' }).catch(() => null);
    return message?.json<Record<string, string>>() ?? {};
  } finally {
    await connection.close();
  }
}

/** A way to a port, which may be closed for a while. */
async function openWay(t: ExecutionContext, to: number) {
  const sockets = new Set<Socket>();
  let isOpen = true;
  const listener = createServer((socket) => {
    const beyond = isOpen ? openSocket({ port: to, host: '127.0.0.1' }) : socket;
    for (const one of [socket, beyond]) {
      sockets.add(one);
      one.on('error', () => {}).on('close', () => [socket, beyond].map((end) => end.destroy()));
    }
    if (isOpen) socket.pipe(beyond).pipe(socket);
    else socket.destroy();
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const cut = () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  t.teardown(() => {
    listener.close();
    cut();
  });
  return {
    port: (listener.address() as { port: number }).port,
    open() {
      isOpen = true;
    },
    close() {
      isOpen = false;
      cut();
    },
  };
}
