// The link of a hub to a server, or of a server to another one: TCP through this script, which can hold back what either side sends.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export type Direction = 'out' | 'in';

export interface LinkProxy {
  readonly port: number;
  /** Whether somebody is connected. */
  readonly isOpen: boolean;
  /** Holds back what who connects sends (`out`), or what is sent to it (`in`); what connects meanwhile is taken and gets no further. */
  cut(directions: readonly Direction[]): void;
  /** Lets everything through, what was held back first. */
  heal(): void;
  end(): void;
}

export async function startProxy(port: number): Promise<LinkProxy> {
  const pairs = new Set<{ dialler: Socket; server: Socket }>();
  let cut: readonly Direction[] = [];
  const listener = createServer((dialler) => {
    const server = connect(port, '127.0.0.1');
    const pair = { dialler, server };
    pairs.add(pair);
    const end = () => {
      pairs.delete(pair);
      dialler.destroy();
      server.destroy();
    };
    for (const socket of [dialler, server]) socket.on('error', end).on('close', end).setNoDelay(true);
    dialler.on('data', (data) => forward(server, dialler, data));
    server.on('data', (data) => forward(dialler, server, data));
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
      ({ dialler, server }) => (socket === dialler && cut.includes('out')) || (socket === server && cut.includes('in')),
    );
  const hold = ({ dialler, server }: { dialler: Socket; server: Socket }) => {
    if (cut.includes('out')) dialler.pause();
    if (cut.includes('in')) server.pause();
  };
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port: own } = listener.address() as AddressInfo;
  const endAll = () => {
    for (const { dialler, server } of pairs) {
      dialler.destroy();
      server.destroy();
    }
  };
  return {
    port: own,
    get isOpen() {
      return pairs.size > 0;
    },
    cut(directions) {
      cut = directions;
      for (const pair of pairs) hold(pair);
    },
    heal() {
      cut = [];
      for (const { dialler, server } of pairs) {
        dialler.resume();
        server.resume();
      }
    },
    end() {
      listener.close();
      endAll();
    },
  };
}
