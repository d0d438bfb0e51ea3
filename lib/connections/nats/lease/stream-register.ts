// A cell in NATS: a small stream with one message. The stream as a whole expects a sequence, since servers before 2.9.21 let two
// writers win who expect one of a subject. It is read by STREAM.MSG.GET, as direct gets may be stale.

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

/** A server that needs longer than this counts as one that does not answer. */
const answerMs = 1000;
/** What has no answer is asked again beside that, so that a stream which has a leader again is written, or read, at once. */
const againMs = 100;
/** On how many servers of a cluster a cell is. */
const replicas = 3;
/** What the server says when there is no such stream, or its last message is not the one that was expected. */
const isNotThere = 10_059;
const hasOtherSequence = 10_071;
/** And when the stream is there with other settings, such as one from the time before there was a cluster. */
const hasOtherSettings = 10_058;
/** Or another stream has the subject, or for a moment when somebody else is having this one created. */
const overlaps = 10_065;
const overlapAttempts = 5;
const overlapMs = 50;
/** What is stored has no more keys: it is read again and again. */
const maxKeys = 6000;
const nothing = { sequence: 0, value: undefined };

/**
 * The streams that a hub creates in a cluster, one after another. Servers that all start again know at once of what the cluster noted
 * before its last entry, and of that only once they have a leader: then a stream that was created at the same moment elects its own.
 */
export class Creations {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs one after those before it, whatever they come to. Errors: its own. */
  inTurn<T>(create: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(create);
    this.#last = turn.catch(() => {});
    return turn;
  }
}

interface StreamRegisterOptions<T> {
  /** The present connection; undefined: there is none. */
  readonly connection: () => NatsConnection | undefined;
  readonly stream: string;
  readonly subject: string;
  readonly creations: Creations;
  /** Reads what was stored. Errors: what it is not. */
  readonly parse: (data: unknown) => T;
  /** Is told that something else is stored, which counts as nothing, and is replaced by the next value. */
  readonly warnOfSenseless: (reason: string) => void;
}

interface Opened {
  readonly connection: NatsConnection;
  readonly client: JetStreamClient;
  readonly streams: StreamAPI;
  /** What a server says is wrong; undefined: it was no server that has said so. */
  readonly codeOf: (error: unknown) => number | undefined;
  /** Whether the stream is known to have a message: then nobody is having it created. */
  isThere: boolean;
}

/**
 * In a cluster it creates its stream where a server says that there is none, and asks for no more than it needs: a stream may have a
 * leader while the cluster, which creates streams, has none. A server alone is asked to create it first: Debian 12 has one that crashes
 * when it is asked for a message of a stream that somebody else is having created at this moment.
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

  /** undefined: it is no such value. Whatever writes there, somebody can go on. */
  #parse(message: StoredMsg): T | undefined {
    try {
      expectShallow(message.data, maxKeys);
      return this.#options.parse(message.json());
    } catch (error) {
      this.#options.warnOfSenseless(messageOf(error));
      return undefined;
    }
  }

  async replace(value: T, sequence: number): Promise<number | undefined> {
    const session = await this.#opened();
    const expect = { lastSequence: sequence }; // so one attempt succeeds at most
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
      if (attempts > 1 || !(await isUnheard(error))) throw error;
      void this.#createBeside(session);
      throw new NotReplaced('no server takes the lease at the moment');
    }
  }

  async #opened(): Promise<Opened> {
    const present = this.#options.connection();
    if (present === undefined) throw new Error('there is no connection');
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
      .catch(() => {}) // whoever wants to write tries again, and so does this
      .finally(() => {
        this.#isCreating = false;
      });
  }
}

/** Asks again beside itself until a server has answered. Errors: what a server says is wrong; else why the first attempt has failed. */
async function insist<T>({ codeOf }: Opened, ask: (timeoutMs: number) => Promise<T>): Promise<T> {
  const isAnswer = (error: unknown) => codeOf(error) !== undefined;
  try {
    return await askAgain({ ask, everyMs: againMs, limitMs: answerMs, isAnswer });
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

/** Whether nobody listens: the stream is gone, or has no leader at the moment. */
async function isUnheard(error: unknown): Promise<boolean> {
  const { RequestError } = await import('@nats-io/transport-node');
  return error instanceof Error && error.cause instanceof RequestError && error.cause.isNoResponders();
}

/** Creates the stream; one that is there stays as it is. Returns the sequence of its last message; undefined: that is not known. */
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

interface Asking<T> {
  /** Asks once; rejects when there is no answer in time. */
  ask(withinMs: number): Promise<T>;
  readonly everyMs: number;
  /** When all attempts end. */
  readonly limitMs: number;
  /** Whether an attempt was rejected by an answer, after which none begins any more. */
  isAnswer(error: unknown): boolean;
}

/**
 * Asks one question again beside itself for as long as nobody answers: what a stream is asked that has no leader is lost, while its next
 * leader would answer at once. Resolves with the first attempt that does. Errors: an AggregateError of all attempts that began, the first
 * one first.
 */
export function askAgain<T>({ ask, everyMs, limitMs, isAnswer }: Asking<T>): Promise<T> {
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
