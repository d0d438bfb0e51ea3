// A hub that reaches nothing outside of the process: for connections that would, others stand in which do nothing.

import { concatWith, NEVER, of } from 'rxjs';
import type { AnyConnectionType, ConnectionEvent } from '../../connections/connection.ts';
import type { ConnectionPlan } from '../../flow/plan.ts';

/** The plan of a connection, or of one in its place that only declares the parameters. */
export function simulated(connection: ConnectionPlan): ConnectionPlan {
  return connection.type.isExternal ? standInFor(connection) : connection;
}

/** The plan of a connection that only declares the parameters of another. */
export function standInFor(connection: ConnectionPlan): ConnectionPlan {
  return { ...connection, type: standIn(connection.type) };
}

function standIn(type: AnyConnectionType): AnyConnectionType {
  const run = () => of<ConnectionEvent>({ state: 'running' }).pipe(concatWith(NEVER));
  return { ...type, isGateway: false, run };
}
