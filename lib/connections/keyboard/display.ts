// Asks whether an X server is there before the libraries do: without one they abort, and now and then hang.

import { connect, type NetConnectOpts } from 'node:net';
import { messageOf } from '../../model/error.ts';

const deadlineMs = 3000;
const firstPort = 6000;

/**
 * Resolves when something listens at the display, such as `:0` or `localhost:10.0`; other forms are left to the libraries.
 * Errors: one sentence.
 */
export async function findXServer(display: string): Promise<void> {
  const [, host, number] = /^([\w.-]*):(\d+)(?:\.\d+)?$/.exec(display) ?? [];
  if (number === undefined) return;
  const path = `/tmp/.X11-unix/X${number}`;
  const isLocal = host === '' || host === 'unix';
  const places = isLocal ? [{ path }, { path: `\0${path}` }] : [{ host, port: firstPort + Number(number) }];
  try {
    await Promise.any(places.map(reach));
  } catch (error) {
    const reason = messageOf((error as AggregateError).errors[0]);
    throw new Error(`no X server answers at the display ${display} (${reason})`);
  }
}

function reach(place: NetConnectOpts): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ ...place, timeout: deadlineMs })
      .once('connect', () => {
        socket.destroy();
        resolve();
      })
      .once('timeout', () => socket.destroy(new Error('no answer')))
      .once('error', reject);
  });
}
