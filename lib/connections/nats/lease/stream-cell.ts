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

/**
 * Creates a cell. It creates its stream where a server says that there is none, and asks for no more than it needs: a stream may
 * have a leader while the cluster, which creates streams, has none.
 */
export function createStreamCell<T>({ connection, stream, subject, parse }: StreamCellOptions<T>): Cell<T> {
  let last: Opened | undefined;
  let isCreating = false;
  const opened = async () => {
    const present = connection();
    if (present === undefined) throw new Error('there is no connection');
    if (last?.connection !== present) last = await open(present);
    return last;
  };
  const createBeside = async (session: Opened) => {
    if (isCreating) return;
    isCreating = true;
    await create(session, stream, subject)
      .catch(() => {}) // whoever wants to write tries again, and so does this
      .finally(() => {
        isCreating = false;
      });
  };
  return {
    async read(): Promise<Held<T>> {
      const session = await opened();
      const { JetStreamApiCodes, JetStreamApiError } = await import('@nats-io/jetstream');
      try {
        const message = await session.streams.getMessage(stream, { last_by_subj: subject });
        if (message !== null) return { sequence: message.seq, value: parse(message.json()) };
      } catch (error) {
        if (!(error instanceof JetStreamApiError) || error.code !== JetStreamApiCodes.StreamNotFound) throw error;
        await create(session, stream, subject);
      }
      return { sequence: 0, value: undefined };
    },
    async replace(value, sequence) {
      const session = await opened();
      const { JetStreamApiCodes, JetStreamApiError } = await import('@nats-io/jetstream');
      try {
        const expect = { lastSequence: sequence };
        const { seq } = await session.client.publish(subject, JSON.stringify(value), { expect, timeout: answerMs });
        return seq;
      } catch (error) {
        const isNewer = error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamWrongLastSequence;
        if (isNewer) return undefined;
        if (await isUnheard(error)) void createBeside(session);
        throw error;
      }
    },
  };
}

async function open(connection: NatsConnection): Promise<Opened> {
  const { jetstream, jetstreamManager } = await import('@nats-io/jetstream');
  const { streams } = await jetstreamManager(connection, { timeout: answerMs, checkAPI: false });
  return { connection, streams, client: jetstream(connection, { timeout: answerMs }) };
}

/** Whether nobody listens: the stream is gone, or has no leader at the moment. */
async function isUnheard(error: unknown): Promise<boolean> {
  const { RequestError } = await import('@nats-io/transport-node');
  return error instanceof Error && error.cause instanceof RequestError && error.cause.isNoResponders();
}

/** Creates the stream; one that is there stays as it is. */
async function create({ connection, streams }: Opened, stream: string, subject: string): Promise<void> {
  const { JetStreamApiError } = await import('@nats-io/jetstream');
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
}
