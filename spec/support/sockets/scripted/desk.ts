// A graph with the groups of its clients, and nothing else of a hub.

import type { HubPort } from '../../../../lib/connections/hub-port.ts';
import type { LimitName } from '../../../../lib/connections/rest-api/limits/client-limits.ts';
import { FairQueue } from '../../../../lib/connections/rest-api/pacing/fair-queue.ts';
import { Round } from '../../../../lib/connections/rest-api/pacing/round.ts';
import { FanOut } from '../../../../lib/connections/rest-api/sockets/fan-out.ts';
import type { Client } from '../../../../lib/connections/rest-api/sockets/v1/client.ts';
import { Groups } from '../../../../lib/connections/rest-api/sockets/v1/groups.ts';
import { Graph } from '../../../../lib/graph/graph.ts';
import type { ParameterDeclaration } from '../../../../lib/model/parameter.ts';

const owner = { kind: 'connection', name: 'desk' } as const;

/** Its values are numbers with some text behind, which only grow. */
export class ScriptedDesk {
  readonly graph = new Graph();
  readonly fanOut = new FanOut();
  readonly groups: Groups;
  /** Who was given up, and by which limit. */
  readonly givenUp: [Client, LimitName][] = [];
  /** Every change, in order. */
  readonly changes: { readonly address: string; readonly value: number; readonly revision: number }[] = [];

  constructor(declarations: readonly ParameterDeclaration[]) {
    this.groups = new Groups(this.graph as unknown as HubPort, this.fanOut, {
      queue: new FairQueue(new Round()),
      giveUp: (client, limit) => this.#giveUp(client, limit),
      newMs: 1,
    });
    this.graph.declared$.subscribe((parameter) => this.groups.structure.declare(this.fanOut.channelOf(parameter)));
    this.graph.declare(owner, declarations);
    this.graph.changes$.subscribe((change) => {
      const { parameter, value, revision } = change;
      this.changes.push({ address: parameter.address, value: numberOf(value), revision });
      this.fanOut.notify(change);
    });
  }

  #giveUp(client: Client, limit: LimitName): void {
    this.givenUp.push([client, limit]);
    this.groups.remove(client);
  }

  /** Sets a parameter as its connection does. */
  set(address: string, value: string): void {
    this.graph.write(address, value, owner);
  }

  declare(declaration: ParameterDeclaration): void {
    this.graph.declare(owner, [declaration]);
  }
}

/** The number that a value begins with. */
export function numberOf(value: unknown): number {
  return Number.parseInt(String(value), 10);
}
