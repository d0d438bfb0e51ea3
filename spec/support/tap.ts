// A wire in front of a hub that is listened to: which requests a browser sends, and how each of them was answered.

import { EventEmitter, once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import type { ExecutionContext } from 'ava';
import { deadlineMs } from './deadline.ts';

export interface Tap {
  /** Where clients connect. */
  readonly port: number;
  /** How requests with `via=<name>` in their path were answered: waits for one of each name, not longer than this. */
  statusesOf(names: readonly string[], limitMs?: number): Promise<Record<string, number[]>>;
}

/** Opens one in front of a port; requests on a connection are expected one after the other, as browsers send them. */
export async function openTap(t: ExecutionContext, hubPort: number): Promise<Tap> {
  const wires: { asked: string; answered: string }[] = [];
  const news = new EventEmitter();
  const server = createServer((client) => {
    const hub = connect(hubPort, '127.0.0.1');
    const wire = { asked: '', answered: '' };
    wires.push(wire);
    client.on('data', (data) => {
      wire.asked += data.toString('latin1');
    });
    hub.on('data', (data) => {
      wire.answered += data.toString('latin1');
      news.emit('answer');
    });
    client.pipe(hub).pipe(client);
    client.on('error', () => hub.destroy());
    hub.on('error', () => client.destroy());
    t.teardown(() => client.destroy());
  }).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');

  const statuses = (name: string) =>
    wires.flatMap(({ asked, answered }) => {
      const codes = [...answered.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, code]) => Number(code));
      const paths = [...asked.matchAll(/^[A-Z]+ (\S+) HTTP\/1\.1\r$/gm)].map(([, path]) => path!);
      return paths.flatMap((path, index) =>
        new URLSearchParams(path.split('?')[1]).get('via') === name && index in codes ? [codes[index]!] : [],
      );
    });
  return {
    port: (server.address() as AddressInfo).port,
    async statusesOf(names, limitMs = deadlineMs) {
      const signal = AbortSignal.timeout(limitMs);
      for (;;) {
        const found = Object.fromEntries(names.map((name) => [name, statuses(name)]));
        const isComplete = Object.values(found).every((codes) => codes.length > 0);
        if (isComplete || signal.aborted) return found;
        await once(news, 'answer', { signal }).catch(() => {}); // late: the loop ends
      }
    },
  };
}
