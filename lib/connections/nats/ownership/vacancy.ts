// Acts as the owner of parameters while this hub may not run their connections: the values remain, and writes are refused. Used for all
// connections of a pair's standby, and for connections that another hub owns.

import { asapScheduler, type Observable, type Subject, Subscription } from 'rxjs';
import { auditTime, filter } from 'rxjs/operators';
import { connectionIdOf } from '../../../model/address.ts';
import { HubError } from '../../../model/error.ts';
import type { Parameter, Remote } from '../../../model/parameter.ts';
import { wallClock } from '../../../model/time/wall-clock.ts';
import type { HubPort } from '../../hub-port.ts';
import type { Claims, Refusals, Wanted } from './connection-claims.ts';

interface VacancyOptions {
  readonly port: Pick<HubPort, 'parameters' | 'mirroring'>;
  /** The name of the hub that owns or would own the parameters. */
  readonly hub: string;
  /** The reason for refusing writes to the parameters. */
  readonly reason: string;
  /** Returns whether this object acts as the owner of a connection's parameters. */
  readonly isFor: (connectionId: string) => boolean;
}

export class Vacancy implements Remote {
  readonly hub: string;
  readonly reason: string;
  #staleSince: (() => number) | undefined;
  readonly #options: VacancyOptions;

  constructor(options: VacancyOptions) {
    this.hub = options.hub;
    this.reason = options.reason;
    this.#options = options;
  }

  get staleSince(): number | undefined {
    return this.#staleSince?.();
  }

  async write(writes: readonly { readonly parameter: Parameter }[]): Promise<readonly HubError[]> {
    return writes.map(({ parameter }) => new HubError('unavailable', `${parameter.address}: ${this.reason}`));
  }

  /** Takes over the parameters that no other hub owns. */
  begin(timeMs: number): void {
    const { port, isFor } = this.#options;
    const added: Parameter[] = [];
    let hasNone = true;
    for (const parameter of port.parameters()) {
      if (parameter.remote === this) hasNone = false;
      else if (parameter.remote === undefined && isFor(connectionIdOf(parameter.address))) added.push(parameter);
    }
    if (hasNone) this.#staleSince = wallClock.pin(timeMs);
    for (const parameter of added) port.mirroring.entrust(parameter, this);
    port.mirroring.notify();
  }

  /** Gives the parameters back to the hub. */
  end(): void {
    const { port } = this.#options;
    for (const parameter of port.parameters())
      if (parameter.remote === this) port.mirroring.entrust(parameter, undefined);
    this.#staleSince = undefined; // until now, this vacancy has marked the parameters as stale
    port.mirroring.notify();
  }
}

interface RefusalOptions {
  readonly hub: HubPort;
  readonly claims: Claims;
  readonly wanted: Pick<Wanted, 'isShared'>;
  /** Emits when the set of connections that this hub owns has changed. Call `next` to report a change. */
  readonly changed$: Subject<void>;
  timeOfDay(): number;
}

export interface Refused {
  /** All work ends when this subscription ends. */
  readonly running: Subscription;
  /** Holds back the connections that other hubs report while the claims are not known yet. Must be called before any connection starts. */
  holdBack(): void;
}

/** Holds back the connections that are refused because of the claims. */
export function refuseConnections({ hub, claims, wanted, changed$, timeOfDay }: RefusalOptions): Refused {
  const refused = new RefusedConnections(hub, timeOfDay);
  const running = new Subscription();
  const follow = <T>(stream$: Observable<T>, next: (one: T) => void) =>
    running.add(stream$.subscribe({ next, error: () => {} })); // these Observables never fail
  /**
   * Returns the refusal of a connection. A connection that a reload has added is checked before the hub claims it, so that the hub never
   * starts a connection that another hub owns.
   */
  const refusalOf = (id: string) => {
    const refusal = claims.refusalOf(id);
    return refusal !== undefined && wanted.isShared(id) ? refusal : undefined;
  };
  const isOfAnother = (parameter: Parameter) =>
    parameter.remote === undefined && claims.refusalOf(connectionIdOf(parameter.address)) !== undefined;
  follow(claims.refusals$, (refusals) => {
    if (refusals === undefined) return;
    hub.leadership.holdBack({ get: (id) => refusalOf(id)?.reason });
    changed$.next();
  });
  follow(changed$, () => refused.follow(claims.refusals ?? new Map()));
  const added$ = hub.declared$.pipe(filter(isOfAnother), auditTime(0, asapScheduler)); // by then, the hub has declared all parameters
  follow(added$, () => refused.follow(claims.expectedRefusals()));
  running.add(() => refused.follow(new Map()));
  const holdBack = () => {
    const refusals = claims.reportedRefusals();
    hub.leadership.holdBack({ get: (id) => refusals.get(id)?.reason });
    refused.follow(refusals);
  };
  return { running, holdBack };
}

/** The connections of this hub that another hub owns. They do not run, and writes to their parameters are refused. */
class RefusedConnections {
  readonly #port: Pick<HubPort, 'parameters' | 'mirroring'>;
  readonly #timeOfDay: () => number;
  /** The vacancies for connections that another hub owns, keyed by Connection ID. */
  readonly #vacancies = new Map<string, Vacancy>();

  constructor(port: Pick<HubPort, 'parameters' | 'mirroring'>, timeOfDay: () => number) {
    this.#port = port;
    this.#timeOfDay = timeOfDay;
  }

  /** Stops exactly the refused connections. Must be called again when parameters have been added. */
  follow(refusals: Refusals): void {
    for (const [id, vacancy] of this.#vacancies) {
      const { reason, holder } = refusals.get(id) ?? {};
      if (reason === vacancy.reason && holder === vacancy.hub) continue;
      vacancy.end();
      this.#vacancies.delete(id);
    }
    for (const [id, { holder, reason }] of refusals) {
      const isFor = (connectionId: string) => connectionId === id;
      const vacancy = this.#vacancies.get(id) ?? new Vacancy({ port: this.#port, hub: holder, reason, isFor });
      this.#vacancies.set(id, vacancy);
      vacancy.begin(this.#timeOfDay());
    }
  }
}
