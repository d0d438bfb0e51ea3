// npm run trial -- networks: runs random networks of rules on a hub and on an independent model, with rules that run at startup, trigger on
// all writes, write expressions to several destinations, read unknown values, run as soon as they can, come from templates, take time
// (average, ramp), form loops, and are switched on and off. Exit status 1, with the network, if a change differs.

import { checkFlowFiles } from '../../../lib/flow/check/check.ts';
import { expandFlowFile } from '../../../lib/flow/files/instances.ts';
import { Hub } from '../../../lib/hub/index.ts';
import { formatMistake, MistakeList } from '../../../lib/json5/mistake.ts';
import type { Origin } from '../../../lib/model/parameter.ts';
import { VirtualClock } from '../../../lib/testing/virtual-clock.ts';
import { connectionTypes } from '../../support/connection-types.ts';
import { Random } from '../../support/random.ts';
import { silentLog } from '../../support/silent-log.ts';
import { defineTrial, notify } from '../trial.ts';
import { addressOf, asFlow, idOf } from './as-flow.ts';
import { Model } from './model.ts';
import { aNetwork, type Happening, type Network } from './network.ts';
import { isTrigger } from './rule.ts';

export const trial = defineTrial({
  about: 'runs random networks of rules on a hub and on an independent model; both must make the same changes',
  options: { networks: ['how many networks run', 5000, 40], seed: ['what they are made of', 1, 16] },
  run,
});

async function run({ networks, seed }: { readonly networks: number; readonly seed: number }): Promise<boolean> {
  let [all, drops, wild] = [0, 0, 0];
  for (let number = 0; number < networks; number++) {
    const network = aNetwork(new Random(seed, number));
    const { changes, dropped, isWild, difference } = await compareNetwork(network);
    all += changes;
    drops += dropped;
    if (isWild) wild++;
    if (difference === undefined) continue;
    notify(`network ${number} of seed ${seed} differs, ${difference}`);
    notify(JSON.stringify(asFlow(network), undefined, 2));
    notify(JSON.stringify(network.given));
    return false;
  }
  notify(`seed ${seed}: ${networks} networks, ${all} changes, ${drops} writes past the limit of hops, no difference`);
  if (wild > 0) notify(`${wild} of them were not followed to their end: they multiply`);
  if (all === 0) notify('no network made any change');
  return all > 0;
}

export interface Compared {
  /** How many changes the network made, and how many writes exceeded the limit of hops. */
  readonly changes: number;
  readonly dropped: number;
  /** Whether it multiplies too much to be followed to its end. */
  readonly isWild: boolean;
  /** The first difference; undefined: there is none. */
  readonly difference: string | undefined;
}

const by: Origin = { kind: 'client', name: 'network' };

export async function compareNetwork(network: Network): Promise<Compared> {
  const model = new Model(network);
  const compared = { changes: 0, dropped: 0, difference: undefined };
  if (model.isWild) return { ...compared, isWild: true };
  const changes: string[] = [];
  let dropped = 0;
  const clock = new VirtualClock();
  const hub = await Hub.run(await planOf(network), {
    log: silentLog,
    scheduler: clock,
    prepare(graph) {
      for (const [id, value] of network.given) graph.write(addressOf(id), value, by);
      graph.dropped$.subscribe({ next: () => dropped++ });
      graph.changes$.subscribe({
        next: ({ parameter, value }) => changes.push(`${idOf(parameter.address)}=${value}`),
      });
    },
  });
  const differs = (at: string) => {
    const index = changes.findIndex((change, place) => change !== model.changes[place]);
    if (index < 0 && changes.length === model.changes.length)
      return dropped === model.dropped ? undefined : `${at}: the hub dropped ${dropped}, the model ${model.dropped}`;
    const near = (all: readonly string[]) => all.slice(Math.max(0, index < 0 ? -5 : index - 5)).slice(0, 15);
    return `${at}: the hub ${near(changes)}, the model ${near(model.changes)}`;
  };
  let difference = differs('at the start');
  for (const [index, happening] of network.happenings.entries()) {
    if (difference !== undefined) break;
    const isOn = inModel(model, happening);
    if (model.isWild) break;
    inHub(hub, clock, network, happening, isOn);
    difference = differs(`happening ${index} ${JSON.stringify(happening)}`);
  }
  await hub.stop();
  return { changes: changes.length, dropped: model.dropped, isWild: model.isWild, difference };
}

/** Whether a rule that is switched is on then. */
function inModel(model: Model, happening: Happening): boolean {
  if ('switch' in happening) return model.switch(happening.switch);
  if ('waitMs' in happening) model.pass(happening.waitMs);
  else model.set(happening.set);
  return false;
}

function inHub(hub: Hub, clock: VirtualClock, { rules }: Network, happening: Happening, isOn: boolean): void {
  if ('switch' in happening) hub.switchRule(rules[happening.switch]!.name, undefined, isOn, by);
  else if ('waitMs' in happening) clock.advanceTo(clock.now() + happening.waitMs);
  else
    hub.turn(() => {
      for (const [id, value] of happening.set) hub.write(addressOf(id), isTrigger(id) ? 1 : value, by);
    });
}

async function planOf(network: Network) {
  const mistakes = new MistakeList();
  const data = asFlow(network);
  const file = { name: 'network', folder: '.', data, positionOf: () => undefined };
  const plan = checkFlowFiles(await expandFlowFile(file, JSON.stringify(data), mistakes), connectionTypes, mistakes);
  if (mistakes.items.length > 0) throw new Error(mistakes.items.map(formatMistake).join('\n'));
  return plan;
}
