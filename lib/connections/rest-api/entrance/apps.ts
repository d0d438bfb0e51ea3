// The apps of uWebSockets.js that serve the clients of a port. There are several after a certificate was renewed: new clients come to
// the newest app, and those before it keep their clients.

import type { TemplatedApp } from '../../../net/uws.ts';

/** How many apps there are at most. When there would be more, the clients of the oldest are cut. */
const maxApps = 8;

interface ServingApp {
  readonly app: TemplatedApp;
  /** Whether a WebSocket of the app is open. */
  readonly hasSockets: () => boolean;
  replacedAtMs: number;
}

export class Apps {
  /** The newest first. */
  #apps: ServingApp[] = [];

  /** Adds the newest app; the one before it is replaced now. */
  add(app: TemplatedApp, hasSockets: () => boolean, nowMs: number): void {
    const [before] = this.#apps;
    if (before !== undefined) before.replacedAtMs = nowMs;
    this.#apps = [{ app, hasSockets, replacedAtMs: Number.POSITIVE_INFINITY }, ...this.#apps];
    this.#keep((one) => this.#apps.indexOf(one) < maxApps);
  }

  /** Hands a frame to the sockets that subscribe to a topic, whichever app they belong to. */
  publish(topic: ArrayBuffer, frame: Uint8Array): void {
    for (const { app } of this.#apps) app.publish(topic, frame, false, false);
  }

  /** Closes the apps that were replaced before a time and have no WebSocket. */
  closeReplaced(beforeMs: number): void {
    this.#keep(({ hasSockets, replacedAtMs }) => hasSockets() || replacedAtMs > beforeMs);
  }

  /** Closes all apps, which cuts all connections. */
  closeAll(): void {
    this.#keep(() => false);
  }

  #keep(stays: (one: ServingApp) => boolean): void {
    const before = this.#apps;
    this.#apps = before.filter(stays);
    for (const one of before) if (!this.#apps.includes(one)) one.app.close();
  }
}
