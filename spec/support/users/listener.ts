// Sockets of users, which keep all that they were told.

import type { ExecutionContext } from 'ava';
import { eventually, within } from '../deadline.ts';
import type { HubUnderTest } from '../hub.ts';
import { headersOf, nextTurn } from './random-users.ts';

/** A socket that keeps all that it was told. */
async function listen(t: ExecutionContext, hub: HubUnderTest, name: string, query: string, protocols: string[]) {
  const options = { headers: headersOf(name), protocols } as unknown as string[]; // Node's client takes headers here
  const socket = new WebSocket(`ws://127.0.0.1:${hub.port}/ws${query}`, options);
  const texts: string[] = [];
  socket.addEventListener('message', ({ data }) => texts.push(data));
  const closed = new Promise<number>((resolve) => socket.addEventListener('close', ({ code }) => resolve(code)));
  t.teardown(() => socket.close());
  await within(new Promise((resolve) => socket.addEventListener('open', resolve)), `a socket of ${name}`);
  const send = (message: object) => socket.send(JSON.stringify(message));
  return { name, texts, closed, send, isOpen: () => socket.readyState === WebSocket.OPEN };
}

type Listener = Awaited<ReturnType<typeof listen>>;

export const openPlain = (t: ExecutionContext, hub: HubUnderTest, name: string) =>
  listen(t, hub, name, '?snapshot=true', []);

export async function openV1(
  t: ExecutionContext,
  hub: HubUnderTest,
  name: string,
  more: object = {},
): Promise<Listener> {
  const v1 = await listen(t, hub, name, '', ['patchbay.v1']);
  v1.send({ sub: 1, ...more });
  await eventually(() => v1.texts.some((text) => text.startsWith('{"end"')));
  return v1;
}

export async function ping(v1: Listener): Promise<void> {
  const number = nextTurn();
  v1.send({ ping: number });
  await eventually(() => v1.texts.includes(`{"pong":${number}}`));
}
