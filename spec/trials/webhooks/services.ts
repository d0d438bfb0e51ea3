// A process that is the services around a hub: it delivers numbers to webhooks of the hub, each tenth twice, and takes those that the hub sends.

import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { setTimeout as after } from 'node:timers/promises';
import { schemeOf, sign, verify } from '../../../lib/connections/webhook/signature.ts';
import { runTask } from '../../support/system/task.ts';

export interface ServicesTask {
  readonly port: number;
  readonly secret: string;
  readonly targetPort: number;
  /** Takes connections and never answers. */
  readonly silentPort: number;
  readonly hooks: number;
  readonly perSecond: number;
  readonly ms: number;
}

export interface ServicesResult {
  /** The last number that was delivered to each webhook. */
  readonly sent: readonly number[];
  /** By webhook, what the hub has sent. */
  readonly taken: readonly (readonly number[])[];
  readonly wrong: readonly string[];
}

/** How long what the hub sends may take to arrive. */
const settleMs = 20_000;

await runTask(async ({ port, secret, targetPort, silentPort, hooks, perSecond, ms }: ServicesTask) => {
  const scheme = schemeOf('standard');
  const taken = Array.from({ length: hooks }, (): number[] => []);
  const wrong: string[] = [];
  const target = createServer(async (asked, answer) => {
    const chunks: Buffer[] = [];
    for await (const chunk of asked) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const header = (name: string) => String(asked.headers[name] ?? '');
    if (verify(scheme, secret, header, body) === undefined) wrong.push(`a wrong signature of ${body}`);
    taken[Number(asked.url?.slice(1))]?.push(Number(body));
    answer.writeHead(204).end();
  });
  target.listen(targetPort, '127.0.0.1');
  const silent = createTcpServer((socket) => socket.on('error', () => {}).resume());
  silent.listen(silentPort, '127.0.0.1');
  await Promise.all([once(target, 'listening'), once(silent, 'listening')]);
  const agent = new Agent({ keepAlive: true });
  const deliver = (hook: number, id: string, body: string) =>
    new Promise<number>((resolve, reject) => {
      const headers = sign(scheme, secret, { id, timestamp: Math.floor(Date.now() / 1000) }, Buffer.from(body));
      const asked = request(
        {
          port,
          host: '127.0.0.1',
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
  const startedAt = performance.now();
  const sendTo = async (hook: number) => {
    let number = 0;
    for (let now = startedAt; now - startedAt < ms; now = performance.now()) {
      if (number >= ((now - startedAt) / 1000) * perSecond) {
        await after(2);
        continue;
      }
      number++;
      const times = number % 10 === 0 ? 2 : 1;
      for (let time = 0; time < times; time++) {
        const status = await deliver(hook, `${hook}-${number}`, JSON.stringify({ number }));
        if (status !== 204) wrong.push(`expected 204, got ${status}`);
      }
    }
    return number;
  };
  const sent = await Promise.all(Array.from({ length: hooks }, (_, hook) => sendTo(hook)));
  const endsAt = performance.now() + settleMs;
  while (taken.some((numbers, hook) => numbers.length < sent[hook]!) && performance.now() < endsAt) await after(50);
  return { sent, taken, wrong: wrong.slice(0, 5) } satisfies ServicesResult;
});
