// Restores a hub's stored values after all parameters are declared and before anything is running. Restoring notifies no observers and thus
// starts no rules.

import { resolve } from 'node:path';
import type { Log } from '../connections/connection.ts';
import type { Kept } from '../connections/persistence.ts';
import type { ConnectionPlan, Plan } from '../flow/plan.ts';
import { secretLog } from '../flow/run/connections/supervisor.ts';
import { counted } from '../model/digits.ts';
import { messageOf } from '../model/error.ts';
import type { Origin } from '../model/parameter.ts';
import type { Engine } from './engine.ts';
import type { Journal } from './journal.ts';

/** A store that has been asked for its values while the hub starts. */
interface Asked {
  readonly connection: ConnectionPlan;
  readonly log: Log;
  readonly kept: Promise<Kept>;
}

/** Asks the stores in a plan for their stored values. Returns the requests. */
export function askStores({ connections }: Plan, log: Journal): Asked[] {
  const isHeldBack = connections.some(
    ({ enabled, type, settings }) => enabled && type.isGateway && type.startsOnLeaderOnly?.(settings) !== undefined,
  );
  return connections.flatMap((connection) => {
    const { id, enabled, type, settings, secrets, folder } = connection;
    if (!enabled || !type.isGateway || type.restore === undefined) return [];
    if (isHeldBack && type.flushesLast?.(settings)) return []; // this store restores its values after the hub has become the leader
    const logOfStore = secretLog(log.child({ connection: id }), () => secrets);
    const resolvePath = (path: string) => resolve(folder, path);
    return [{ connection, log: logOfStore, kept: type.restore({ id, settings, log: logOfStore, resolvePath }) }];
  });
}

/** Restores the values of declared parameters from a store. The earlier entries of the journal are restored as soon as they arrive. */
export async function restoreFrom(
  asked: Asked,
  { graph, persistence }: Pick<Engine, 'graph' | 'persistence'>,
  log: Journal,
): Promise<void> {
  const { connection, log: logOfStore } = asked;
  const beganMs = performance.now();
  const kept = await asked.kept;
  if (kept.log !== undefined) log.continueLater(kept.log);
  persistence.leave(connection, kept.left);
  const origin: Origin = { kind: 'restored', name: connection.id };
  let restored = 0;
  for (const value of kept.values) {
    const { address } = value;
    const node = graph.find(address);
    if (node === undefined) persistence.setAside(value, connection.id);
    if (node === undefined || node.type === 'T' || !persistence.isKept(node)) continue;
    try {
      graph.restore(node, value, origin);
      restored++;
    } catch (error) {
      const rest = node.value === undefined ? 'its state is unknown' : 'it has its default value';
      logOfStore.warn({ parameter: address }, `cannot restore ${address}, so ${rest}: ${messageOf(error)}`);
    }
  }
  persistence.recall(kept.memories);
  const ms = Math.round(performance.now() - beganMs);
  logOfStore.info({ values: restored, ms }, `restored ${counted(restored, 'value')} in ${ms} ms`);
}
