// Gives a hub back what its store has kept, after all parameters are declared and before anything runs. What it sets tells nobody,
// so that no rule fires because of it.

import { resolve } from 'node:path';
import type { GatewayType } from '../connections/connection.ts';
import type { ConnectionPlan, Plan } from '../flow/plan.ts';
import { messageOf } from '../model/error.ts';
import type { Origin } from '../model/parameter.ts';
import type { Parts } from './parts.ts';

/** A connection that gives back what it has kept. */
interface Store {
  readonly plan: ConnectionPlan;
  readonly restore: NonNullable<GatewayType['restore']>;
}

export function storesOf({ connections }: Plan): Store[] {
  return connections.flatMap((plan) => {
    const restore = plan.enabled && plan.type.isGateway ? plan.type.restore : undefined;
    return restore === undefined ? [] : [{ plan, restore }];
  });
}

export async function restoreFrom(store: Store, { graph, keeping, log }: Parts): Promise<void> {
  const { id, settings, folder } = store.plan;
  const logOfStore = log.child({ connection: id });
  const startedAt = performance.now();
  const kept = await store.restore({ id, settings, log: logOfStore, resolvePath: (path) => resolve(folder, path) });
  const origin: Origin = { kind: 'restored', name: id };
  let restored = 0;
  for (const { address, value, time } of kept.values) {
    const node = graph.find(address);
    if (node === undefined || node.type === 'T' || !keeping.isKept(node)) continue;
    try {
      graph.restore(node, value, origin, time);
      restored++;
    } catch (error) {
      const rest = node.value === undefined ? 'its state is unknown' : 'it has its default value';
      logOfStore.warn({ parameter: address }, `${address} was not restored, ${rest}: ${messageOf(error)}`);
    }
  }
  keeping.recall(kept.memories);
  const ms = Math.round(performance.now() - startedAt);
  logOfStore.info({ values: restored, ms }, `restored ${restored} values in ${ms} ms`);
}
