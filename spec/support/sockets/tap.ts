// A network in front of a hub that is listened to: which requests a browser sends, and how each of them was answered.

import { EventEmitter, once } from 'node:events';
import type { ExecutionContext } from 'ava';
import { deadlineMs } from '../deadline.ts';
import { openNetwork } from '../system/network.ts';

/** The first line of a request. It does not always begin a line: the body of the request before need not end one. */
const requestLine = /(?:GET|HEAD|POST|PUT|DELETE|OPTIONS) (\S+) HTTP\/1\.1\r\n/g;

export interface Tap {
  /** Where clients connect. */
  readonly port: number;
  /** How requests with `via=<name>` in their path were answered: waits for one of each name, not longer than this. */
  statusesOf(names: readonly string[], limitMs?: number): Promise<Record<string, number[]>>;
}

/** Opens one in front of a port; requests on a connection are expected one after the other, as browsers send them. */
export async function openTap(t: ExecutionContext, hubPort: number): Promise<Tap> {
  const wires = new Map<number, { client: string; hub: string }>();
  const news = new EventEmitter();
  const { port } = await openNetwork(t, hubPort, (connection, sender, data) => {
    const wire = wires.get(connection) ?? { client: '', hub: '' };
    wires.set(connection, wire);
    wire[sender] += data.toString('latin1');
    if (sender === 'hub') news.emit('answer');
  });

  const statuses = (name: string) =>
    [...wires.values()].flatMap(({ client, hub }) => {
      const codes = [...hub.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, code]) => Number(code));
      const paths = [...client.matchAll(requestLine)].map(([, path]) => path!);
      return paths.flatMap((path, index) =>
        new URLSearchParams(path.split('?')[1]).get('via') === name && index in codes ? [codes[index]!] : [],
      );
    });
  return {
    port,
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
