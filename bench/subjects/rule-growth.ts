// Rules by the thousand, in every shape: whether one costs the same in a hub of 10,000 as in one of 100.

import { performTask, profileOptions } from '../../spec/support/system/task-process.ts';
import type { Case, Subject, Target } from '../harness/subject.ts';
import type { RuleGrowth, RuleGrowthTask } from '../load/flows/rule-growth.ts';
import { type RuleShapeName, ruleShapes } from '../load/flows/rule-shapes.ts';

export const ruleGrowth: Subject = {
  name: 'rule-growth',
  about:
    'the cost of running a rule in a hub with many rules, relative to a hub with few; also with as many rules in many small hubs, and in bare rxjs',
  measures: ['lib/flow/run', 'lib/graph', 'lib/expression'],
  rounds: 3,
  mustReach: true,
  async cases({ rules: many, isQuick, profileFolder, hubFolder }) {
    const names = (Object.keys(ruleShapes) as RuleShapeName[]).slice(0, isQuick ? 2 : undefined);
    const few = Math.ceil(many / 100);
    return names.map((shape) => {
      const task: RuleGrowthTask = { hubFolder, shape, few, many, runs: 20 * many, turns: 5 };
      return {
        name: shape,
        metrics: metricsOf(few, isQuick),
        contenders: contendersOf(few, () =>
          performTask<RuleGrowth>('bench/load/flows/rule-growth.ts', task, profileOptions(profileFolder)),
        ),
      };
    });
  },
};

function controlName(few: number): string {
  return `hubs of ${few}`;
}

/**
 * A run that is quick has nothing to reach. How starts and reloads grow does not make a commit better or worse, as both sizes are
 * figures of their own: else one whose small hubs start faster would be worse.
 */
function metricsOf(few: number, isQuick: boolean): Case['metrics'] {
  const targets = (target: Target) => (isQuick ? [] : [target]);
  const atMost = 2;
  return [
    {
      key: 'growth',
      title: `growth from ${few}`,
      digits: 2,
      better: 'less',
      targets: targets({ against: controlName(few), atMost }),
    },
    { key: 'time', title: 'ns per run', digits: 0, better: 'less' },
    { key: 'fewStart', title: `µs per rule until a hub of ${few} runs`, digits: 0, better: 'less' },
    { key: 'start', title: 'µs per rule until the hub runs', digits: 0, better: 'less' },
    { key: 'startGrowth', title: '… growth', digits: 2, targets: targets({ atMost }) },
    { key: 'fewReload', title: `µs per rule for a reload of one in a hub of ${few}`, digits: 1, better: 'less' },
    { key: 'reload', title: 'µs per rule for a reload of one', digits: 1, better: 'less' },
    { key: 'reloadGrowth', title: '… growth', digits: 2, targets: targets({ atMost }) },
  ];
}

/** One process measures all three in each round. */
function contendersOf(few: number, measure: () => Promise<RuleGrowth>): Case['contenders'] {
  const shared = new SharedMeasurement(measure);
  return [
    {
      name: 'hub',
      role: 'hub',
      async measure() {
        const { hubGrowth, hubNs, ...us } = await shared.take('hub');
        return {
          ...{ growth: hubGrowth, time: hubNs },
          ...{ fewStart: us.fewStartUs, start: us.startUs, startGrowth: us.startUs / us.fewStartUs },
          ...{ fewReload: us.fewReloadUs, reload: us.reloadUs, reloadGrowth: us.reloadUs / us.fewReloadUs },
        };
      },
    },
    {
      name: controlName(few),
      role: 'ceiling',
      async measure() {
        const { controlGrowth, controlNs } = await shared.take('control');
        return { growth: controlGrowth, time: controlNs };
      },
    },
    {
      name: 'bare rxjs',
      role: 'peer',
      async measure() {
        const { bareGrowth, bareNs } = await shared.take('bare');
        return { growth: bareGrowth, time: bareNs };
      },
    },
  ];
}

export class SharedMeasurement<T> {
  readonly #measure: () => Promise<T>;
  readonly #takers = new Set<string>();
  #measured: Promise<T> | undefined;

  constructor(measure: () => Promise<T>) {
    this.#measure = measure;
  }

  take(taker: string): Promise<T> {
    if (this.#measured === undefined || this.#takers.has(taker)) {
      this.#takers.clear();
      this.#measured = this.#measure();
    }
    this.#takers.add(taker);
    return this.#measured;
  }
}
