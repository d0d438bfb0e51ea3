// A hub in virtual time that is nothing but a graph, shared with other hubs and mirroring them.

import { randomUUID } from 'node:crypto';
import { NEVER, Subject, type VirtualTimeScheduler } from 'rxjs';
import type { HubPort, Parameters } from '../../../../lib/connections/hub-port.ts';
import type { Transport } from '../../../../lib/connections/nats/link/transport.ts';
import { Mirrors } from '../../../../lib/connections/nats/mirrors/mirrors.ts';
import type { Ownership } from '../../../../lib/connections/nats/ownership/ownership.ts';
import { Sharer } from '../../../../lib/connections/nats/sharing/sharer.ts';
import type { Told } from '../../../../lib/connections/nats/wire/messages.ts';
import { Graph } from '../../../../lib/graph/graph.ts';
import type { ParameterNode } from '../../../../lib/graph/parameter-node.ts';
import { Federation } from '../../../../lib/hub/federation.ts';
import type { Origin, ParameterDeclaration } from '../../../../lib/model/parameter.ts';
import { createLogRecorder } from '../../../support/connection.ts';

const unrivalled: Ownership = {
  term: 1,
  isHolder: true,
  tells: true,
  answers: true,
  confirm: undefined,
  owns: () => true,
  changed$: NEVER,
};

/** What mirrors and sharers see of a hub. */
type JoinedPort = Parameters & Pick<HubPort, 'epoch' | 'mirroring'>;

function portOf(graph: Graph, isLocal: (connectionId: string) => boolean): JoinedPort {
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
    write: (address, input, origin) => graph.write(address, input, origin),
    writeTo: (parameter, input, origin) => graph.writeTo(parameter as ParameterNode, input, origin),
    writeRemote: (remote, writes, origin) => graph.writeRemote(remote, writes, origin),
    turn: (work) => graph.turn(work),
    mirroring: new Federation(graph, isLocal),
  };
}

export class JoinedHub {
  readonly name: string;
  readonly graph: Graph;
  readonly hub: JoinedPort;
  readonly owner: Origin;
  mirrors!: Mirrors;
  sharer!: Sharer;
  readonly #join: (isSelected: (address: string) => boolean) => void;

  /** Its parameters are those of one connection, which has the name of the hub unless it is told. */
  constructor(name: string, scheduler: VirtualTimeScheduler, transport: Transport, term = 1, connection = name) {
    this.name = name;
    this.graph = new Graph(() => scheduler.now());
    this.owner = { kind: 'connection', name: connection };
    this.hub = portOf(this.graph, (id) => id !== connection);
    const shared = {
      hub: this.hub,
      name: { domain: 'house', hub: name },
      ownership: { ...unrivalled, term },
      scheduler,
    };
    const timeOfDay = () => scheduler.now();
    const soon = (work: () => void) => void scheduler.schedule(work, 1);
    this.#join = (isSelected) => {
      const mirroring = { isSelected: () => true, namesake$: new Subject<Told>(), timeOfDay, log: createLogRecorder() };
      this.mirrors = new Mirrors({ ...shared, ...mirroring });
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
