// A Firefox between which and playwright stands a relay: `node firefox-relay.ts <firefox> [arguments…]`. It answers the one command that
// playwright sends to each new page and Firefox does not know, and passes everything else.

import { spawn } from 'node:child_process';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { dependent } from '../system/dependent.ts';

const unknownCommand = 'emulation.setMediaFeaturesOverride';

const [program, ...args] = process.argv.slice(2);
const firefox = spawn(...dependent(program!, args), { stdio: ['ignore', 'pipe', 'pipe'] });
const relay = new WebSocketServer({ port: 0, host: '127.0.0.1' });
let address = '';

firefox.once('exit', (status) => process.exit(status ?? 1));
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => firefox.kill(signal));
for (const output of [firefox.stdout, firefox.stderr]) output.on('data', announce);

/** Says where the relay listens as soon as Firefox does, in its words, for which playwright waits. */
function announce(data: Buffer): void {
  const found = /BiDi listening on (ws:\S+)/.exec(String(data))?.[1];
  if (found === undefined || address !== '') return;
  address = found;
  process.stderr.write(`WebDriver BiDi listening on ws://127.0.0.1:${(relay.address() as AddressInfo).port}\n`);
}

relay.on('connection', (near, { url }) => {
  const far = new WebSocket(address + url);
  const opened = new Promise<void>((resolve) => far.once('open', resolve));
  near.on('message', async (data) => {
    const text = String(data);
    const { id, method } = JSON.parse(text) as { readonly id: number; readonly method: string };
    await opened;
    if (method === unknownCommand) near.send(JSON.stringify({ type: 'success', id, result: {} }));
    else far.send(text);
  });
  far.on('message', (data) => near.send(String(data)));
  far.on('close', () => near.close());
  far.on('error', () => near.close());
  near.on('close', () => far.close());
});
