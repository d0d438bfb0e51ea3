// The link of one hub to one server: TCP through this script, which can hold back what either side sends.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export type Direction = 'out' | 'in';

export interface LinkProxy {
  readonly url: string;
  /** Holds back what the hub sends (`out`), or what the server sends (`in`); what connects meanwhile is taken and gets no further. */
  cut(directions: readonly Direction[]): void;
  /** Lets everything through, what was held back first. */
  heal(): void;
  end(): void;
}

export async function startProxy(port: number): Promise<LinkProxy> {
  const pairs = new Set<{ hub: Socket; server: Socket }>();
  let cut: readonly Direction[] = [];
  const listener = createServer((hub) => {
    const server = connect(port, '127.0.0.1');
    const pair = { hub, server };
    pairs.add(pair);
    const end = () => {
      pairs.delete(pair);
      hub.destroy();
      server.destroy();
    };
    for (const socket of [hub, server]) socket.on('error', end).on('close', end).setNoDelay(true);
    hub.on('data', (data) => forward(server, hub, data));
    server.on('data', (data) => forward(hub, server, data));
    hold(pair);
  });
  const forward = (to: Socket, from: Socket, data: Buffer) => {
    if (to.write(data)) return;
    from.pause();
    to.once('drain', () => {
      if (!isHeld(from)) from.resume();
    });
  };
  const isHeld = (socket: Socket) =>
    [...pairs].some(
      ({ hub, server }) => (socket === hub && cut.includes('out')) || (socket === server && cut.includes('in')),
    );
  const hold = ({ hub, server }: { hub: Socket; server: Socket }) => {
    if (cut.includes('out')) hub.pause();
    if (cut.includes('in')) server.pause();
  };
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port: own } = listener.address() as AddressInfo;
  const endAll = () => {
    for (const { hub, server } of pairs) {
      hub.destroy();
      server.destroy();
    }
  };
  return {
    url: `nats://127.0.0.1:${own}`,
    cut(directions) {
      cut = directions;
      for (const pair of pairs) hold(pair);
    },
    heal() {
      cut = [];
      for (const { hub, server } of pairs) {
        hub.resume();
        server.resume();
      }
    },
    end() {
      listener.close();
      endAll();
    },
  };
}
