// A handshake that is answered later than in its handler. The older version of uWebSockets.js takes a WebSocket, within the cork of the
// response that it was, for that response still, reads memory that is freed, and now and then closes it (uNetworking/uWebSockets#1928).
// There the handshake is sent within the cork of another response: one that is kept for that, on a connection of the process to itself.

import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { closesLateUpgrades, createApp, type HttpResponse, listen } from './uws.ts';

/** A response that stays open. */
interface Spare {
  /** Undefined while it is opened. */
  response: HttpResponse | undefined;
  /** Resolves when nothing of it is left. */
  close(): Promise<unknown>;
}

let holders = 0;
let spare: Spare | undefined;

/** Makes ready what late handshakes need; returns a function that gives it back, and resolves when nothing of it is left. */
export function holdLateUpgrades(): () => Promise<void> {
  spare ??= closesLateUpgrades() ? openSpare() : undefined;
  holders++;
  return async () => {
    holders--;
    if (holders === 0) await spare?.close();
  };
}

/** Whether a handshake can be answered. It takes a moment after the first start. */
export function canUpgrade(): boolean {
  return spare === undefined || spare.response !== undefined;
}

/** Answers a handshake with all that `upgrade` sends. */
export function corkUpgrade(response: HttpResponse, upgrade: () => void): void {
  (spare?.response ?? response).cork(upgrade);
}

function openSpare(): Spare {
  const app = createApp(undefined);
  const path = `/${randomUUID()}`;
  app.get(path, (response) => {
    listener.close();
    response.onAborted(() => void opened.close());
    opened.response = response;
  });
  const listener = listen(app, '127.0.0.1', 0);
  const client = connect(listener.port, '127.0.0.1', () =>
    client.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`),
  );
  const gone = new Promise((resolve) => client.once('close', resolve));
  const opened: Spare = {
    response: undefined,
    async close() {
      if (spare === opened) spare = undefined;
      app.close();
      client.destroy();
      await gone;
    },
  };
  client.on('error', () => void opened.close()); // without it, a late handshake is sent as the library would have it
  return opened;
}
