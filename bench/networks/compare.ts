// Runs a network on a hub and on the model, and tells where the two differ.

import { connectionTypes } from '../../lib/connections/registry.ts';
import { checkFlowFiles } from '../../lib/flow/check/check.ts';
import { startPlan } from '../../lib/hub.ts';
import { formatMistake, MistakeList } from '../../lib/json5/mistake.ts';
import type { Origin } from '../../lib/model/parameter.ts';
import { Model } from './model.ts';
import { asFlow, type Network } from './network.ts';

const by: Origin = { kind: 'client', name: 'network' };
const nothing = () => {};
const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/** How many changes the network made, and the first difference; undefined: there is none. */
export async function compareNetwork(network: Network): Promise<{ changes: number; difference: string | undefined }> {
  const changes: string[] = [];
  const hub = await startPlan(planOf(network), {
    log: { ...silent, child: () => silent },
    prepare(graph) {
      for (const [id, value] of network.given) graph.write(`desk/${id}`, value, by);
      graph.changes$.subscribe({
        next: ({ parameter, value }) => changes.push(`${parameter.address.slice(5)}=${value}`),
      });
    },
  });
  const model = new Model(network);
  const differs = (at: string) =>
    changes.join() === model.changes.join()
      ? undefined
      : `${at}: the hub ${changes.slice(-20)}, the model ${model.changes.slice(-20)}`;
  let difference = differs('at the start');
  for (const [index, happening] of network.happenings.entries()) {
    if (difference !== undefined) break;
    if ('switch' in happening) {
      const { name } = network.rules[happening.switch]!;
      hub.switchRule(name, undefined, model.switch(happening.switch), by);
    } else {
      hub.turn(() => {
        for (const [id, value] of happening.set) hub.write(`desk/${id}`, id.startsWith('t') ? 1 : value, by);
      });
      model.set(happening.set);
    }
    difference = differs(`happening ${index} ${JSON.stringify(happening)}`);
  }
  await hub.stop();
  return { changes: changes.length, difference };
}

function planOf(network: Network) {
  const mistakes = new MistakeList();
  const file = { name: 'network', folder: '.', data: asFlow(network), positionOf: () => undefined };
  const plan = checkFlowFiles([file], connectionTypes, mistakes);
  if (mistakes.items.length > 0) throw new Error(mistakes.items.map(formatMistake).join('\n'));
  return plan;
}
