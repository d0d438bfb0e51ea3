// A register in NATS: a small stream with a single message. Writes expect the last sequence of the whole stream, because servers before
// version 2.9.21 accept two concurrent writes that expect the same last sequence of a subject. Reads use STREAM.MSG.GET, because direct
// gets may return stale values.

import { setTimeout as after } from 'node:timers/promises';
import type {
  DiscardPolicy,
  JetStreamClient,
  RetentionPolicy,
  StorageType,
  StoredMsg,
  StreamAPI,
} from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { messageOf } from '../../../model/error.ts';
import { within } from '../../../model/time/deadline.ts';
import { expectShallow } from '../wire/shallow.ts';
import { type ForeignRegister, type Held, NotReplaced, type Register } from './register.ts';

/** The time after which a server that has not answered counts as silent, in milliseconds. */
const answerMs = 1000;
/**
 * The interval between attempts while no attempt has been answered, in milliseconds. With this interval, a stream that has just got a
 * leader is written or read immediately.
 */
const retryMs = 100;
/** The number of servers in a cluster that store each register. */
const replicas = 3;
/** The JetStream error codes for a stream that does not exist and for an unexpected last message. */
const isNotThere = 10_059;
const hasOtherSequence = 10_071;
/**
 * The JetStream error code for a stream that exists with other settings, for example because it was created before the server was part of a
 * cluster.
 */
const hasOtherSettings = 10_058;
/** The JetStream error code if another stream has the subject, or if another client is currently creating this stream. */
const overlaps = 10_065;
const overlapAttempts = 5;
const overlapMs = 50;
/** The maximum number of keys in a stored value. It is limited because values are parsed repeatedly. */
const maxKeys = 6000;
const nothing = { sequence: 0, value: undefined };

/**
 * Creates a hub's streams in a cluster one after another. After a restart, servers immediately know everything that the cluster had
 * recorded before its last entry, but they know the last entry only when they have a leader. Streams that were created at the same moment
 * would not elect their leaders before then.
 */
export class Creations {
  #last: Promise<unknown> = Promise.resolve();

  /** Creates a stream after all earlier streams have been created or have failed. Errors: any error from `create`. */
  inTurn<T>(create: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(create);
    this.#last = turn.catch(() => {});
    return turn;
  }
}

interface StreamRegisterOptions<T> {
  /** Returns the current connection, or undefined if there is no connection. */
  readonly connection: () => NatsConnection | undefined;
  readonly stream: string;
  readonly subject: string;
  readonly creations: Creations;
  /** Parses a stored value. Errors: `Error` with a message about the expected content. */
  readonly parse: (data: unknown) => T;
  /** Called if the stored value is invalid. Such a value counts as missing and is replaced by the next value. */
  readonly warnOfInvalid: (reason: string) => void;
}

interface Opened {
  readonly connection: NatsConnection;
  readonly client: JetStreamClient;
  readonly streams: StreamAPI;
  /** Returns the error code sent by a server, or undefined if the error did not come from a server. */
  readonly codeOf: (error: unknown) => number | undefined;
  /** Whether the stream is known to contain a message. In this case, no other client is creating it. */
  isThere: boolean;
}

/**
 * A register in a JetStream stream. In a cluster, the stream is created only when a server reports that it does not exist, because a stream
 * may have a leader while the cluster, which creates streams, has no leader. On a single server, the stream is always created first,
 * because the server in Debian 12 crashes on a request for a message in a stream that another client is creating at the same time.
 */
export class StreamRegister<T> implements Register<T>, ForeignRegister<T> {
  readonly #options: StreamRegisterOptions<T>;
  #last: Opened | undefined;
  #isCreating = false;

  constructor(options: StreamRegisterOptions<T>) {
    this.#options = options;
  }

  async read(): Promise<Held<T>> {
    const { stream, subject } = this.#options;
    const session = await this.#opened();
    const isAlone = session.connection.info?.cluster === undefined;
    if (isAlone && !session.isThere && (await create(session, stream, subject)) === 0) return nothing;
    try {
      const message = await insist(session, (ms) => this.#newest(session, ms));
      session.isThere = message !== null;
      return this.#held(message);
    } catch (error) {
      if (session.codeOf(error) !== isNotThere) throw error;
      session.isThere = false;
      await this.#createInTurn(session);
      return nothing;
    }
  }

  async peek(): Promise<Held<T>> {
    const session = await this.#opened();
    try {
      return this.#held(await insist(session, (ms) => this.#newest(session, ms)));
    } catch (error) {
      if (session.codeOf(error) !== isNotThere) throw error;
      return nothing;
    }
  }

  #held(message: StoredMsg | null): Held<T> {
    return message === null ? nothing : { sequence: message.seq, value: this.#parse(message) };
  }

  /**
   * Parses a stored value. Returns undefined if the value is invalid, so that the hub can continue even if other clients write invalid
   * data.
   */
  #parse(message: StoredMsg): T | undefined {
    try {
      expectShallow(message.data, maxKeys);
      return this.#options.parse(message.json());
    } catch (error) {
      this.#options.warnOfInvalid(messageOf(error));
      return undefined;
    }
  }

  async replace(value: T, sequence: number): Promise<number | undefined> {
    const session = await this.#opened();
    const expect = { lastSequence: sequence }; // ensures that at most one attempt succeeds
    let attempts = 0;
    const write = (timeout: number) => {
      attempts++;
      return session.client.publish(this.#options.subject, JSON.stringify(value), { expect, timeout });
    };
    try {
      const { seq } = await insist(session, write);
      session.isThere = true;
      return seq;
    } catch (error) {
      if (session.codeOf(error) === hasOtherSequence) return undefined;
      if (attempts > 1 || !(await hasNoResponder(error))) throw error;
      void this.#createBeside(session);
      throw new NotReplaced('no server currently accepts writes to the lease');
    }
  }

  async #opened(): Promise<Opened> {
    const present = this.#options.connection();
    if (present === undefined) throw new Error('not connected to a server');
    if (this.#last?.connection !== present) this.#last = await open(present);
    return this.#last;
  }

  async #newest({ streams }: Opened, timeoutMs: number) {
    const { stream, subject } = this.#options;
    const message = await within(streams.getMessage(stream, { last_by_subj: subject }), timeoutMs);
    if (message === undefined) throw new Error('timeout');
    return message;
  }

  #createInTurn(session: Opened): Promise<unknown> {
    const { creations, stream, subject } = this.#options;
    return creations.inTurn(() => create(session, stream, subject));
  }

  async #createBeside(session: Opened): Promise<void> {
    if (this.#isCreating) return;
    this.#isCreating = true;
    await this.#createInTurn(session)
      .catch(() => {}) // the next write tries again, and so does this read
      .finally(() => {
        this.#isCreating = false;
      });
  }
}

/**
 * Repeats a request until a server has answered. Errors: the error that a server has reported, otherwise the error of the first attempt.
 */
async function insist<T>({ codeOf }: Opened, ask: (timeoutMs: number) => Promise<T>): Promise<T> {
  const isAnswer = (error: unknown) => codeOf(error) !== undefined;
  try {
    return await askAgain({ ask, everyMs: retryMs, limitMs: answerMs, isAnswer });
  } catch (error) {
    const { errors } = error as AggregateError;
    throw errors.find(isAnswer) ?? errors[0];
  }
}

async function open(connection: NatsConnection): Promise<Opened> {
  const { jetstream, jetstreamManager, JetStreamApiError } = await import('@nats-io/jetstream');
  const { streams } = await jetstreamManager(connection, { timeout: answerMs, checkAPI: false });
  const codeOf = (error: unknown) => (error instanceof JetStreamApiError ? error.code : undefined);
  return { connection, streams, client: jetstream(connection, { timeout: answerMs }), codeOf, isThere: false };
}

/** Resolves to whether nobody is listening to a request, because the stream does not exist or currently has no leader. */
async function hasNoResponder(error: unknown): Promise<boolean> {
  const { RequestError } = await import('@nats-io/transport-node');
  return error instanceof Error && error.cause instanceof RequestError && error.cause.isNoResponders();
}

/**
 * Creates the stream, or leaves an existing stream unchanged. Resolves to the sequence of the last message, or to undefined if the sequence
 * is unknown.
 */
async function create(
  session: Opened,
  stream: string,
  subject: string,
  attempts = overlapAttempts,
): Promise<number | undefined> {
  const { connection, streams, codeOf } = session;
  try {
    const { state } = await streams.add({
      name: stream,
      subjects: [subject],
      retention: 'limits' satisfies `${RetentionPolicy}` as RetentionPolicy,
      storage: 'file' satisfies `${StorageType}` as StorageType,
      discard: 'old' satisfies `${DiscardPolicy}` as DiscardPolicy,
      max_msgs: 1,
      num_replicas: connection.info?.cluster === undefined ? 1 : replicas,
      allow_direct: false,
    });
    return state.last_seq;
  } catch (error) {
    const code = codeOf(error);
    if (code === hasOtherSettings) return undefined;
    if (code !== overlaps || attempts <= 1) throw error;
    await after(overlapMs);
    return create(session, stream, subject, attempts - 1);
  }
}

interface AskAgainOptions<T> {
  /** Sends the request. Rejects if no answer arrives within `withinMs`. */
  ask(withinMs: number): Promise<T>;
  readonly everyMs: number;
  /** The time after which all attempts end, in milliseconds. */
  readonly limitMs: number;
  /** Returns whether an error counts as an answer. After an answer, no further attempt begins. */
  isAnswer(error: unknown): boolean;
}

/**
 * Repeats a request, in parallel with earlier attempts, until an attempt has been answered. A request to a stream without a leader is lost,
 * whereas the next leader would answer immediately. Resolves to the first answer. Errors: an AggregateError with the errors of all
 * attempts, in the order in which they began.
 */
export function askAgain<T>({ ask, everyMs, limitMs, isAnswer }: AskAgainOptions<T>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const errors: unknown[] = [];
  const attempts = Math.ceil(limitMs / everyMs);
  let begun = 0;
  let failed = 0;
  let isOver = false;
  const end = () => {
    isOver = true;
    clearInterval(timer);
  };
  const attempt = async () => {
    const place = begun++;
    if (begun === attempts) clearInterval(timer);
    try {
      resolve(await ask(limitMs - place * everyMs));
      end();
    } catch (error) {
      errors[place] = error;
      failed++;
      if (place === 0 || isAnswer(error)) end();
      if (failed === begun && (isOver || begun === attempts)) reject(new AggregateError(errors));
    }
  };
  const timer = setInterval(attempt, everyMs);
  void attempt();
  return promise;
}
