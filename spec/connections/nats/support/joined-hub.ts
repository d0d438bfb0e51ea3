// A hub in virtual time that is nothing but a graph, shared with other hubs and mirroring them.

import { randomUUID } from 'node:crypto';
import { NEVER, Subject, type VirtualTimeScheduler } from 'rxjs';
import type { HubPort, Parameters } from '../../../../lib/connections/hub-port.ts';
import type { MirroringPort } from '../../../../lib/connections/mirroring.ts';
import { Intake } from '../../../../lib/connections/nats/link/nats-intake.ts';
import type { Transport } from '../../../../lib/connections/nats/link/transport.ts';
import { Mirrors } from '../../../../lib/connections/nats/mirrors/mirrors.ts';
import type { Ownership } from '../../../../lib/connections/nats/ownership/ownership.ts';
import { Sharer } from '../../../../lib/connections/nats/sharing/sharer.ts';
import type { HubReport } from '../../../../lib/connections/nats/wire/domain-messages.ts';
import { Graph } from '../../../../lib/graph/graph.ts';
import type { ParameterNode } from '../../../../lib/graph/parameter-node.ts';
import { Federation } from '../../../../lib/hub/federation.ts';
import { connectionIdOf } from '../../../../lib/model/address.ts';
import type { Origin, Parameter, ParameterDeclaration } from '../../../../lib/model/parameter.ts';
import { createLogRecorder } from '../../../support/connection.ts';

const unrivalled: Omit<Ownership, 'term' | 'termsOf'> = {
  isHolder: true,
  reports: true,
  answers: true,
  confirm: undefined,
  owns: () => true,
  ownerOf: () => undefined,
  changed$: NEVER,
  claimed$: NEVER,
};

/** What mirrors and sharers see of a hub. */
type JoinedPort = Parameters & Pick<HubPort, 'epoch' | 'mirroring'>;

function portOf(graph: Graph, connections: Pick<MirroringPort, 'isLocal' | 'hasConnection'>): JoinedPort {
  const { changes$, declared$, removed$ } = graph;
  return {
    epoch: randomUUID(),
    changes$,
    declared$,
    removed$,
    get revision() {
      return graph.revision;
    },
    find: (address) => graph.find(address),
    get structure() {
      return graph.structure;
    },
    get size() {
      return graph.size;
    },
    turnDurations: graph.turnDurations,
    parameters: () => graph.parameters(),
    changedSince: (revision) => graph.changedSince(revision),
    newestFirst: () => graph.newestFirst(),
    write: (address, input, origin) => graph.write(address, input, origin),
    writeTo: (parameter, input, origin) => graph.writeTo(parameter as ParameterNode, input, origin),
    writeRemote: (remote, writes, origin) => graph.writeRemote(remote, writes, origin),
    turn: (work) => graph.turn(work),
    mirroring: new Federation(graph, connections),
  };
}

/** The greatest term in which a hub of a name was started, in each simulated time: its lease says that. */
const leases = new WeakMap<VirtualTimeScheduler, Map<string, number>>();

export interface JoinedHubOptions {
  /** The Connection ID of its parameters; if omitted, the name of the hub. */
  readonly connection?: string;
  readonly maxParameters?: number;
  /** What leases and claims say, where it is not that all is as it should be. */
  readonly ownership?: Partial<Ownership>;
}

export class JoinedHub {
  readonly name: string;
  readonly graph: Graph;
  readonly hub: JoinedPort;
  readonly owner: Origin;
  readonly log = createLogRecorder();
  mirrors!: Mirrors;
  sharer!: Sharer;
  readonly #join: (isSelected: (address: string) => boolean) => void;

  constructor(
    name: string,
    scheduler: VirtualTimeScheduler,
    transport: Transport,
    term = 1,
    { connection = name, maxParameters = 100_000, ownership = {} }: JoinedHubOptions = {},
  ) {
    this.name = name;
    this.graph = new Graph(() => scheduler.now());
    this.owner = { kind: 'connection', name: connection };
    const terms = leases.get(scheduler) ?? new Map<string, number>();
    leases.set(scheduler, terms.set(name, Math.max(terms.get(name) ?? 0, term)));
    /** How many parameters of its own it has, by Connection ID. */
    const own = new Map<string, number>();
    const count = (by: number) => (parameter: Parameter) => {
      const id = connectionIdOf(parameter.address);
      if ((parameter as ParameterNode).owner.hub === undefined) own.set(id, (own.get(id) ?? 0) + by);
    };
    this.graph.declared$.subscribe(count(1));
    this.graph.removed$.subscribe(count(-1));
    const hasConnection = (id: string) => (own.get(id) ?? 0) > 0;
    this.hub = portOf(this.graph, { isLocal: (id) => id !== connection, hasConnection });
    const shared = {
      hub: this.hub,
      name: { domain: 'house', hub: name },
      ownership: { ...unrivalled, term, termsOf: async (hub: string) => new Set([terms.get(hub) ?? 0]), ...ownership },
      scheduler,
    };
    const timeOfDay = () => scheduler.now();
    const soon = (work: () => void) => void scheduler.schedule(work, 1);
    this.#join = (isSelected) => {
      const intake = new Intake({ soon: setImmediate, log: this.log, now: () => 0 });
      const mirroring = {
        isSelected: () => true,
        namesake$: new Subject<HubReport>(),
        timeOfDay,
        maxParameters,
        intake,
      };
      this.mirrors = new Mirrors({ ...shared, ...mirroring, log: this.log });
      this.sharer = new Sharer({ ...shared, isSelected, soon });
      this.mirrors.attach(transport);
      this.sharer.attach(transport);
    };
    this.#join(() => true);
  }

  /** Joins anew, as a reload of its settings has it; its parameters stay as they are. */
  rejoin(isSelected: (address: string) => boolean = () => true): void {
    this.stop();
    this.#join(isSelected);
  }

  declare(...declarations: ParameterDeclaration[]): void {
    this.graph.declare(this.owner, declarations);
  }

  withdraw(id: string): void {
    const node = this.graph.find(`${this.name}/${id}`);
    if (node !== undefined) this.graph.remove([node]);
  }

  /** What it has of a hub, by address. */
  valuesOf(hub: string): Record<string, unknown> {
    const found = [...this.graph.parameters()].filter(({ address }) => address.startsWith(`${hub}/`));
    return Object.fromEntries(found.map(({ address, value, type }) => [address, `${type} ${value}`]).sort());
  }

  stop(): void {
    this.mirrors.stop();
    this.sharer.stop();
  }
}
