// Ports of this machine.

import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';

/** Below the ports that a system gives to whoever asks for any, so that nobody gets one while it is not listened to. */
const ports = [20_000, 32_000] as const;

/** What `freePort` has tried or given, so that two servers of a spec never get the same port. */
const given = new Set<number>();

/** A port that nobody listens to, another one with each call. */
export async function freePort(): Promise<number> {
  const port = randomInt(...ports);
  if (given.has(port)) return freePort();
  given.add(port);
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return freePort();
  }
  server.close();
  await once(server, 'close');
  return port;
}

export function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
