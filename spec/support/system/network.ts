// A network between clients and a hub that can be cut, that can fall silent without a sign, as networks do, and that can be
// listened to.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { ExecutionContext } from 'ava';

export interface Network {
  /** Where clients connect. */
  readonly port: number;
  /** How many connections there were. */
  readonly connections: number;
  /** How many bytes clients were sent. */
  readonly bytes: number;
  /** Ends all connections at once. */
  cut(): void;
  /** Lets nothing through any more, new connections included, and says nothing. */
  freeze(): void;
  thaw(): void;
}

/** Hears what is sent on the n-th connection, from 1 on. */
export type Listener = (connection: number, sender: 'client' | 'hub', data: Buffer) => void;

/** Opens a network in front of a port. */
export async function openNetwork(t: ExecutionContext, hubPort: number, hear: Listener = () => {}): Promise<Network> {
  const sockets = new Set<Socket>();
  let connections = 0;
  let bytes = 0;
  let isFrozen = false;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    if (isFrozen) socket.pause();
    socket.on('error', () => {}); // a reset is seen as a close
    socket.on('close', () => sockets.delete(socket));
  };
  const server = createServer((client) => {
    const connection = ++connections;
    const hub = connect(hubPort, '127.0.0.1');
    for (const [socket, other] of [
      [client, hub],
      [hub, client],
    ] as const) {
      keep(socket);
      socket.on('data', (data) => {
        if (other === client) bytes += data.length;
        hear(connection, other === client ? 'hub' : 'client', data);
        other.write(data);
      });
      socket.on('close', () => other.destroy());
      if (isFrozen) socket.pause();
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  t.teardown(() => {
    server.close();
    cut();
  });
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections;
    },
    get bytes() {
      return bytes;
    },
    cut,
    freeze() {
      isFrozen = true;
      for (const socket of sockets) socket.pause();
    },
    thaw() {
      isFrozen = false;
      for (const socket of sockets) socket.resume();
    },
  };
}
