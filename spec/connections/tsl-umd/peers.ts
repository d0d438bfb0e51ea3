// The packages tsl-umd and tsl-umd-v5, implementations of TSL UMD that others have written: the other side of specs. Loaded by name,
// because they have no types.

import { spawn } from 'node:child_process';
import { type EventEmitter, once } from 'node:events';
import { createInterface } from 'node:readline';
import type { ExecutionContext } from 'ava';

/** What tsl-umd-v5 reads in a packet of version 5. */
export interface Tally5 {
  readonly screen: number;
  readonly index: number;
  readonly display: {
    readonly text: string;
    readonly lh_tally: number;
    readonly text_tally: number;
    readonly rh_tally: number;
    readonly brightness: number;
  };
}

interface Peer5 {
  sendTallyUDP(host: string, port: number, tally: object, isFramed?: boolean): void;
  sendTallyTCP(host: string, port: number, tally: object, isFramed?: boolean): void;
}

/** What tsl-umd reads in a packet of version 3.1. */
export interface Tally3 {
  readonly address: number;
  readonly brightness: number;
  readonly tally1: number;
  readonly tally2: number;
  readonly tally3: number;
  readonly tally4: number;
  readonly label: string;
}

interface Peer3 extends EventEmitter {
  readonly server: EventEmitter & { close(): void };
}

const [name3, name5]: string[] = ['tsl-umd', 'tsl-umd-v5'];
const { default: Receiver3 } = (await import(name3!)) as { default: new (port: number) => Peer3 };
const { default: Tsl5 } = (await import(name5!)) as { default: new () => Peer5 };

export function createPeer5(): Peer5 {
  return new Tsl5();
}

/** Listens in a process of its own, because the package cannot stop. Returns what it has received so far. */
export function startReceiver5(t: ExecutionContext, way: 'UDP' | 'TCP', port: number): readonly Tally5[] {
  const program = `const Tsl5 = require('${name5}'); const peer = new Tsl5();
    peer.on('message', (tally) => console.log(JSON.stringify(tally))); peer.listen${way}(${port})`;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => child.kill('SIGKILL'));
  const received: Tally5[] = [];
  createInterface(child.stdout).on('line', (line) => received.push(JSON.parse(line) as Tally5));
  return received;
}

/** Listens over UDP; resolves when it does. */
export async function listen3(port: number): Promise<Peer3> {
  const { log } = console;
  console.log = () => {}; // it prints its port
  const peer = new Receiver3(port);
  await once(peer.server, 'listening');
  console.log = log;
  return peer;
}
