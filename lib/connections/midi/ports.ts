// The transports for MIDI: system ports and raw devices, which are opened by a separate process, and TCP and serial ports.

import { type ChildProcess, fork } from 'node:child_process';
import { extname } from 'node:path';
import {
  type Link,
  type LinkListener,
  maxUnsentBytes,
  serialTransport,
  type Transport,
  tcpTransport,
} from '../../device/transport.ts';
import { endWithHub } from '../orphans.ts';
import { readPlace } from '../places.ts';
import type { ResolvePath } from '../setting.ts';
import { aliveEveryMs, fromProcess, type PortTask } from './port-messages.ts';
import type { MidiSettings } from './settings.ts';

/** The file with the program for the process: `.ts` if Node.js strips types, and `.js` in the package. */
const program = new URL(`./process/main${extname(import.meta.filename)}`, import.meta.url);
/** The time after which a process that does not end on request is killed, in milliseconds. */
const exitDeadlineMs = 500;
/** How long a process may be silent before it counts as hanging, in milliseconds. */
const hangingMs = 5 * aliveEveryMs;
const maxLastOutput = 300;

export interface PortEvents {
  /** Called when the process has dropped bytes, because the hub did not take them in time. */
  dropped(bytes: number): void;
}

/** Creates the transport that the settings describe. */
export function createTransport(settings: MidiSettings, resolvePath: ResolvePath, events: PortEvents): Transport {
  const { port, virtual, path, tcp, serial } = settings;
  if (tcp !== undefined) return tcpTransport(readPlace(tcp));
  if (serial !== undefined) {
    const { path: serialPath, baudRate } = typeof serial === 'string' ? { path: serial, baudRate: 31_250 } : serial;
    return serialTransport({ path: serialPath, baudRate, dataBits: 8, stopBits: 1, parity: 'none' });
  }
  const both = (sides: NonNullable<MidiSettings['port']>) =>
    typeof sides === 'string' ? { in: sides, out: sides } : sides;
  const resolved = (one: string | undefined) => (one === undefined ? undefined : resolvePath(one));
  const files = path === undefined ? undefined : both(path);
  const task: PortTask = {
    ...(port !== undefined && { port: both(port) }),
    ...(virtual !== undefined && { virtual }),
    ...(files !== undefined && { path: { in: resolved(files.in), out: resolved(files.out) } }),
  };
  const { in: from, out: to } = files ?? (port === undefined ? { in: virtual, out: virtual } : both(port));
  return {
    name: from === undefined || to === undefined || from === to ? String(from ?? to) : `${from}, ${to}`,
    keepsFrames: false,
    open: (listener) => new PortLink(task, listener, events),
  };
}

/** A port that a separate process has opened. */
class PortLink implements Link {
  readonly #child: ChildProcess;
  readonly #listener: LinkListener;
  #isEnded = false;
  #unsentBytes = 0;
  #lastOutput = '';
  readonly #watch: NodeJS.Timeout;

  constructor(task: PortTask, listener: LinkListener, { dropped }: PortEvents) {
    this.#listener = listener;
    const child = fork(program, {
      execArgv: ['--disable-warning=ExperimentalWarning'],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      serialization: 'advanced',
    });
    endWithHub(child);
    this.#child = child;
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#lastOutput = `${this.#lastOutput} ${text}`.replaceAll(/\s+/g, ' ').trim().slice(-maxLastOutput);
    });
    this.#watch = setTimeout(() => this.#close("the port's process stopped responding"), hangingMs);
    child.on('error', (error) => this.#close(error.message));
    child.on('exit', (code, signal) => {
      const end = () => {
        const causes = [signal ?? `exit code ${code}`, this.#lastOutput].filter((one) => one !== '');
        this.#close(`the port's process ended: ${causes.join(': ')}`);
      };
      if (child.connected)
        child.once('disconnect', () => setImmediate(end)); // the last message, which contains the fault, may still arrive
      else setImmediate(end);
    });
    child.on('message', (message) => {
      const parsed = fromProcess.safeParse(message);
      if (!parsed.success || this.#isEnded) return; // other messages come from Node.js, which reports imports with --watch
      this.#watch.refresh();
      if ('alive' in parsed.data) return;
      if ('opened' in parsed.data) listener.opened();
      else if ('fault' in parsed.data) this.#close(parsed.data.fault);
      else {
        const { received, dropped: droppedBytes } = parsed.data;
        if (droppedBytes > 0) dropped(droppedBytes);
        listener.received(received);
        setImmediate(() => this.#post({ taken: received.length }));
      }
    });
    this.#post(task);
  }

  get unsentBytes(): number {
    return this.#unsentBytes;
  }

  send(bytes: Uint8Array): void {
    if (this.#isEnded) return;
    if (this.#unsentBytes + bytes.length > maxUnsentBytes) {
      queueMicrotask(() => this.#close('the device is not reading what the hub sends'));
      return;
    }
    this.#unsentBytes += bytes.length;
    this.#post({ send: bytes }, () => {
      this.#unsentBytes -= bytes.length;
    });
  }

  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    clearTimeout(this.#watch);
    const child = this.#child;
    if (child.connected) child.disconnect();
    const kill = setTimeout(() => child.kill('SIGKILL'), exitDeadlineMs);
    kill.unref();
    child.once('exit', () => clearTimeout(kill));
  }

  #post(message: object, sent?: () => void): void {
    if (this.#child.connected) this.#child.send(message, () => sent?.());
  }

  #close(reason: string): void {
    if (this.#isEnded) return;
    this.end();
    this.#listener.closed(reason);
  }
}
