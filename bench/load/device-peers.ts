// The remote side of many device connections, in a process of its own: devices that work, and devices that fail, each in its own way. All
// devices of a kind share a port.

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { runTask } from '../../spec/support/system/task.ts';

/** The port of each kind of device. */
export type PeerPorts = Readonly<Record<keyof typeof peers | 'refused', number>>;

const sentence = '$GPHDT,123.456,T*32\r\n';

/** Calls `work` at an interval while a socket is open. */
function every(ms: number, socket: Socket, work: () => void): void {
  const timer = setInterval(work, ms);
  socket.on('close', () => clearInterval(timer));
}

/** How each kind of device behaves on a link. */
const peers = {
  /** Confirms every value that is set. */
  confirming(socket: Socket) {
    let unread = '';
    socket.on('data', (bytes) => {
      const lines = (unread + bytes.toString()).split('\n');
      unread = lines.pop()!;
      for (const line of lines) if (line.startsWith('SET ')) socket.write(`VAL ${line.slice('SET '.length)}\n`);
    });
    socket.write('VAL 0 0\n');
  },
  /** Sends a sentence once a second. */
  speaking(socket: Socket) {
    socket.write(sentence);
    every(1000, socket, () => socket.write(sentence));
  },
  silent(_socket: Socket) {},
  closing(socket: Socket) {
    socket.end();
  },
  /** Sends its greeting one character a second. */
  slow(socket: Socket) {
    let at = 0;
    every(1000, socket, () => socket.write('OK MPD 0.23.5\n'.charAt(at++)));
  },
  garbage(socket: Socket) {
    every(100, socket, () => socket.write(randomBytes(1000)));
  },
} satisfies Record<string, (socket: Socket) => void>;

async function listen(serve: (socket: Socket) => void): Promise<number> {
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => {});
    socket.resume();
    serve(socket);
  });
  server.listen(0, '127.0.0.1', 4096);
  await once(server, 'listening');
  return (server.address() as { port: number }).port;
}

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

await runTask(async () => {
  const ports = await Promise.all(
    Object.entries(peers).map(async ([name, serve]) => [name, await listen(serve)] as const),
  );
  return { ...Object.fromEntries(ports), refused: await closedPort() } as PeerPorts;
});
