// Answers WebSocket handshakes after their handler has returned. Within the cork of such a handshake's own response, the older version of
// uWebSockets.js still takes the WebSocket for that response, reads freed memory, and sometimes closes the WebSocket
// (uNetworking/uWebSockets#1928). For that version, the handshake is sent within the cork of another response, which is kept open for this
// purpose on a connection from the process to itself.

import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { closesLateUpgrades, createApp, type HttpResponse, listen } from './uws.ts';

/** A response that is kept open so that handshakes can be sent within its cork. */
interface Spare {
  /** The response; undefined while it is being opened. */
  response: HttpResponse | undefined;
  /** Closes the response and its connection; resolves when both are closed. */
  close(): Promise<unknown>;
}

let holders = 0;
let spare: Spare | undefined;

/**
 * Keeps a spare response open if the loaded version of uWebSockets.js needs such a response for late handshakes. Returns a function that
 * releases the response and resolves when everything is closed.
 */
export function holdLateUpgrades(): () => Promise<void> {
  spare ??= closesLateUpgrades() ? openSpare() : undefined;
  holders++;
  return async () => {
    holders--;
    if (holders === 0) await spare?.close();
  };
}

/** Returns whether a late handshake can be answered now. Returns false for a moment after the first start. */
export function canUpgrade(): boolean {
  return spare === undefined || spare.response !== undefined;
}

/** Runs `upgrade`, which answers the handshake of a response, within a cork that is safe for late handshakes. */
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
  client.on('error', () => void opened.close()); // without the spare, late handshakes are sent within the cork of their own response
  return opened;
}
