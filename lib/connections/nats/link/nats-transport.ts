// The transport over a session with a NATS server.

import type { NatsConnection } from '@nats-io/transport-node';
import { messageOf } from '../../../model/error.ts';
import type { Log } from '../../connection.ts';
import type { Intake } from './nats-intake.ts';
import { askerOf, hubOf, hubOfInbox } from './subjects.ts';
import type { Transport } from './transport.ts';

/** How much may be on its way to the server; what comes beyond is not sent. */
const maxUnsentBytes = 32 * 1024 * 1024;
/** The server is asked so often whether it has all. */
const askedEveryBytes = 1024 * 1024;

export interface TransportContext {
  readonly domain: string;
  readonly intake: Intake;
  readonly log: Log;
}

/**
 * What comes is taken in turns, by the hub that has sent it. Who asks is answered in an inbox alone: another subject could be one of this
 * hub, where only this hub may send.
 */
export function createTransport(connection: NatsConnection, { domain, intake, log }: TransportContext): Transport {
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
      let isSubscribed = true;
      const subscription = connection.subscribe(subject, {
        callback: (error, message) => {
          if (error !== null) return;
          const { subject, data } = message;
          const inbox = message.reply === undefined ? undefined : hubOfInbox(domain, message.reply);
          const sender = askerOf(subject) ?? (inbox || hubOf(subject));
          const reply = (answer: Uint8Array | string) => {
            if (inbox !== undefined) send(answer.length, () => message.respond(answer));
          };
          intake.take(sender, data.length, () => (isSubscribed ? take({ subject, data, reply }) : undefined));
        },
      });
      return () => {
        isSubscribed = false;
        subscription.unsubscribe();
      };
    },
    async request(subject, data, timeoutMs) {
      if (isFull()) throw new Error('too much is on its way to the server');
      account(data.length);
      const { data: answer } = await connection.request(subject, data, { timeout: timeoutMs });
      return answer;
    },
  };
}
