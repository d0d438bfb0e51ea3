// What stands in for the owner of parameters of this hub while it may not run their connections: the values stay, and nobody takes a write.
// So it is for a hub of a pair that stands by, and for connections that another hub has.

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
  /** Who has them, or would have. */
  readonly hub: string;
  /** Why nobody takes a write. */
  readonly reason: string;
  /** Whose parameters it stands in for. */
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

  /** Takes over the parameters that no other hub has. */
  begin(timeMs: number): void {
    const { port, isFor } = this.#options;
    const coming: Parameter[] = [];
    let hasNone = true;
    for (const parameter of port.parameters()) {
      if (parameter.remote === this) hasNone = false;
      else if (parameter.remote === undefined && isFor(connectionIdOf(parameter.address))) coming.push(parameter);
    }
    if (hasNone) this.#staleSince = wallClock.pin(timeMs);
    for (const parameter of coming) port.mirroring.entrust(parameter, this);
    port.mirroring.notify();
  }

  /** Gives them back. */
  end(): void {
    const { port } = this.#options;
    for (const parameter of port.parameters())
      if (parameter.remote === this) port.mirroring.entrust(parameter, undefined);
    this.#staleSince = undefined; // until here it is what tells that they were stale
    port.mirroring.notify();
  }
}

interface Refusing {
  readonly hub: HubPort;
  readonly claims: Claims;
  readonly wanted: Pick<Wanted, 'isShared'>;
  /** Emits when this hub holds something else; is told when others do. */
  readonly changed$: Subject<void>;
  timeOfDay(): number;
}

export interface Refused {
  /** Ends all of it. */
  readonly running: Subscription;
  /** Holds back what other hubs are heard to have, as nobody has said yet who has what; to be called before anything begins. */
  holdBack(): void;
}

/** Holds back what the claims refuse. */
export function refuseConnections({ hub, claims, wanted, changed$, timeOfDay }: Refusing): Refused {
  const refused = new RefusedConnections(hub, timeOfDay);
  const running = new Subscription();
  const follow = <T>(stream$: Observable<T>, next: (one: T) => void) =>
    running.add(stream$.subscribe({ next, error: () => {} })); // none of them ever fails
  /** One that a reload adds is asked for before it is claimed: what another hub has it never starts. */
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
  const come$ = hub.declared$.pipe(filter(isOfAnother), auditTime(0, asapScheduler)); // the hub has all of them by then
  follow(come$, () => refused.follow(claims.expectedRefusals()));
  running.add(() => refused.follow(new Map()));
  const holdBack = () => {
    const refusals = claims.heardRefusals();
    hub.leadership.holdBack({ get: (id) => refusals.get(id)?.reason });
    refused.follow(refusals);
  };
  return { running, holdBack };
}

/** The connections of this hub that another hub has. They do not run, and what they would own nobody writes here. */
class RefusedConnections {
  readonly #port: Pick<HubPort, 'parameters' | 'mirroring'>;
  readonly #timeOfDay: () => number;
  /** By Connection ID. */
  readonly #vacancies = new Map<string, Vacancy>();

  constructor(port: Pick<HubPort, 'parameters' | 'mirroring'>, timeOfDay: () => number) {
    this.#port = port;
    this.#timeOfDay = timeOfDay;
  }

  /** Has those stand still that are refused, and no others; also to be called when parameters have come. */
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
