// A hub with a lease in a simulated time: it can be stopped, ended and cut off, and its messages are late or lost.

import type { SchedulerLike } from 'rxjs';
import { JointLease } from '../../../../lib/connections/nats/lease/joint-lease.ts';
import type { LeaseRecord } from '../../../../lib/connections/nats/lease/lease-record.ts';
import type { Life, Rivals } from '../../../../lib/connections/nats/lease/parties.ts';
import type { Register } from '../../../../lib/connections/nats/lease/register.ts';
import type { Time } from './time.ts';

/** A register that servers keep, which answer late or not at all. */
export class Servers {
  sequence = 0;
  value: LeaseRecord | undefined;
  areThere = true;
}

/** A hub whose process can be stopped: nothing of it runs meanwhile, and its clock goes on. It can be ended, and starts again as another one. */
export class SimulatedHub {
  readonly #time: Time;
  isStopped = false;
  readonly cut = new Set<Servers>();
  readonly mute = new Set<Servers>();
  readonly unheard = new Set<Servers>();
  /** Who hears what this one asks to be written. */
  peers: readonly SimulatedHub[] = [];
  #waiting: (() => void)[] = [];
  readonly clock: SchedulerLike;
  lease: JointLease;
  #id = '';
  #delays: () => number;
  readonly #create: () => JointLease;
  #hasEnded = false;

  /** `known`: what it knows of others, where it is not that of a hub of a pair. */
  constructor(time: Time, parts: readonly Servers[], index: number, delays: () => number, known: Partial<Rivals> = {}) {
    this.#time = time;
    this.#delays = delays;
    this.clock = {
      now: () => time.now(),
      schedule: (work, delayMs = 0) =>
        time.schedule(function () {
          wake(() => (work as () => void).call(this));
        }, delayMs),
    };
    const wake = (work: () => void) => this.#awake(work);
    const rivals = { lifeOf: (id: string) => this.#lifeOf(id), isExclusive: true, ...known };
    const registers = parts.map((servers, part) => this.#register(servers, part));
    let runs = 0;
    this.#create = () => {
      this.#id = `${index}.${runs++}`;
      return new JointLease(registers, { id: this.#id, name: `hub ${index}` }, this.clock, rivals);
    };
    this.lease = this.#create();
  }

  start(look: () => void = () => {}): void {
    this.lease.state$.subscribe({ next: look });
    this.lease.start();
  }

  /** As an operator does it: it gives away what it has, and some time later it is another run of the program. */
  end(): void {
    if (this.isStopped || this.#hasEnded) return;
    this.#hasEnded = true;
    void this.lease.release();
  }

  startAgain(look: () => void): void {
    if (!this.#hasEnded) return;
    this.#hasEnded = false;
    this.lease = this.#create();
    this.start(look);
  }

  goOn(): void {
    this.isStopped = false;
    for (const work of this.#waiting.splice(0)) work();
  }

  #awake(work: () => void): void {
    if (this.isStopped) this.#waiting.push(work);
    else work();
  }

  /** Others hear of it, whether or not it is written: later than it was asked for, and not all of it. */
  #notify(servers: Servers, part: number, value: LeaseRecord): void {
    if (this.cut.has(servers) || this.unheard.has(servers)) return;
    for (const peer of this.peers)
      this.#time.schedule(() => {
        if (!peer.cut.has(servers)) peer.#awake(() => peer.lease.noteRequest(value, part));
      }, this.#delays());
  }

  /** Whether a peer is there, as far as this one can find out; some that are not there are said to be. */
  #lifeOf(id: string): Promise<Life> {
    const { promise, resolve } = Promise.withResolvers<Life>();
    const delay = this.#delays();
    const isLost = delay > 150;
    const isThere = delay % 20 === 19 || this.peers.some((peer) => peer.#id === id && peer.#canAnswer(this));
    this.clock.schedule(() => resolve(isThere && !isLost ? 'there' : 'silent'), isLost ? 500 : delay);
    return promise;
  }

  #canAnswer(peer: SimulatedHub): boolean {
    return !this.isStopped && !this.#hasEnded && this.cut.size === 0 && peer.cut.size === 0;
  }

  #register(servers: Servers, part: number): Register<LeaseRecord> {
    return {
      read: () => this.#ask(servers, () => ({ sequence: servers.sequence, value: servers.value })),
      replace: (value, sequence) => {
        this.#notify(servers, part, value);
        return this.#ask(servers, () => {
          if (sequence !== servers.sequence) return undefined;
          servers.value = value;
          return ++servers.sequence;
        });
      },
    };
  }

  /** The servers do it some time later, and the answer needs some time more; both ways may be cut. */
  #ask<T>(servers: Servers, work: () => T): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.clock.schedule(() => reject(new Error('timeout')), 1000);
    const isLost = this.cut.has(servers);
    this.#time.schedule(() => {
      if (isLost || !servers.areThere) return;
      const answer = work();
      if (this.mute.has(servers)) return;
      this.#time.schedule(() => this.#awake(() => resolve(answer)), this.#delays());
    }, this.#delays());
    return promise;
  }
}
