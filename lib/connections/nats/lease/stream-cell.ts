// A cell in NATS: a small stream with one message. The stream as a whole expects a sequence, since servers before 2.9.21 let two
// writers win who expect one of a subject. It is read by STREAM.MSG.GET, as direct gets may be stale.

import type { DiscardPolicy, JetStreamClient, RetentionPolicy, StorageType, StreamAPI } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Cell, Held } from './cell.ts';

/** A server that needs longer than this counts as one that does not answer. */
const answerMs = 1000;
/** On how many servers of a cluster a cell is. */
const replicas = 3;
/** What the server says when the stream is there with other settings, such as one from the time before there was a cluster. */
const hasOtherSettings = 10_058;

export interface StreamCellOptions<T> {
  /** The present connection; undefined: there is none. */
  readonly connection: () => NatsConnection | undefined;
  readonly stream: string;
  readonly subject: string;
  /** Reads what was stored. Errors: what it is not. */
  readonly parse: (data: unknown) => T;
}

interface Opened {
  readonly connection: NatsConnection;
  readonly client: JetStreamClient;
  readonly streams: StreamAPI;
}

/** Creates a cell; it creates its stream where there is none. */
export function createStreamCell<T>({ connection, stream, subject, parse }: StreamCellOptions<T>): Cell<T> {
  let last: Opened | undefined;
  const opened = async () => {
    const present = connection();
    if (present === undefined) throw new Error('there is no connection');
    if (last?.connection !== present) last = await open(present, stream, subject);
    return last;
  };
  return {
    async read(): Promise<Held<T>> {
      const { streams } = await opened();
      const message = await streams.getMessage(stream, { last_by_subj: subject });
      if (message === null) return { sequence: 0, value: undefined };
      return { sequence: message.seq, value: parse(message.json()) };
    },
    async replace(value, sequence) {
      const { client } = await opened();
      const { JetStreamApiCodes, JetStreamApiError } = await import('@nats-io/jetstream');
      try {
        const expect = { lastSequence: sequence };
        const { seq } = await client.publish(subject, JSON.stringify(value), { expect, timeout: answerMs });
        return seq;
      } catch (error) {
        const isNewer = error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamWrongLastSequence;
        if (isNewer) return undefined;
        last = undefined; // the stream may be gone
        throw error;
      }
    },
  };
}

async function open(connection: NatsConnection, stream: string, subject: string): Promise<Opened> {
  const { JetStreamApiError, jetstream, jetstreamManager } = await import('@nats-io/jetstream');
  const { streams } = await jetstreamManager(connection, { timeout: answerMs, checkAPI: false });
  try {
    await streams.add({
      name: stream,
      subjects: [subject],
      retention: 'limits' satisfies `${RetentionPolicy}` as RetentionPolicy,
      storage: 'file' satisfies `${StorageType}` as StorageType,
      discard: 'old' satisfies `${DiscardPolicy}` as DiscardPolicy,
      max_msgs: 1,
      num_replicas: connection.info?.cluster === undefined ? 1 : replicas,
      allow_direct: false,
    });
  } catch (error) {
    if (!(error instanceof JetStreamApiError) || error.code !== hasOtherSettings) throw error;
  }
  return { connection, streams, client: jetstream(connection, { timeout: answerMs }) };
}
