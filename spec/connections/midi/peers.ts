// The other side of the specs of midi: sndiod, a MIDI server that others have written, with midicat between its ports and pipes, which stand
// for a raw MIDI device. What the hub sends arrives at port 0, and what is sent to port 1 arrives at the hub.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
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
  const sendTo = async (port: number, bytes: Uint8Array) => {
    const child = start('midicat', '-q', `midithru,${number}/${port}`, '-i', '-');
    child.stdin!.end(bytes);
    await new Promise((resolve) => child.once('exit', resolve));
  };
  const probe = hexOf('d000'); // until the listener is connected, the server drops everything
  await eventually(async () => {
    await sendTo(0, probe);
    return existsSync(kept) && readFileSync(kept).length > 0;
  }, 'a listener');
  let devices: ChildProcess[] = [];
  const server: MidiServer = {
    path: { in: from, out: to },
    async send(bytes) {
      await eventually(() => devices.every(isConnected), 'devices that are connected to the server');
      await after(200); // the server has answered
      await sendTo(1, bytes);
    },
    received() {
      let bytes = readFileSync(kept);
      while (bytes.subarray(0, probe.length).equals(probe)) bytes = bytes.subarray(probe.length);
      return bytes;
    },
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

const hexOf = (text: string) => Buffer.from(text, 'hex');

/** Whether a process of midicat has both its pipe and its connection to the server. */
function isConnected({ pid }: ChildProcess): boolean {
  try {
    const folder = `/proc/${pid}/fd`;
    return readdirSync(folder).some((fd) => Number(fd) > 2 && readlinkSync(join(folder, fd)).startsWith('socket:'));
  } catch {
    return false; // one was closed in the meantime
  }
}
