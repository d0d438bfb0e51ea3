// The plain realtime socket (spec.md "Realtime socket"). Live clients hear what the fan-out publishes. A client that is behind,
// because it asked for a snapshot or reads too slowly, keeps one number: the revision up to which it has seen everything; it
// is sent the newest values since, as fast as it reads, and is live again.

import { HubError } from '../../../../model/error.ts';
import type { Change, Origin, Parameter } from '../../../../model/parameter.ts';
import { type CloseCode, closeCodes } from '../../../../wire/close-codes.ts';
import type { PlainRefusal } from '../../../../wire/plain.ts';
import type { Log } from '../../../connection.ts';
import type { HubPort } from '../../../hub-port.ts';
import { createFilter } from '../../filters/filter.ts';
import { asHubError } from '../../input/fault-gate.ts';
import type { LimitHits } from '../../limits/limit-hits.ts';
import type { Task, TaskQueue } from '../../turns/work-queue.ts';
import type { Protocol, ProtocolContext } from '../protocol.ts';
import type { Session, Socket } from '../session.ts';
import { type Interests, type SessionStatus, shownPatterns, stalledAfterMs } from '../status.ts';
import { type Sent, Tally } from '../tally.ts';
import { encodeFrame } from './frame.ts';
import { PlainGroups, type PlainTopic } from './group.ts';
import { PlainReader } from './message.ts';
import { createOutbox, type Outbox } from './outbox.ts';

/** How much of what it missed a client that is behind is sent ahead of its reading. */
const catchUpBytes = 256 * 1024;
const nothing: Sent = { frames: 0, bytes: 0 };

/** Serves clients that ask for no subprotocol. */
export function servePlain({ publish, hub, log, hits, tasks, fanOut, bound }: ProtocolContext): PlainProtocol {
  const outbox = createOutbox((topic, frame) => {
    publish(topic, frame);
    if (shared.leaving.size > 0) for (const client of shared.leaving) client.leaveTopic();
  });
  const groups = new PlainGroups(hub, fanOut, bound, outbox.put);
  const round = createRound(hub);
  const reader = new PlainReader();
  const shared: Shared = {
    hub,
    log,
    hits,
    tasks,
    reader,
    outbox,
    groups,
    round,
    clients: new Set(),
    leaving: new Set(),
  };
  return {
    name: '',
    accept(origin, address, queryText) {
      const query = new URLSearchParams(queryText);
      const patterns = query.getAll('filter').sort();
      const topic = groups.join(JSON.stringify(patterns), createFilter(patterns));
      const seen = isTrue(query.get('snapshot')) ? 0 : undefined;
      return new PlainClient(shared, { patterns, topic, origin, address, seen });
    },
    note: (change) => round.note(change.revision),
    close() {
      outbox.flush();
      for (const client of [...shared.clients]) client.end(closeCodes.goingAway, 'the hub stops');
    },
  };
}

interface PlainProtocol extends Protocol {
  /** Is told of each change before the fan-out. */
  note(change: Change): void;
}

interface Shared {
  readonly hub: HubPort;
  readonly log: Log;
  readonly hits: LimitHits;
  readonly tasks: TaskQueue;
  readonly reader: PlainReader;
  readonly outbox: Outbox;
  readonly groups: PlainGroups;
  readonly round: Round;
  readonly clients: Set<PlainClient>;
  /** Clients that have just missed something: as long as they have their topic, later frames overtake what they missed. */
  readonly leaving: Set<PlainClient>;
}

/** A client as its handshake shows it; `seen` is 0 when it asks for a snapshot. */
interface Accepted {
  readonly patterns: readonly string[];
  readonly topic: PlainTopic;
  readonly origin: Origin;
  readonly address: string;
  readonly seen: number | undefined;
}

class PlainClient implements Session, Task {
  readonly isBusy = false;
  readonly #shared: Shared;
  readonly #filters: readonly string[];
  readonly #topic: PlainTopic;
  readonly #origin: Origin;
  readonly address: string;
  #socket!: Socket;
  /** Everything up to this revision has been sent; undefined while the client is live. */
  #seen: number | undefined;
  /** What has changed since; undefined: nothing is being sent of it. */
  #walk: Iterator<Parameter> | undefined = undefined;
  /** In milliseconds of a monotonic clock: since when it is not live, and when it read last while it was not. */
  #behindSinceMs = performance.now();
  #readAtMs = 0;
  /** What was sent to it beside what was published on its topic, and how much that was when it last became live. */
  readonly #own = new Tally();
  #published: Sent = nothing;
  #topicBefore: Sent = nothing;
  #received = 0;

  constructor(shared: Shared, { patterns, topic, origin, address, seen }: Accepted) {
    this.#shared = shared;
    this.#filters = patterns;
    this.address = address;
    this.#topic = topic;
    this.#origin = origin;
    this.#seen = seen;
  }

  prepare(endMs: number): boolean {
    return this.#shared.groups.prepare(this.#topic, endMs);
  }

  open(socket: Socket): void {
    this.#socket = socket;
    this.#shared.clients.add(this);
    if (this.#seen === undefined) this.#goLive();
    else this.#shared.tasks.do(this);
  }

  /** Takes a message, `{"p":"desk/lamp","v":true}`; a mistake is answered and the socket stays open. */
  receive(message: ArrayBuffer, isBinary: boolean): void {
    const { hub, log, hits, reader } = this.#shared;
    let address: string | undefined;
    this.#received++;
    try {
      if (isBinary) throw new HubError('bad-request', 'expected a text frame with {"p":…,"v":…}, got a binary frame');
      address = reader.read(message);
      const parameter = hub.find(address);
      const value = reader.value(parameter !== undefined && takesNumbers(parameter));
      if (parameter === undefined) hub.write(address, value, this.#origin);
      else hub.writeTo(parameter, value, this.#origin);
    } catch (error) {
      hits.addError(error, this.address);
      this.#send(JSON.stringify({ error: asHubError(error, log).message, p: address } satisfies PlainRefusal));
    }
  }

  dropped(): void {
    if (this.#seen !== undefined) return;
    this.#published = this.#sentOnTopic();
    this.#behindSinceMs = performance.now();
    this.#seen = this.#shared.round.safeRevision();
    this.#shared.leaving.add(this); // it leaves after this call: the server is sending to the topic's members
    setImmediate(() => {
      this.leaveTopic();
      this.#shared.tasks.add(this);
    });
  }

  /** Stops hearing what is published. */
  leaveTopic(): void {
    if (this.#shared.leaving.delete(this)) this.#socket.unsubscribe(this.#topic.text); // once: it may be live again
  }

  drained(): void {
    this.#readAtMs = performance.now();
    if (this.#socket.getBufferedAmount() < catchUpBytes / 2) this.#shared.tasks.do(this);
  }

  /** Goes on with what it has missed; returns whether there is more to send at once. */
  advance(endMs: number): boolean {
    const { clients, outbox } = this.#shared;
    const isLive = this.#seen === undefined || this.#socket.isSubscribed(this.#topic.text);
    if (!clients.has(this) || isLive) return false;
    outbox.flush(); // what is published after the walk must be newer than what the walk sends
    let hasMore = false;
    this.#socket.cork(() => {
      hasMore = this.#catchUp(endMs);
    });
    return hasMore;
  }

  close(): void {
    this.#shared.tasks.remove(this);
    this.#shared.clients.delete(this);
    this.#shared.leaving.delete(this);
    this.#shared.groups.leave(this.#topic);
  }

  status(nowMs: number): SessionStatus {
    const { frames, bytes } = this.#sentOnTopic();
    const lagMs = this.#seen === undefined ? 0 : nowMs - this.#behindSinceMs;
    const isStalled = Math.min(lagMs, nowMs - this.#readAtMs) >= stalledAfterMs;
    return {
      state: this.#seen === undefined ? 'live' : isStalled ? 'stalled' : 'catching up',
      unreadBytes: this.#socket.getBufferedAmount(),
      lagMs,
      sentBytes: this.#own.bytes + bytes,
      sentFrames: this.#own.frames + frames,
      receivedMessages: this.#received,
    };
  }

  interests(): Interests {
    return { filters: this.#filters.slice(0, shownPatterns) };
  }

  end(code: CloseCode, reason: string): void {
    this.#socket.end(code, reason);
  }

  #send(frame: string): void {
    this.#own.add(Buffer.byteLength(frame));
    this.#socket.send(frame, false, false);
  }

  /** What was published while it was live. */
  #sentOnTopic(): Sent {
    return this.#seen === undefined ? this.#topic.sent.since(this.#topicBefore) : this.#published;
  }

  #goLive(): void {
    this.#seen = undefined;
    this.#topicBefore = this.#topic.sent.since(this.#published);
    this.#socket.subscribe(this.#topic.text);
  }

  /** Sends what it has missed until then, as far as the socket takes it. */
  #catchUp(endMs: number): boolean {
    const socket = this.#socket;
    this.#walk ??= this.#shared.hub.changedSince(this.#seen!)[Symbol.iterator]();
    do {
      if (socket.getBufferedAmount() > catchUpBytes) return false;
      const { done, value: parameter } = this.#walk.next();
      if (done) {
        this.#walk = undefined;
        this.#goLive();
        return false;
      }
      const { address, value, lastChange } = parameter;
      if (value !== undefined && this.#topic.group.matches(parameter)) this.#send(encodeFrame(address, value));
      this.#seen = lastChange!.revision;
    } while (performance.now() < endMs);
    return true;
  }
}

/** Whether a text that is a number, and the number, are the same to a parameter. */
function takesNumbers({ type, accept }: Parameter): boolean {
  return (type === 'F' || type === 'I') && accept === undefined;
}

interface Round {
  note(revision: number): void;
  safeRevision(): number;
}

/**
 * Knows a revision up to which every frame has left: the server sends what was published at the end of a round of the
 * event loop, so what it drops was published in this round or the one before.
 */
function createRound(hub: HubPort): Round {
  let current: number | undefined;
  let previous: number | undefined;
  return {
    note(revision) {
      if (current !== undefined) return;
      current = revision - 1;
      setImmediate(() => {
        previous = current;
        current = undefined;
      });
    },
    safeRevision: () => Math.min(previous ?? hub.revision, current ?? hub.revision),
  };
}

function isTrue(text: string | null): boolean {
  return text === 'true' || text === '1';
}
