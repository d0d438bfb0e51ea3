// `patchbay get`, `set` and `watch`: talk to a running hub over its REST API.

import type { Updated } from '../../wire/http/parameters.ts';
import { pathOf } from '../../wire/http/path.ts';
import type { Notification } from '../../wire/plain.ts';
import type { Console, PacedConsole } from '../console.ts';
import { credentials, type RemoteOptions, request } from './request.ts';

/** Prints the value. Errors: the sentence of the hub, or that there is none at the URL. */
export async function get(
  address: string,
  options: RemoteOptions & { json?: boolean },
  console: Console,
): Promise<number> {
  const path = `/parameters/${pathOf(address)}`;
  const accept = options.json ? 'application/json' : 'text/plain';
  console.print(await request(options, path, { headers: { accept } }));
  return 0;
}

/** Sets a parameter and prints what was written. Errors: the sentence of the hub, or that there is none at the URL. */
export async function set(address: string, value: string, options: RemoteOptions, console: Console): Promise<number> {
  const body = new URLSearchParams({ parameter: address, value });
  const answer = await request(options, '/update', { method: 'POST', body, headers: { accept: 'application/json' } });
  const { p, v } = JSON.parse(answer) as Updated;
  console.print(`${p} = ${v}`);
  return 0;
}

/**
 * Prints the value once it is known, and every change until it is stopped. While nobody reads what it prints, it keeps only the
 * newest value. Errors: as `get`, and when the connection is lost.
 */
export async function watch(
  address: string,
  options: RemoteOptions,
  console: PacedConsole,
  untilStopped: () => Promise<unknown>,
): Promise<number> {
  await request(options, `/parameters/${pathOf(address)}`, {}, [503]);
  const url = new URL('/ws', options.url);
  url.protocol = url.protocol.replace('http', 'ws');
  url.search = new URLSearchParams({ snapshot: 'true', filter: `^${escapeRegex(address)}$` }).toString();
  const socket = new WebSocket(url, { headers: credentials(options) } as unknown as string[]);
  const print = createPrinter(console);
  socket.addEventListener('message', ({ data }) => print((JSON.parse(String(data)) as Notification).v));
  const lost = new Promise<never>((_, reject) => {
    socket.addEventListener('close', ({ code, reason }) =>
      reject(new Error(`${options.url}: the connection was closed (${code}${reason && `, ${reason}`})`)),
    );
  });
  await Promise.race([untilStopped(), lost]);
  return 0;
}

/** Prints values while the reader keeps up, and later the newest one, with how many were left out. */
function createPrinter(console: PacedConsole): (value: string) => void {
  let waiting: string | undefined;
  let leftOut = 0;
  const goOn = () => {
    console.print(waiting!);
    waiting = undefined;
    if (leftOut > 0) console.printError(`${leftOut} changes were left out: nobody read them`);
    leftOut = 0;
  };
  return (value) => {
    if (waiting !== undefined) leftOut++;
    else if (!console.isBehind) return console.print(value);
    else void console.whenTaken().then(goOn);
    waiting = value;
  };
}

function escapeRegex(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
