// A plain client. A live client gets the frames that are published on its topic. A client that has requested a snapshot or reads too slowly
// is behind: its state is one number, the revision up to which the client has received everything. The hub sends such a client the newest
// values since then, as fast as the client can read, until the client is live again. A client that has requested lists receives lists, and
// may also send lists.

import { HubError } from '../../../../model/error.ts';
import { type Account, held } from '../../../../model/held-bytes.ts';
import type { Origin, Parameter } from '../../../../model/parameter.ts';
import type { Interests, SessionStatus } from '../../../../wire/http/operation.ts';
import type { PlainRefusal } from '../../../../wire/plain.ts';
import { type CloseCode, closeCodes } from '../../../../wire/protocol.ts';
import { asHubError } from '../../input/parse-input.ts';
import type { LimitError } from '../../limits/limit-hits.ts';
import { newWriterId, shareOf } from '../../limits/rates.ts';
import type { Task } from '../../pacing/fair-queue.ts';
import type { View } from '../../users/view.ts';
import type { FanOut, Rounds } from '../fan-out.ts';
import {
  type HandshakeRequest,
  heartbeatPayload,
  type ProtocolContext,
  type Session,
  type Socket,
  shownPatterns,
  stalledAfterMs,
} from '../socket-protocol.ts';
import { type Sent, Tally } from '../tally.ts';
import { closeSocket } from '../user-shares.ts';
import { encodeFrame, listBytes } from './frame.ts';
import type { Listener } from './late-frames.ts';
import type { PlainReader } from './message.ts';
import type { PlainGroups, PlainTopic } from './plain-group.ts';
import type { Outbox } from './plain-outbox.ts';

/** The number of unread bytes up to which a client that is behind gets more of its missed values. */
const catchUpBytes = 256 * 1024;
/** The number of items in a list between two checks of the clock. */
const lookEvery = 8;
/** The approximate memory usage of a list that waits for a slice, as a multiple of the length of its message. */
const listFactor = 8;

/** The objects that all plain clients of a connection share. */
export interface PlainContext
  extends Pick<ProtocolContext, 'hub' | 'log' | 'hits' | 'writes' | 'rates' | 'queue' | 'resume'> {
  readonly rounds: Rounds;
  /** Counts the changes that clients missed while they were behind. */
  readonly lost: FanOut['lost'];
  readonly reader: PlainReader;
  readonly outbox: Outbox;
  readonly groups: PlainGroups;
  /** The clients whose socket is open. */
  readonly clients: Set<PlainClient>;
}

/**
 * What the handshake determines about a client. `seen` is the revision after which the client catches up: 0 for a snapshot, undefined for a
 * client that begins live.
 */
interface Accepted extends HandshakeRequest {
  readonly patterns: readonly string[];
  readonly topic: PlainTopic;
  readonly seen: number | undefined;
}

export class PlainClient implements Session, Task, Listener {
  readonly #context: PlainContext;
  readonly #filters: readonly string[];
  readonly #topic: PlainTopic;
  readonly #origin: Origin;
  readonly #view: View;
  readonly remoteAddress: string;
  readonly share: string;
  readonly line = this;
  readonly id = newWriterId();
  liveFrom = 0;
  #socket!: Socket;
  /** The revision up to which the client has everything; undefined while the client is live. */
  #seen: number | undefined;
  /** The rest of the parameters that have changed since `#seen`; undefined if catching up has not begun. */
  #walk: Iterator<Parameter> | undefined = undefined;
  /** The times at which the client fell behind, and last read while behind, in milliseconds on the monotonic clock. */
  #behindSinceMs = performance.now();
  #readAtMs = 0;
  /** The number of firings that had been sent to the group when the client fell behind; undefined if the client is not behind. */
  #firesBefore: number | undefined = undefined;
  readonly #sent: ClientTally;
  #received = 0;
  /** The last list that the client sent, and the number of its items that have been written; undefined if all items have been written. */
  #list: readonly unknown[] | undefined = undefined;
  #written = 0;
  /** The memory usage of the list while it is waiting, in bytes, and the account for this memory. */
  #listBytes = 0;
  #held: Account | undefined = undefined;
  /** The error with which every item in the list is refused; undefined if the items may be written. */
  #refusal: LimitError | undefined = undefined;

  constructor(context: PlainContext, { patterns, topic, principal, origin, remoteAddress, seen }: Accepted) {
    this.#context = context;
    this.#filters = patterns;
    this.remoteAddress = remoteAddress;
    this.share = shareOf(principal, remoteAddress);
    this.#topic = topic;
    this.#origin = origin;
    this.#view = principal.view;
    this.#seen = seen;
    this.#sent = new ClientTally(topic.sent);
  }

  prepare(endMs: number): boolean {
    return this.#context.groups.prepare(this.#topic, endMs);
  }

  open(socket: Socket): void {
    this.#socket = socket;
    this.#context.clients.add(this);
    if (this.#seen === undefined) this.#goLive();
    else this.#context.queue.do(this);
  }

  /** Whether the client's last list has not been written completely, in which case the client's next messages wait. */
  get isBusy(): boolean {
    return this.#list !== undefined;
  }

  /**
   * Handles a message such as `{"p":"desk/lamp","v":true}`, or a list of such messages. Errors are sent to the client, and the socket stays
   * open.
   */
  receive(message: ArrayBuffer, isBinary: boolean): void {
    this.#received++;
    if (this.#topic.group.list === undefined || !this.#receiveList(message, isBinary)) this.#write(message, isBinary);
  }

  /** Handles a list, whose items are written in the client's slices; returns whether the message is a list. */
  #receiveList(message: ArrayBuffer, isBinary: boolean): boolean {
    if (isBinary) return false;
    const { reader, queue, rates, hits } = this.#context;
    try {
      this.#list = reader.readList(message);
    } catch (error) {
      this.#refuse(error, undefined);
      return true;
    }
    if (this.#list === undefined) return false;
    this.#written = 0;
    this.#refusal = rates.writes?.(this, this.#list.length);
    hits.addError(this.#refusal, this.remoteAddress);
    this.#listBytes = message.byteLength * listFactor;
    const advance = (endMs: number) => this.#writeList(endMs);
    queue.do({ share: this.share, line: this, advance }, () => this.#holdList());
    return true;
  }

  /**
   * Charges the memory of a waiting list to the client's share. If the hub holds too much in total, the clients that hold the most are
   * closed.
   */
  #holdList(): void {
    const letGo = () => {
      this.#dropList();
      this.#context.hits.add('heldBytes', this.remoteAddress);
      this.end(closeCodes.flooding, 'you send faster than the hub can process your messages');
    };
    this.#held ??= held.open({ kind: 'messages', owner: this.share, letGo });
    this.#held.set(this.#listBytes);
  }

  #dropList(): void {
    this.#list = undefined;
    this.#held?.set(0);
  }

  /** Writes items in the list until `endMs`; returns whether there are more items. The client may disconnect in the meantime. */
  #writeList(endMs: number): boolean {
    const { queue, clients, resume } = this.#context;
    const work = () => {
      while (this.#list !== undefined && this.#written < this.#list.length) {
        this.#write(this.#list[this.#written++], false);
        if (this.#written % lookEvery === 0 && !queue.hasTime(endMs)) break;
      }
    };
    if (clients.has(this)) this.#socket.cork(work);
    else work();
    if (this.#list !== undefined && this.#written < this.#list.length) {
      if (this.#held === undefined || this.#held.bytes === 0) this.#holdList();
      return this.#list !== undefined;
    }
    this.#dropList();
    resume(this);
    return false;
  }

  /** Makes the write that a message, or an item in a list, requests. Errors are sent to the client. */
  #write(message: unknown, isBinary: boolean): void {
    const { hub, writes, rates, reader } = this.#context;
    const view = this.#view;
    let address: string | undefined;
    try {
      if (isBinary) throw new HubError('bad-request', 'expected a text frame with {"p":…,"v":…}, got a binary frame');
      const isAlone = message instanceof ArrayBuffer;
      address = isAlone ? reader.read(message) : reader.readItem(message);
      const refusal = isAlone ? rates.writes?.(this, 1) : this.#refusal;
      if (refusal !== undefined) throw refusal;
      const parameter = view.findToWrite(address);
      const value = reader.value(parameter !== undefined && takesNumbers(parameter));
      if (parameter?.remote !== undefined) {
        void this.#writeRemote(parameter, value);
        return;
      }
      if (parameter === undefined) view.write(address, value, this.#origin);
      else hub.writeTo(parameter, value, this.#origin);
      writes.taken++;
    } catch (error) {
      this.#refuse(error, address);
    }
  }

  #refuse(error: unknown, address: string | undefined): void {
    const { hits, writes, clients } = this.#context;
    if (error !== this.#refusal) hits.addError(error, this.remoteAddress); // a refused list counts once
    writes.refuse(error);
    if (clients.has(this)) this.#answerMistake(error, address);
  }

  /** Writes a parameter of another hub; sends an error to the client if that hub refuses the write. */
  async #writeRemote(parameter: Parameter, input: unknown): Promise<void> {
    const { hub, writes, clients } = this.#context;
    const [result] = await hub.writeRemote(parameter.remote!, [{ parameter, input }], this.#origin);
    if (!(result instanceof Error)) {
      writes.taken++;
      return;
    }
    writes.refuse(result);
    if (clients.has(this)) this.#answerMistake(result, parameter.address);
  }

  #answerMistake(error: unknown, address: string | undefined): void {
    const { log } = this.#context;
    this.#send(JSON.stringify({ error: asHubError(error, log).message, p: address } satisfies PlainRefusal));
  }

  dropped(): void {
    if (this.#seen !== undefined) return;
    this.#context.hits.add('unreadBytes', this.remoteAddress);
    this.#fallBehind(); // the client leaves the topic later, because uWebSockets.js is still sending to the topic
  }

  sendLate(frame: Uint8Array): void {
    this.#sent.own.add(frame.length);
    this.#socket.send(frame, false, false);
  }

  missLate(): void {
    this.#fallBehind();
    this.leaveTopic();
  }

  #fallBehind(): void {
    const { rounds, hub, outbox, clients, queue } = this.#context;
    const { group } = this.#topic;
    const late = outbox.late.firstOf(group);
    this.#sent.fallBehind();
    this.#firesBefore = late?.fires ?? group.fires;
    this.#behindSinceMs = performance.now();
    this.#seen = rounds.leftUpTo(late === undefined ? hub.revision : late.revision - 1);
    group.listeners.delete(this);
    outbox.leaving.add(this);
    setImmediate(() => {
      this.leaveTopic();
      if (clients.has(this)) queue.add(this);
    });
  }

  /** Unsubscribes the socket from its topic, if that is still due. */
  leaveTopic(): void {
    if (this.#context.outbox.leaving.delete(this)) this.#socket.unsubscribe(this.#topic.text); // only once: the client may be live again
  }

  get unreadBytes(): number {
    return this.#socket.getBufferedAmount();
  }

  drained(): void {
    this.#readAtMs = performance.now();
    if (this.#socket.getBufferedAmount() < catchUpBytes / 2) this.#context.queue.do(this);
  }

  /** Sends more of the values that the client has missed; returns whether more can be sent immediately. */
  advance(endMs: number): boolean {
    const { clients, outbox } = this.#context;
    if (!clients.has(this)) return false; // the socket may be gone
    if (this.#seen === undefined || this.#socket.isSubscribed(this.#topic.text)) return false;
    outbox.flush(); // frames published after this catch-up must be newer than its frames
    let hasMore = false;
    this.#socket.cork(() => {
      hasMore = this.#catchUp(endMs);
    });
    return hasMore;
  }

  close(): void {
    this.#countLostFires();
    this.#context.queue.remove(this);
    this.#context.clients.delete(this);
    this.#context.outbox.leaving.delete(this);
    this.#topic.group.listeners.delete(this);
    this.#context.groups.leave(this.#topic);
  }

  status(nowMs: number): SessionStatus {
    const { frames, bytes } = this.#sent.total();
    const lagMs = this.#seen === undefined ? 0 : nowMs - this.#behindSinceMs;
    const isStalled = Math.min(lagMs, nowMs - this.#readAtMs) >= stalledAfterMs;
    return {
      state: this.#seen === undefined ? 'live' : isStalled ? 'stalled' : 'catching up',
      unreadBytes: this.#socket.getBufferedAmount(),
      lagMs,
      sentBytes: bytes,
      sentFrames: frames,
      receivedMessages: this.#received,
    };
  }

  interests(): Interests {
    return { filters: this.#filters.slice(0, shownPatterns) };
  }

  ping(): void {
    if (this.unreadBytes === 0) this.#socket.ping(heartbeatPayload);
  }

  ponged(): void {}

  end(code: CloseCode, reason: string): void {
    if (!this.#context.clients.has(this)) return; // the socket is gone
    this.#dropList();
    this.#topic.group.listeners.delete(this);
    closeSocket(this.#socket, code, reason);
  }

  #send(frame: string): void {
    this.#sent.own.add(Buffer.byteLength(frame));
    this.#socket.send(frame, false, false);
  }

  /**
   * Counts the firings that the client missed while it was behind. Firings in the round in which it fell behind do not count, because the
   * client may have received some of them.
   */
  #countLostFires(): void {
    if (this.#firesBefore !== undefined) this.#context.lost.fires += this.#topic.group.fires - this.#firesBefore;
    this.#firesBefore = undefined;
  }

  #goLive(): void {
    this.#countLostFires();
    this.#seen = undefined;
    this.#sent.goLive();
    const { group } = this.#topic;
    this.liveFrom = group.lastLiveFrom = this.#context.outbox.late.next;
    group.listeners.add(this);
    this.#socket.subscribe(this.#topic.text);
  }

  /**
   * Sends the values that the client has missed, until `endMs` and while the socket has space; returns whether more can be sent
   * immediately.
   */
  #catchUp(endMs: number): boolean {
    const socket = this.#socket;
    const { group } = this.#topic;
    let frames = '';
    let bytes = 0;
    const sendList = () => {
      if (frames !== '') this.#send(`[${frames}]`);
      frames = '';
      bytes = 0;
    };
    this.#walk ??= this.#context.hub.changedSince(this.#seen!)[Symbol.iterator]();
    do {
      if (bytes === 0 && socket.getBufferedAmount() > catchUpBytes) return false;
      const { done, value: parameter } = this.#walk.next();
      if (done) {
        sendList();
        this.#walk = undefined;
        this.#goLive();
        return false;
      }
      const { address, value, lastChange } = parameter;
      if (value !== undefined && group.matches(parameter)) {
        const frame = encodeFrame(address, value);
        if (group.list === undefined) this.#send(frame);
        else {
          const frameBytes = Buffer.byteLength(frame) + 1;
          if (bytes + frameBytes >= listBytes) sendList();
          frames = frames === '' ? frame : `${frames},${frame}`;
          bytes += frameBytes;
        }
      }
      this.#seen = lastChange!.revision;
    } while (performance.now() < endMs);
    sendList();
    return true;
  }
}

/**
 * Returns whether a write to a parameter has the same result for a number as for a string that contains the number. Returns false for
 * parameters of other hubs, for which the answer is unknown.
 */
function takesNumbers({ type, accept, remote }: Parameter): boolean {
  return (type === 'F' || type === 'I') && accept === undefined && remote === undefined;
}

/**
 * Counts the frames that a plain client has received: frames for this client only, and frames on the client's topic while the client was
 * live.
 */
class ClientTally {
  /** The frames sent to this client only. */
  readonly own = new Tally();
  /** Counts the frames published on the client's topic since the topic was created. */
  readonly #topic: Tally;
  /** The number of frames that the client has received on its topic, up to when it was last live. */
  #before: Sent = { frames: 0, bytes: 0 };
  /** The topic's count when the client became live, minus `#before`; undefined if the client is not live. */
  #liveFrom: Sent | undefined = undefined;

  constructor(topic: Tally) {
    this.#topic = topic;
  }

  /** Begins to count the frames published on the topic. */
  goLive(): void {
    this.#liveFrom = this.#topic.since(this.#before);
  }

  /** Stops counting the frames published on the topic. */
  fallBehind(): void {
    this.#before = this.#onTopic();
    this.#liveFrom = undefined;
  }

  total(): Sent {
    const { frames, bytes } = this.#onTopic();
    return { frames: this.own.frames + frames, bytes: this.own.bytes + bytes };
  }

  #onTopic(): Sent {
    return this.#liveFrom === undefined ? this.#before : this.#topic.since(this.#liveFrom);
  }
}
