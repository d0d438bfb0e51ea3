// Waits until a server says the first word, as each does to whoever connects. A socket of its own can be given up at any time; the
// client library would keep one that hangs.

import { connect } from 'node:net';
import { addAbortSignal } from 'node:stream';
import { messageOf } from '../../../model/error.ts';

const defaultPort = 4222;

/** Resolves once a server has said something. Errors: why it does not, *timeout* after a time, or that the signal has ended it. */
export async function hearGreeting(server: string, timeoutMs: number, signal: AbortSignal): Promise<void> {
  const { hostname, port } = new URL(server.replace(/^(\w+:\/\/)?/, 'http://'));
  const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || defaultPort });
  const timer = setTimeout(() => socket.destroy(new Error('timeout')), timeoutMs);
  try {
    for await (const _ of addAbortSignal(signal, socket)) return;
  } catch (error) {
    throw new Error(reasonOf(error));
  } finally {
    clearTimeout(timer);
  }
  throw new Error('it ends each connection at once');
}

function reasonOf(error: unknown): string {
  const { code = '' } = error as NodeJS.ErrnoException;
  return code === 'ECONNREFUSED' ? 'connection refused' : messageOf(error) || code;
}
