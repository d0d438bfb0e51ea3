// The parameters of other hubs, as far as a file tells them: tests stand for these hubs, as they do for whatever is outside.

import { resolve } from 'node:path';
import type { ConnectionPlan, Plan } from '../flow/plan.ts';
import { simulated } from '../hub.ts';
import type { ParameterDeclaration } from '../model/parameter.ts';

/** The plan with a connection in place of each one of another hub. */
export function withRemotes(plan: Plan): Plan {
  const own = new Set(plan.connections.map(({ id }) => id));
  const remote = plan.connections.flatMap(standInsFor).filter(({ id }) => !own.has(id));
  return remote.length === 0 ? plan : { ...plan, connections: [...plan.connections, ...remote] };
}

function standInsFor(connection: ConnectionPlan): ConnectionPlan[] {
  const { type, settings, folder } = connection;
  const { parameters } = type.remotes?.(settings, (path) => resolve(folder, path)) ?? {};
  const byId = new Map<string, ParameterDeclaration[]>();
  for (const [address, { type, access }] of parameters ?? []) {
    const slash = address.indexOf('/');
    const id = address.slice(0, slash);
    byId.set(id, [...(byId.get(id) ?? []), { id: address.slice(slash + 1), type, access }]);
  }
  const { remotes, ...standIn } = simulated(connection).type;
  return [...byId].map(([id, declarations]) => ({ ...connection, id, type: standIn, parameters: declarations }));
}
