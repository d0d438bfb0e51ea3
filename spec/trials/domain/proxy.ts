// The link between a hub and a server, or between two servers: a TCP proxy in this process that can hold back the data of either side.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export type Direction = 'out' | 'in';

export interface LinkProxy {
  readonly port: number;
  /** Whether a client is connected. */
  readonly isOpen: boolean;
  /** Holds back what who connects sends (`out`), or what is sent to it (`in`); what connects meanwhile is taken and gets no further. */
  cut(directions: readonly Direction[]): void;
  /** Lets everything through, what was held back first. */
  heal(): void;
  end(): void;
}

/** Who has connected, and its connection to the server. */
interface Pair {
  readonly dialler: Socket;
  readonly server: Socket;
}

export async function startProxy(port: number): Promise<LinkProxy> {
  const link = new Link();
  const listener = createServer((dialler) => link.add({ dialler, server: connect(port, '127.0.0.1') }));
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return {
    port: (listener.address() as AddressInfo).port,
    get isOpen() {
      return link.isOpen;
    },
    cut: (directions) => link.cut(directions),
    heal: () => link.heal(),
    end() {
      listener.close();
      link.end();
    },
  };
}

/** The connections through a proxy. */
class Link {
  readonly #pairs = new Set<Pair>();
  #cut: readonly Direction[] = [];

  get isOpen(): boolean {
    return this.#pairs.size > 0;
  }

  add(pair: Pair): void {
    const { dialler, server } = pair;
    this.#pairs.add(pair);
    const end = () => {
      this.#pairs.delete(pair);
      destroy(pair);
    };
    for (const socket of [dialler, server]) socket.on('error', end).on('close', end).setNoDelay(true);
    this.#forward(dialler, server, 'out');
    this.#forward(server, dialler, 'in');
    this.#hold(pair);
  }

  cut(directions: readonly Direction[]): void {
    this.#cut = directions;
    for (const pair of this.#pairs) this.#hold(pair);
  }

  heal(): void {
    this.#cut = [];
    for (const { dialler, server } of this.#pairs) {
      dialler.resume();
      server.resume();
    }
  }

  end(): void {
    for (const pair of this.#pairs) destroy(pair);
  }

  #forward(from: Socket, to: Socket, direction: Direction): void {
    from.on('data', (data) => {
      if (to.write(data)) return;
      from.pause();
      to.once('drain', () => {
        if (!this.#cut.includes(direction)) from.resume();
      });
    });
  }

  #hold({ dialler, server }: Pair): void {
    if (this.#cut.includes('out')) dialler.pause();
    if (this.#cut.includes('in')) server.pause();
  }
}

function destroy({ dialler, server }: Pair): void {
  dialler.destroy();
  server.destroy();
}
