// Sends writes to the hub that owns the parameters. A request that may have been lost is repeated with the same number, so that the owner
// executes it only once. Writes are never queued for later: a write that is not answered in time is refused.

import { randomUUID } from 'node:crypto';
import type { SchedulerLike } from 'rxjs';
import { describe, HubError } from '../../../model/error.ts';
import type { Parameter, Remote, RemoteCause, RemoteWrite } from '../../../model/parameter.ts';
import { Pause } from '../../../model/time/wall-clock.ts';
import { isValueOf, type Value } from '../../../model/value.ts';
import { type HubName, subjectOfWrites } from '../link/subjects.ts';
import type { Transport } from '../link/transport.ts';
import { encodeLinks, encodeOrigin, printable } from '../wire/causes.ts';
import {
  encodeInput,
  type HubReport,
  isTooLong,
  maxItems,
  maxMessageBytes,
  read,
  type WireResult,
  writeAnswer,
  writeTimeoutMs,
} from '../wire/domain-messages.ts';

/** The pause before a request is repeated, in milliseconds. */
const attemptMs = 650;
/** The minimum pause after an attempt that fails early, in milliseconds. */
const leastAttemptMs = 100;
/** The maximum number of requests that are waiting for an answer at the same time. */
const maxWaiting = 10_000;
/** The maximum total length of the requests that are waiting for an answer, in characters. */
const maxWaitingLength = 32 * 1024 * 1024;

/** The hub that a write request is sent to. */
export interface TargetHub extends Pick<Remote, 'hub'> {
  /** Whether the hub has recently sent a message. The hub may receive writes before all of its parameters have been mirrored. */
  readonly isThere: boolean;
  /** The network of the current session; undefined if there is no session. */
  readonly transport: Transport | undefined;
  readonly clock: Pick<OwnerClock, 'epoch' | 'now'>;
}

export class RemoteWrites {
  readonly #name: HubName;
  readonly #scheduler: SchedulerLike;
  readonly #run = randomUUID();
  #number = 0;
  #waiting = 0;
  #waitingLength = 0;

  /** `name` is the name of this hub. */
  constructor(name: HubName, scheduler: SchedulerLike) {
    this.#name = name;
    this.#scheduler = scheduler;
  }

  /** Sends writes to the owner and resolves to the result of each write. Never rejects. */
  send(remote: TargetHub, writes: readonly RemoteWrite[], by: RemoteCause): Promise<readonly (Value | Error)[]> {
    const parameters = writes.map(({ parameter }) => parameter);
    const refuse = (why: string) => Promise.resolve(refusals(parameters, why));
    if (remote.transport === undefined || !remote.isThere) return refuse(`hub "${remote.hub}" is not reachable`);
    const isFull = this.#waiting >= maxWaiting || this.#waitingLength >= maxWaitingLength;
    if (isFull || writes.length > maxItems) return refuse(`too many writes to hub "${remote.hub}" at a time`);
    const request = this.#encode(remote.clock, writes, by);
    if (request === undefined || isTooLong(request))
      return refuse(`expected at most ${maxMessageBytes} bytes of values for hub "${remote.hub}" at a time`);
    return this.#sendRequest(remote, parameters, request);
  }

  /**
   * Sends a request. While it is waiting for an answer, only the request and its parameters are kept in memory, but not the causes of the
   * writes.
   */
  async #sendRequest(
    remote: TargetHub,
    parameters: readonly Parameter[],
    request: string,
  ): Promise<readonly (Value | Error)[]> {
    this.#waiting++;
    this.#waitingLength += request.length;
    try {
      const answer = await this.#ask(remote, request);
      if (answer.results.length !== parameters.length) throw new Error('the answer belongs to another request');
      return answer.results.map((result, index) => resultOf(result, parameters[index]!));
    } catch {
      return refusals(parameters, `not confirmed by hub "${remote.hub}"; the write may have taken effect`);
    } finally {
      this.#waiting--;
      this.#waitingLength -= request.length;
    }
  }

  /** Encodes a request. Returns undefined if the request would exceed the maximum length of a string. */
  #encode(
    clock: TargetHub['clock'],
    writes: readonly RemoteWrite[],
    { origin, cause, hop }: RemoteCause,
  ): string | undefined {
    const request = {
      run: this.#run,
      number: this.#number++,
      epoch: clock.epoch,
      asked: clock.now(),
      by: encodeOrigin(origin),
      hop,
      why: encodeLinks(cause),
      items: writes.map(({ parameter, input }) => encodeInput(parameter.address, input)),
    };
    try {
      return JSON.stringify(request);
    } catch {
      return undefined;
    }
  }

  /**
   * Sends a request to the owner repeatedly until an attempt has been answered. Rejects if no attempt is answered within `writeTimeoutMs`.
   * An attempt that fails immediately because nobody is listening is also repeated, because the owner may soon be back.
   */
  async #ask(remote: TargetHub, request: string) {
    const subject = subjectOfWrites({ ...this.#name, hub: remote.hub }, this.#name.hub);
    const scheduler = this.#scheduler;
    const endMs = scheduler.now() + writeTimeoutMs;
    for (;;) {
      const nowMs = scheduler.now();
      const { transport } = remote;
      try {
        if (transport === undefined) throw new Error('not connected to a server');
        return read(writeAnswer, await transport.request(subject, request, Math.min(endMs - nowMs, attemptMs)));
      } catch (error) {
        const nextMs = Math.max(scheduler.now(), nowMs + leastAttemptMs);
        if (nextMs >= endMs) throw error;
        await new Pause(scheduler).for(nextMs - scheduler.now());
      }
    }
  }
}

/** Returns the result of a write as reported by the owner. Returns an error if the parameter cannot have the reported value. */
function resultOf(result: WireResult, { address, type, remote }: Parameter): Value | Error {
  if (!('v' in result)) return new HubError(result.code, printable(result.message));
  if (isValueOf(type, result.v)) return result.v;
  return unavailable(
    `${address}: expected hub "${remote?.hub}" to answer with a value of type ${type}, got ${describe(result.v)}`,
  );
}

function refusals(parameters: readonly Parameter[], why: string): HubError[] {
  return parameters.map(({ address }) => unavailable(`${address}: ${why}`));
}

function unavailable(message: string): HubError {
  return new HubError('unavailable', message);
}

// An estimate of an owner's clock, whose time is part of every report. With this estimate, the owner can determine how long ago a request
// was first sent, even though the clocks of the two hubs differ.

/** The maximum plausible delay of a report, in milliseconds. */
const implausibleMs = 10_000;

export class OwnerClock {
  readonly #scheduler: SchedulerLike;
  #epoch = '';
  #shownMs = 0;
  /** The time at which the last report was received, in milliseconds on this hub's clock. */
  #receivedAtMs = 0;

  constructor(scheduler: SchedulerLike) {
    this.#scheduler = scheduler;
  }

  /** The owner's epoch, as stated in the last report. */
  get epoch(): string {
    return this.#epoch;
  }

  /** Returns the estimated time in whole milliseconds. The estimate is too low by the time that the report took to arrive. */
  now(): number {
    return Math.floor(this.#shownMs + this.#scheduler.now() - this.#receivedAtMs);
  }

  /**
   * Records the time in a report. Repeated or delayed reports are ignored. A time that is far from the expected time is accepted, so that a
   * wrong estimate does not persist.
   */
  note({ epoch, clock }: Pick<HubReport, 'epoch' | 'clock'>): void {
    const isExpected = epoch === this.#epoch && Math.abs(clock - this.now()) < implausibleMs;
    if (isExpected && clock <= this.#shownMs) return;
    this.#epoch = epoch;
    this.#shownMs = clock;
    this.#receivedAtMs = this.#scheduler.now();
  }
}
