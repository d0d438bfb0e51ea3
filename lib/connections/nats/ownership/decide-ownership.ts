// Decides what a hub owns in its domain. With the lease on its name, a hub is the active hub; with claims, it is the owner of connections.
// Connections and rules are started and stopped accordingly.

import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { NatsConnection } from '@nats-io/transport-node';
import { BehaviorSubject, type Observable, type SchedulerLike, Subject, Subscription } from 'rxjs';
import { within } from '../../../model/time/deadline.ts';
import { Pause } from '../../../model/time/wall-clock.ts';
import { JointLease, readJointly, readTerms } from '../lease/joint-lease.ts';
import { claimsPlace, leasePlace, type Place, pairParts, parseLease } from '../lease/lease-record.ts';
import { answerForLife, type Holder, lifeOf } from '../lease/parties.ts';
import { spreadLeaders } from '../lease/spread-leaders.ts';
import { Creations, StreamRegister } from '../lease/stream-register.ts';
import type { Link, LinkState, Session } from '../link/nats-link.ts';
import type { NatsSettings } from '../settings.ts';
import { expectShallow } from '../wire/shallow.ts';
import { Claims, createWanted, parseClaims } from './connection-claims.ts';
import { followAlone, hasMetRival } from './follow-alone.ts';
import { followPair } from './follow-pair.ts';
import { Namesake } from './namesake.ts';
import type { Ownership } from './ownership.ts';
import type { LeaseContext, OwnershipContext, Standing } from './standing.ts';
import { refuseConnections } from './vacancy.ts';

const partsOf = ({ pair }: NatsSettings) => (pair ? pairParts : [1]);

export interface DecidedOwnership extends Ownership {
  /**
   * The current problem: '' if there is no problem, undefined if it is not known yet whether there is a problem. Hot, replays last,
   * synchronous, never completes, never errors.
   */
  readonly problem$: Observable<string | undefined>;
  /** The lease on this hub's name, for observers. */
  readonly lease: Pick<JointLease, 'state' | 'state$' | 'ownName'>;
  /** The owner of each Connection ID in the domain, as far as this hub knows. */
  readonly owners: ReadonlyMap<string, string>;
  /** Ends the work of a hub in a pair and releases the lease. Resolves when other hubs may take the lease. Never rejects. */
  close(): Promise<void>;
}

export function decideOwnership(deciding: OwnershipContext): DecidedOwnership {
  const { context, hub, link } = deciding;
  const { settings, scheduler: clock } = context;
  const { pair: isPair } = settings;
  const mustHold = isPair && settings.isolated === 'stop';
  const connection = () => link.state.session?.connection;
  const isHolder = () => standing.isHolder && (!mustHold || lease.isHeld());
  const me = { id: randomUUID(), name: hostname() };
  const { lease, namesake, wanted, claims, standing, changed$, termsOf } = createParts(
    deciding,
    me,
    connection,
    isHolder,
  );
  const problem$ = new BehaviorSubject(isPair ? '' : undefined);
  const running = new Subscription();
  const confirmation = new Confirmation(lease, deciding.notifyAll, clock);
  const confirm = mustHold ? () => confirmation.confirm() : undefined;
  const refused = refuseConnections({ hub, claims, wanted, changed$, timeOfDay: context.timeOfDay });
  running.add(refused.running);
  const following: LeaseContext = { ...deciding, refused, namesake, lease, claims, standing, problem$, confirm };
  running.add(deciding.namesake$.subscribe({ next: (report) => namesake.note(report), error: () => {} }));
  running.add(isPair ? followPair(following) : followAlone(following));
  const streams = partsOf(settings).map((part) => leasePlace(settings, part).stream);
  running.add(spreadLeaders({ connection, streams, isCalm: () => lease.isHeldByAll, clock }));
  running.add(followSessions(link, settings, me.id, lease, claims));
  const knowsItsOwn = () => standing.hasName && claims.refusals !== undefined;
  return {
    get term() {
      return standing.term;
    },
    get isHolder() {
      return isHolder();
    },
    get reports() {
      return isHolder() && knowsItsOwn();
    },
    get answers() {
      return standing.answers && knowsItsOwn();
    },
    confirm,
    owns: (id) => knowsItsOwn() && claims.owners.get(id) === settings.hub,
    ownerOf: (id) => claims.owners.get(id),
    claimed$: claims.claimed$,
    termsOf,
    changed$,
    problem$,
    lease,
    get owners() {
      return claims.owners;
    },
    async close() {
      running.unsubscribe();
      wanted.stop();
      claims.stop();
      if (isPair) await hub.leadership.end('the nats connection was stopped');
      await lease.release();
    },
  };
}

/** Creates the parts that the decision is based on: the lease on this hub's name, the claims, and the resulting state. */
function createParts(
  { context, hub, link, isShared, reportedOwners, hasNoTerm }: OwnershipContext,
  me: Holder,
  connection: () => NatsConnection | undefined,
  isHolder: () => boolean,
) {
  const { settings, scheduler: clock, log } = context;
  const { domain, pair: isPair } = settings;
  const creations = new Creations();
  const placed = <T>(place: Place, what: string, parse: (data: unknown) => T) => {
    const warnOfInvalid = (reason: string) =>
      log.warn({}, `ignored the stored value of ${what}, which is invalid: ${reason}`, 'invalid stored value');
    return new StreamRegister({ connection, creations, ...place, parse, warnOfInvalid });
  };
  const registerOf = (name: string, part: number) =>
    placed(leasePlace({ domain, hub: name }, part), `the lease of hub "${name}"`, parseLease);
  const registersOf = (name: string) => pairParts.map((part) => registerOf(name, part));
  const registers = partsOf(settings).map((part) => registerOf(settings.hub, part));
  const lease = new JointLease(registers, me, clock, {
    async lifeOf(id) {
      const life = await lifeOf(link.state.session, settings, id);
      return life === 'gone' && hasMetRival(hub) ? 'silent' : life; // the other hub may return after a server outage, just like this hub
    },
    isExclusive: isPair,
    goesFirst: (answeredMs) =>
      !isPair && standing.term === 0 && !standing.hasName && namesake.waitsForLease(answeredMs),
  });
  const namesake = new Namesake(clock);
  const changed$ = new Subject<void>();
  const wanted = createWanted(hub, isShared, () => claims.hurry());
  const claims = new Claims({
    hub: settings.hub,
    register: placed(claimsPlace(domain), `the claims of domain "${domain}"`, parseClaims),
    leaseOf: (name) => readJointly(registersOf(name)),
    holdsLease: () => lease.isHeld(),
    clock,
    wanted: wanted.ids,
    mayClaim: () => isHolder() && standing.hasName,
    reportedOwners,
    hasNoTerm,
    isOpen: () => link.state.session?.isOpen !== false,
  });
  const standing: Standing = {
    isHolder: !isPair,
    hasName: false,
    answers: !isPair,
    term: 0,
    notify: () => changed$.next(),
  };
  const termsOf = (name: string) => readTerms(registersOf(name)).catch(() => undefined);
  return { lease, namesake, wanted, claims, standing, changed$, termsOf };
}

/**
 * Requests the lease and the claims in each session of the link, and listens for changes to them until the returned subscription is
 * unsubscribed.
 */
function followSessions(
  link: Link,
  settings: NatsSettings,
  id: string,
  lease: JointLease,
  claims: Claims,
): Subscription {
  const following = new Subscription();
  let session = Subscription.EMPTY;
  const enter = ({ session: present }: LinkState) => {
    session.unsubscribe();
    if (present === undefined) return;
    session = listen(present, settings, id, lease, claims);
    lease.clearProblem();
    lease.start();
    lease.hurry();
    claims.read();
  };
  following.add(link.state$.subscribe({ next: enter, error: () => {} }));
  following.add(() => session.unsubscribe());
  return following;
}

/** Listens for changes to the lease and the claims. Otherwise, changes would be noticed only at the next read. */
function listen(
  { transport }: Session,
  settings: NatsSettings,
  id: string,
  lease: JointLease,
  claims: Claims,
): Subscription {
  const session = new Subscription(answerForLife(transport, settings, id));
  for (const [index, part] of partsOf(settings).entries())
    session.add(
      transport.subscribe(leasePlace(settings, part).subject, ({ data }) => {
        try {
          expectShallow(data);
          lease.noteRequest(parseLease(JSON.parse(new TextDecoder().decode(data))), index);
        } catch {} // the next read will find the change
      }),
    );
  session.add(
    transport.subscribe(claimsPlace(settings.domain).subject, () => {
      claims.hurry();
      return undefined;
    }),
  );
  return session;
}

// Confirms writes. A write is confirmed if the standby has received it and this hub was still running its connections afterwards.
// Therefore, the other hub in the pair cannot take over without confirmed writes. Many writes share one confirmation.

/** The minimum interval between confirmations, in milliseconds. */
const everyMs = 10;
/** The timeout of a confirmation, in milliseconds, which is the same as for a write to another hub. */
const limitMs = 2000;

export class Confirmation {
  readonly #lease: Pick<JointLease, 'confirm'>;
  readonly #notifyAll: (endMs: number) => Promise<boolean>;
  readonly #clock: SchedulerLike;
  /** The confirmation that has not begun yet, and the end of the confirmation that has begun last. */
  #next: Promise<boolean> | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /**
   * `notifyAll` sends all writes so far. It resolves to whether the standby has received these writes, or to false after a time limit. It
   * never rejects.
   */
  constructor(
    lease: Pick<JointLease, 'confirm'>,
    notifyAll: (endMs: number) => Promise<boolean>,
    clock: SchedulerLike,
  ) {
    this.#lease = lease;
    this.#notifyAll = notifyAll;
    this.#clock = clock;
  }

  /** Resolves, within 2 s, to true if all earlier writes are confirmed, and to false if their confirmation is uncertain. Never rejects. */
  confirm(): Promise<boolean> {
    this.#next ??= inTime(this.#confirmAfter(this.#last));
    return this.#next;
  }

  async #confirmAfter(last: Promise<unknown>): Promise<boolean> {
    await last;
    this.#next = undefined;
    const confirmed = inTime(this.#notifyAndRenew());
    this.#last = Promise.all([confirmed, new Pause(this.#clock).for(everyMs)]);
    return confirmed;
  }

  async #notifyAndRenew(): Promise<boolean> {
    return (await this.#notifyAll(this.#clock.now() + limitMs)) && (await this.#lease.confirm());
  }
}

async function inTime(confirmed: Promise<boolean>): Promise<boolean> {
  return (await within(confirmed, limitMs)) === true;
}
