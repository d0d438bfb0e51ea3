// The connections of this hub that another hub has. They do not run, and what they would own nobody writes here.

import { asapScheduler, type Observable, type Subject, Subscription } from 'rxjs';
import { auditTime, filter } from 'rxjs/operators';
import { connectionIdOf } from '../../../model/address.ts';
import type { Parameter } from '../../../model/parameter.ts';
import type { HubPort } from '../../hub-port.ts';
import type { Claims, Refusals } from './claims.ts';
import { Vacancy } from './vacancy.ts';
import type { Wanted } from './wanted.ts';

export interface Refusing {
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
    hub.duty.holdBack({ get: (id) => refusalOf(id)?.reason });
    changed$.next();
  });
  follow(changed$, () => refused.follow(claims.refusals ?? new Map()));
  const come$ = hub.declared$.pipe(filter(isOfAnother), auditTime(0, asapScheduler)); // the hub has all of them by then
  follow(come$, () => refused.follow(claims.expectedRefusals()));
  running.add(() => refused.follow(new Map()));
  const holdBack = () => {
    const refusals = claims.heardRefusals();
    hub.duty.holdBack({ get: (id) => refusals.get(id)?.reason });
    refused.follow(refusals);
  };
  return { running, holdBack };
}

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
