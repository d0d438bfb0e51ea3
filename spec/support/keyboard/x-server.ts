// A real X server without a screen, what presses its keys (xdotool) and what reads them (xev).

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import type { ExecutionContext } from 'ava';
import { fromEvent, interval, lastValueFrom, merge, type Observable, race } from 'rxjs';
import { exhaustMap, filter, map, mergeMap, scan, share, takeUntil } from 'rxjs/operators';
import { pressCombination } from '../../../lib/connections/keyboard/process/hotkeys.ts';
import { Layout } from '../../../lib/connections/keyboard/process/x11/keyboard-layout.ts';
import { openXTest } from '../../../lib/connections/keyboard/process/x11/raw-keys.ts';
import { XServer as Server } from '../../../lib/connections/keyboard/process/x11/x-server.ts';
import { deadlineMs, first } from '../deadline.ts';
import { needs } from '../programs.ts';
import { shared } from '../shared.ts';
import { dependent } from '../system/dependent.ts';

needs('keyboard', 'xvfb', 'xdotool', 'xev', 'setxkbmap');

const run = promisify(execFile);
const queryKeymap = 44;
const [useXkb, latchLockState] = [0, 5];
const coreKeyboard = 0x100;
const bits = [0, 1, 2, 3, 4, 5, 6, 7];
/** Display numbers far from those that others choose: a killed server's number must stay free until it is back. */
const numbers = [10_000, 59_000] as const;

export interface XServer {
  /** Such as `:1`. */
  readonly display: string;
  readonly pid: number;
  /** Runs setxkbmap: `['fr']`. */
  setxkbmap(...args: string[]): Promise<void>;
  /** Presses keys by their codes and releases them in reverse. xdotool makes the first layout the active one for that. */
  pressKeys(...keycodes: number[]): Promise<void>;
  /** Makes another of the layouts the active one, counted from 0. */
  activateLayout(index: number): Promise<void>;
  /** The keycodes of the keys that are down. */
  keysDown(): Promise<number[]>;
  /** Runs xdotool: `['key', 'ctrl+F1']`. */
  xdotool(...args: string[]): Promise<void>;
  /** What an X client hears, such as `press F2 4`: press or release, keysym, state of the modifiers. */
  keys$(): Promise<Observable<string>>;
  /** Stops the server as `kill -9` does; resolves when it has ended. */
  kill(): Promise<void>;
}

/** A server for the tests of a file: whoever asks for it gets it, and it is the DISPLAY from then on. */
export function shareXServer(): () => Promise<XServer> {
  const server = shared((t) => startXServer(t));
  return async () => {
    const x = await server();
    process.env.DISPLAY = x.display;
    return x;
  };
}

/** Starts a server on the display, or on one of its own, and makes it the DISPLAY of what this process starts. */
export async function startXServer(
  t: ExecutionContext,
  { display = `:${randomInt(...numbers)}`, args = [] }: { display?: string; args?: readonly string[] } = {},
): Promise<XServer> {
  const options = ['-displayfd', '3', '-screen', '0', '320x240x8', '-nolisten', 'tcp', '-noreset', ...args];
  const server = spawn(...dependent('Xvfb', [display, ...options]), { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
  const ready$ = fromEvent(server.stdio[3]!, 'data');
  await first(race(ready$, failureOf(server, 'Xvfb')), 'the X server');
  process.env.DISPLAY = display;
  const end = async (signal: NodeJS.Signals) => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const exit = first(fromEvent(server, 'exit'), 'the end of the X server');
    server.kill('SIGCONT');
    server.kill(signal);
    await exit;
  };
  t.teardown(() => end('SIGTERM'));
  const call =
    (program: string) =>
    async (...args: string[]) => {
      await run(program, args, { env: { ...process.env, DISPLAY: display }, timeout: deadlineMs });
    };
  const xdotool = call('xdotool');
  let connection: Promise<Server> | undefined;
  const keysDown = async () => {
    connection ??= Server.open(display);
    const keymap = (await (await connection).ask(Buffer.from([queryKeymap, 0, 0, 0]))).subarray(8);
    return [...keymap.keys()].flatMap((byte) =>
      bits.filter((bit) => (keymap[byte]! >> bit) & 1).map((bit) => byte * 8 + bit),
    );
  };
  const activateLayout = async (index: number) => {
    connection ??= Server.open(display);
    const xkb = await connection;
    const { opcode } = await xkb.extension('XKEYBOARD', 'no layout can be activated');
    await xkb.ask(Buffer.from([opcode, useXkb, 0, 0, 1, 0, 0, 0]));
    const lock = Buffer.alloc(16);
    lock.set([opcode, latchLockState]);
    lock.writeUInt16LE(coreKeyboard, 4);
    lock.set([1, index], 8);
    xkb.send(lock);
    await keysDown(); // answered once it is done
  };
  const pressKeys = async (...keycodes: number[]) => {
    connection ??= Server.open(display);
    const presser = await openXTest(await connection, await Layout.open(await connection));
    await pressCombination(presser, keycodes);
  };
  const kill = () => end('SIGKILL');
  const setxkbmap = call('setxkbmap');
  const x = { display, pid: server.pid!, xdotool, setxkbmap, pressKeys, activateLayout, keysDown, kill };
  let heard: Promise<Observable<string>> | undefined;
  return {
    ...x,
    keys$() {
      heard ??= listen(t, x);
      return heard;
    },
  };
}

/** Makes processes started from here find no display. */
export function hideDisplay(): void {
  delete process.env.DISPLAY;
}

async function listen(t: ExecutionContext, { display, xdotool }: Omit<XServer, 'keys$'>): Promise<Observable<string>> {
  const client = spawn(...dependent('stdbuf', ['-oL', 'xev', '-root', '-event', 'keyboard']), {
    env: { ...process.env, DISPLAY: display },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  t.teardown(() => void client.kill());
  const lines$ = fromEvent(createInterface(client.stdout), 'line') as Observable<string>;
  const keys$ = lines$.pipe(
    scan(
      ({ kind }, line) => {
        const [, state, name] = /state 0x(\w+), keycode \d+ \(keysym 0x\w+, (\w+)\)/.exec(line) ?? [];
        if (line.startsWith('Key')) return { kind: line.startsWith('KeyPress') ? 'press' : 'release', key: '' };
        return { kind, key: name === undefined ? '' : `${kind} ${name} ${state}` };
      },
      { kind: '', key: '' },
    ),
    map(({ key }) => key),
    filter((key) => key !== ''),
    share({ resetOnRefCountZero: false }),
  );
  // It says nothing until it hears a key, so that one is pressed, and released, until it does.
  const heard = first(merge(keys$, failureOf(client, 'xev')), 'a key that xev hears');
  const presses$ = interval(50).pipe(
    takeUntil(heard),
    exhaustMap(() => xdotool('key', 'Pause')),
  );
  await lastValueFrom(presses$, { defaultValue: undefined });
  return keys$.pipe(filter((key) => !key.includes('Pause')));
}

function failureOf(process: ChildProcess, program: string): Observable<never> {
  return merge(fromEvent(process, 'error'), fromEvent(process, 'exit')).pipe(
    mergeMap(() => {
      throw new Error(`${program} did not start`);
    }),
  );
}
