// The other side of the specs of midi: sndiod, a MIDI server that others have written, with midicat between its ports and pipes, which stand
// for a raw MIDI device. What the hub sends arrives at port 0, and what is sent to port 1 arrives at the hub.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { eventually } from '../../support/deadline.ts';
import { createFolder } from '../../support/folder.ts';

/** The number of the next server; sndiod takes 0 to 15. */
let unit = process.pid;

export interface MidiServer {
  /** The setting `path` of the hub. */
  readonly path: { readonly in: string; readonly out: string };
  /** Sends bytes to the hub, which the server parses and completes. */
  send(bytes: Uint8Array): Promise<void>;
  /** All bytes that the server has received from the hub. */
  received(): Buffer;
  /** Unplugs the device, or plugs it in again. */
  unplug(): void;
  plug(): Promise<void>;
  readonly devices: readonly ChildProcess[];
}

export async function startSndio(t: ExecutionContext): Promise<MidiServer> {
  const folder = await createFolder(t);
  const number = 1 + (unit++ % 15);
  const all: ChildProcess[] = [];
  const start = (program: string, ...args: readonly string[]) => {
    const child = spawn(program, args, { stdio: ['pipe', 'ignore', 'ignore'] });
    child.on('error', () => {});
    child.stdin.on('error', () => {});
    all.push(child);
    return child;
  };
  t.teardown(() => {
    for (const child of all) child.kill('SIGKILL');
  });
  start('sndiod', '-d', '-U', String(number), '-m', 'play', '-f', 'rsnd/99', '-s', 'default');
  const socket = userInfo().uid === 0 ? `/tmp/sndio/sock${number}` : `/tmp/sndio-${userInfo().uid}/sock${number}`;
  await eventually(() => existsSync(socket), 'a MIDI server');
  const [from, to, kept] = [join(folder, 'in'), join(folder, 'out'), join(folder, 'kept')];
  execFileSync('mkfifo', [from, to]);
  start('midicat', '-q', `midithru,${number}/0`, '-o', kept);
  await eventually(() => existsSync(kept), 'a listener');
  let devices: ChildProcess[] = [];
  const server: MidiServer = {
    path: { in: from, out: to },
    async send(bytes) {
      const child = start('midicat', '-q', `midithru,${number}/1`, '-i', '-');
      child.stdin!.end(bytes);
      await new Promise((resolve) => child.once('exit', resolve));
    },
    received: () => readFileSync(kept),
    unplug() {
      for (const child of devices) child.kill('SIGKILL');
      devices = [];
    },
    async plug() {
      devices = [
        start('midicat', '-q', `midithru,${number}/0`, '-i', to),
        start('midicat', '-q', `midithru,${number}/1`, '-o', from),
      ];
    },
    get devices() {
      return devices;
    },
  };
  await server.plug();
  return server;
}
