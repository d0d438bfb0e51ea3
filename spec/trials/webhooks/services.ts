// A process with the services around two hubs: it delivers sequence numbers to the webhooks of one of them, every tenth number twice, in
// alternating windows, and receives the deliveries of the hubs.

import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { setTimeout as after } from 'node:timers/promises';
import { schemeOf, sign, verify } from '../../../lib/connections/webhook/signature.ts';
import { countOf, reachesHub, type Windows } from '../../support/load/windows.ts';
import { runTask } from '../../support/system/task.ts';

export interface ServicesTask {
  /** The port of the hub that is measured, and of the one beside it. */
  readonly ports: readonly [number, number];
  readonly secret: string;
  readonly targetPort: number;
  /** Takes connections and never answers. */
  readonly silentPort: number;
  readonly hooks: number;
  readonly perSecond: number;
  readonly windows: Windows;
}

export interface ServicesResult {
  /** Those of the hub that is measured, and of the one beside it. */
  readonly hubs: readonly {
    /** The last number that was delivered to each webhook. */
    readonly sent: readonly number[];
    /** By webhook, what the hub has sent. */
    readonly taken: readonly (readonly number[])[];
  }[];
  readonly wrong: readonly string[];
}

/** How long what the hub sends may take to arrive. */
const settleMs = 20_000;

await runTask(async ({ ports, secret, targetPort, silentPort, hooks, perSecond, windows }: ServicesTask) => {
  const scheme = schemeOf('standard');
  const hubs = ports.map((port) => ({
    port,
    sent: Array<number>(hooks).fill(0),
    taken: Array.from({ length: hooks }, (): number[] => []),
  }));
  const wrong: string[] = [];
  const target = createServer(async (asked, answer) => {
    const chunks: Buffer[] = [];
    for await (const chunk of asked) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const header = (name: string) => String(asked.headers[name] ?? '');
    if (verify(scheme, secret, header, body) === undefined) wrong.push(`a wrong signature of ${body}`);
    const [, hub, hook] = (asked.url ?? '').split('/');
    hubs[Number(hub)]?.taken[Number(hook)]?.push(Number(body));
    answer.writeHead(204).end();
  });
  target.listen(targetPort, '127.0.0.1');
  const silent = createTcpServer((socket) => socket.on('error', () => {}).resume());
  silent.listen(silentPort, '127.0.0.1');
  await Promise.all([once(target, 'listening'), once(silent, 'listening')]);
  const agent = new Agent({ keepAlive: true });
  const deliver = (port: number, hook: number, id: string, body: string) =>
    new Promise<number>((resolve, reject) => {
      const headers = sign(scheme, secret, { id, timestamp: Math.floor(Date.now() / 1000) }, Buffer.from(body));
      const asked = request(
        {
          port,
          host: '127.0.0.1',
          localAddress: '127.9.0.1', // services and clients are at different addresses, whose work takes turns
          agent,
          method: 'POST',
          path: `/hub/hooks/in-${hook}`,
          headers: { ...headers, 'content-type': 'application/json' },
        },
        (answer) => answer.resume().on('end', () => resolve(answer.statusCode ?? 0)),
      );
      asked.on('error', reject);
      asked.end(body);
    });
  process.send!({ result: 'ready' });
  await once(process, 'message');
  const startedAt = performance.now();
  const sendIn = async (window: number, hook: number) => {
    const { port, sent } = hubs[reachesHub(window) ? 0 : 1]!;
    const from = startedAt + window * windows.ms;
    let done = 0;
    for (let now = performance.now(); now - from < windows.ms; now = performance.now()) {
      if (done >= ((now - from) / 1000) * perSecond) {
        await after(2);
        continue;
      }
      done++;
      const number = ++sent[hook]!;
      const times = number % 10 === 0 ? 2 : 1;
      for (let time = 0; time < times; time++) {
        const status = await deliver(port, hook, `${hook}-${number}`, JSON.stringify({ number }));
        if (status !== 204) wrong.push(`expected 204, got ${status}`);
      }
    }
  };
  const sendTo = async (hook: number) => {
    for (let window = 0; window < countOf(windows); window++) await sendIn(window, hook);
  };
  await Promise.all(Array.from({ length: hooks }, (_, hook) => sendTo(hook)));
  const endsAt = performance.now() + settleMs;
  const isMissing = () => hubs.some(({ sent, taken }) => taken.some((numbers, hook) => numbers.length < sent[hook]!));
  while (isMissing() && performance.now() < endsAt) await after(50);
  return { hubs, wrong: wrong.slice(0, 5) } satisfies ServicesResult;
});
