// The program that runs in the process of a MIDI port. The library is native code, which may crash this process but not the hub. Raw
// devices are files whose reads block a thread. The process lives as long as its channel to the hub.

import { existsSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { platform } from 'node:process';
import { messageOf } from '../../../model/error.ts';
import {
  aliveEveryMs,
  type FromProcess,
  maxPartBytes,
  maxUntakenBytes,
  maxUnwrittenBytes,
  type PortTask,
  type ToProcess,
} from '../port-messages.ts';

/** How often the process checks whether the ports still exist, in milliseconds. */
const lookEveryMs = 500;
const library = '@julusian/midi';

let send: (bytes: Uint8Array) => void = () => {};
let untakenBytes = 0;
let dropped = 0;
let whenTaken: (() => void) | undefined;

process.on('message', (message: ToProcess) => {
  try {
    if ('send' in message) send(message.send);
    else if ('taken' in message) {
      untakenBytes -= message.taken;
      whenTaken?.();
    } else start(message).then(() => report({ opened: true }), giveUp);
  } catch (error) {
    void giveUp(error);
  }
});
process.on('disconnect', end);
setInterval(() => void report({ alive: true }), aliveEveryMs);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {}); // these signals end the hub, which ends the process

function start({ port, virtual, path }: PortTask): Promise<void> {
  if (path !== undefined) return openRaw(path.in, path.out);
  return openPorts(port ?? {}, virtual);
}

// Raw devices

async function openRaw(from: string | undefined, to: string | undefined): Promise<void> {
  const isOne = from === to;
  const [input, output] = await Promise.all([
    from === undefined ? undefined : openFile(from, isOne ? 'r+' : 'r'),
    to === undefined || isOne ? undefined : openFile(to, 'r+'), // with `w`, a device would be truncated, and a pipe would wait for its reader
  ]);
  const target = isOne ? input : output;
  let writing = Promise.resolve();
  let unwrittenBytes = 0;
  if (target !== undefined)
    send = (bytes) => {
      unwrittenBytes += bytes.length;
      if (unwrittenBytes > maxUnwrittenBytes) throw new Error('the device is not reading what the hub sends');
      writing = writing.then(async () => {
        for (let at = 0; at < bytes.length; ) at += (await target.write(bytes, at)).bytesWritten;
        unwrittenBytes -= bytes.length;
      });
      writing.catch(giveUp);
    };
  if (input !== undefined) void read(input, from!).catch(giveUp);
}

async function openFile(path: string, flags: string): Promise<FileHandle> {
  return await open(path, flags).catch((error) => {
    throw new Error(`cannot open ${path}: ${error.code === 'ENOENT' ? 'there is no such device' : messageOf(error)}`);
  });
}

async function read(input: FileHandle, path: string): Promise<void> {
  const room = Buffer.alloc(maxPartBytes);
  for (;;) {
    const { bytesRead } = await input.read(room, 0, room.length, null);
    if (bytesRead === 0) throw new Error(`${path}: unexpected end of file`);
    deliver(room.subarray(0, bytesRead));
    // a file waits for its reader, so no bytes have to be dropped
    while (untakenBytes > maxUntakenBytes / 2)
      await new Promise<void>((resolve) => {
        whenTaken = resolve;
      });
  }
}

// System ports

async function openPorts(
  names: { readonly in?: string | undefined; readonly out?: string | undefined },
  virtual: string | undefined,
) {
  const { Input, Output } = await import(library).catch((error) => {
    throw new Error(
      /libasound/.test(messageOf(error))
        ? 'this machine has no ALSA: install libasound2'
        : `the optional package ${library} is not installed or cannot be loaded: ${messageOf(error)}`,
    );
  });
  if (platform === 'linux' && !existsSync('/dev/snd/seq'))
    throw new Error(
      'this machine has no ALSA sequencer: load its kernel module with `modprobe snd-seq`, or use `path`, `tcp` or `serial`',
    );
  if (virtual !== undefined && platform === 'win32')
    throw new Error('Windows has no virtual MIDI ports: set `port` to the name of a loopback port');
  const input = virtual !== undefined || names.in !== undefined ? new Input() : undefined;
  const output = virtual !== undefined || names.out !== undefined ? new Output() : undefined;
  input?.ignoreTypes(false, false, false);
  input?.on('messageBuffer', (_: number, message: Uint8Array) => deliver(message));
  const opened: (() => boolean)[] = [];
  for (const [port, wanted, side] of [
    [input, names.in, 'input'],
    [output, names.out, 'output'],
  ] as const) {
    if (port === undefined) continue;
    if (virtual !== undefined) {
      port.openVirtualPort(virtual);
      continue;
    }
    const list = () => Array.from({ length: port.getPortCount() }, (_, index) => port.getPortName(index));
    const all = list();
    const index = all.findIndex((name) => isNamed(name, wanted!));
    if (index < 0)
      throw new Error(
        `there is no MIDI ${side} "${wanted}"; ${all.length === 0 ? `this machine has no MIDI ${side}s` : `the available ${side}s are: ${all.slice(0, 20).join(', ')}`}`,
      );
    port.openPort(index);
    opened.push(() => list().includes(all[index]!));
  }
  if (output !== undefined) send = (bytes) => output.sendMessage(Buffer.from(bytes));
  setInterval(() => {
    try {
      if (!opened.every((isThere) => isThere())) void giveUp(new Error('the MIDI port has disappeared'));
    } catch (error) {
      void giveUp(error);
    }
  }, lookEveryMs);
}

/** Returns whether a port has a name, given as a whole or by its beginning, because ALSA appends numbers that change. */
function isNamed(name: string, wanted: string): boolean {
  if (!wanted.includes('*')) return name.startsWith(wanted);
  const quoted = wanted.split('*').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${quoted.join('.*')}`).test(name);
}

// The channel to the hub

function deliver(bytes: Uint8Array): void {
  if (untakenBytes + bytes.length > maxUntakenBytes) {
    dropped += bytes.length;
    return;
  }
  for (let at = 0; at < bytes.length; at += maxPartBytes) {
    const part = bytes.slice(at, at + maxPartBytes);
    untakenBytes += part.length;
    void report({ received: part, dropped });
    dropped = 0;
  }
}

function report(message: FromProcess): Promise<void> {
  return new Promise((resolve) => {
    if (process.connected) process.send!(message, () => resolve());
    else resolve();
  });
}

async function giveUp(error: unknown): Promise<void> {
  await report({ fault: messageOf(error) });
  end();
}

/** Ends the process immediately. `process.exit` would wait for a thread that is reading from a device, possibly forever. */
function end(): void {
  process.kill(process.pid, 'SIGKILL');
}
