// The client library against a real hub: every message that it exchanges has to be one of the document of the protocol.

import type { ExecutionContext } from 'ava';
import { filter, firstValueFrom, from } from 'rxjs';
import { type ConnectOptions, connect, type Hub, type SocketClass, type Stream } from '../../../lib/client/index.ts';
import { within } from '../deadline.ts';
import { kindOf } from './asyncapi.ts';

export interface ClientUnderTest extends Hub {
  /** What the hub has told, newest last. */
  readonly reported: Record<string, unknown>[];
  /** What the client has sent. */
  readonly sent: Record<string, unknown>[];
}

/** Connects, with quick reconnects; closed when the test ends. */
export function connectClient(t: ExecutionContext, port: number, options: ConnectOptions = {}): ClientUnderTest {
  const reported: Record<string, unknown>[] = [];
  const sent: Record<string, unknown>[] = [];
  class RecordingSocket extends WebSocket {
    constructor(url: string, protocols: string[]) {
      super(url, protocols);
      this.addEventListener('message', ({ data }) => reported.push(JSON.parse(data)));
    }

    override send(text: string): void {
      sent.push(JSON.parse(text));
      super.send(text);
    }
  }
  const quick = { firstPauseMs: 10, longestPauseMs: 50, WebSocket: RecordingSocket as unknown as SocketClass };
  const hub = connect(`http://127.0.0.1:${port}`, { ...quick, ...options });
  t.teardown(() => {
    hub.close();
    for (const message of reported) kindOf('send', message);
    for (const message of sent) kindOf('receive', message);
  });
  return Object.defineProperties({ reported, sent }, Object.getOwnPropertyDescriptors(hub)) as ClientUnderTest;
}

/** Waits until a stream tells what is wanted. */
export function until<T>(stream: Stream<T>, isWanted: (value: T) => boolean, what: string): Promise<T> {
  return within(firstValueFrom(from(stream).pipe(filter(isWanted))), what);
}
