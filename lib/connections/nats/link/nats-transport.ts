// The transport over a session with a NATS server.

import type { NatsConnection } from '@nats-io/transport-node';
import { messageOf } from '../../../model/error.ts';
import type { Log } from '../../connection.ts';
import type { Transport } from './transport.ts';

/** How much may be on its way to the server; what comes beyond is not sent. */
const maxUnsentBytes = 32 * 1024 * 1024;
/** The server is asked so often whether it has all. */
const askedEveryBytes = 1024 * 1024;

export function createTransport(connection: NatsConnection, log: Log): Transport {
  let sent = 0;
  let asked = 0;
  let arrived = 0;
  const account = (bytes: number) => {
    sent += bytes;
    if (sent - asked < askedEveryBytes) return;
    asked = sent;
    const reached = sent;
    connection.flush().then(
      () => {
        arrived = reached;
      },
      () => {}, // the session ends
    );
  };
  const isFull = () => sent - arrived > maxUnsentBytes;
  const send = (bytes: number, work: () => void) => {
    if (connection.isClosed() || isFull()) return;
    try {
      work();
      account(bytes);
    } catch (error) {
      log.warn({}, `nothing could be sent: ${messageOf(error)}`, 'not sent');
    }
  };
  return {
    publish: (subject, data) => send(data.length, () => connection.publish(subject, data)),
    subscribe(subject, take) {
      if (connection.isClosed()) return () => {};
      const subscription = connection.subscribe(subject, {
        callback: (error, message) => {
          if (error !== null) return;
          take({
            subject: message.subject,
            data: message.data,
            reply: (data) => send(data.length, () => message.respond(data)),
          });
        },
      });
      return () => subscription.unsubscribe();
    },
    async request(subject, data, timeoutMs) {
      if (isFull()) throw new Error('too much is on its way to the server');
      account(data.length);
      const { data: answer } = await connection.request(subject, data, { timeout: timeoutMs });
      return answer;
    },
  };
}
