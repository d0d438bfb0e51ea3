// Rules by the thousand, in every shape: whether one costs the same among 10,000 as among 100.

import { performTask, profileOptions } from '../harness/process.ts';
import type { Subject } from '../harness/subject.ts';
import type { RuleGrowth, RuleGrowthTask } from '../load/flows/rule-growth.ts';
import { type RuleShapeName, ruleShapes } from '../load/flows/rule-shapes.ts';

const bareName = 'bare rxjs';

export const ruleGrowth: Subject = {
  name: 'rule-growth',
  about: 'a run of a rule among many rules, and how many times as much it costs as among few; the same in bare rxjs',
  rounds: 3,
  mustReach: true,
  async cases({ rules: many, isQuick, profileFolder, hubFolder }) {
    const names = (Object.keys(ruleShapes) as RuleShapeName[]).slice(0, isQuick ? 2 : undefined);
    const few = Math.ceil(many / 100);
    return names.map((shape) => {
      const task: RuleGrowthTask = { hubFolder, shape, few, many, runs: 20 * many, turns: 5 };
      let shared: RuleGrowth | undefined;
      /** One process measures both; who comes second takes what the first has measured. */
      const measure = async () => {
        const measured = shared ?? (await performTask<RuleGrowth>('rule-growth', task, profileOptions(profileFolder)));
        shared = shared === undefined ? measured : undefined;
        return measured;
      };
      return {
        name: shape,
        metrics: [
          {
            key: 'growth',
            title: `growth from ${few}`,
            digits: 2,
            better: 'less',
            targets: isQuick ? [] : [{ against: bareName, atMost: 2 }],
          },
          { key: 'time', title: 'ns per run', digits: 0, better: 'less' },
          { key: 'start', title: 'µs per rule until the hub runs', digits: 0, better: 'less' },
          { key: 'startGrowth', title: '… growth', digits: 2, better: 'less', targets: isQuick ? [] : [{ atMost: 2 }] },
          { key: 'reload', title: 'µs per rule for a reload of one', digits: 1, better: 'less' },
          {
            key: 'reloadGrowth',
            title: '… growth',
            digits: 2,
            better: 'less',
            targets: isQuick ? [] : [{ atMost: 2 }],
          },
        ],
        contenders: [
          {
            name: 'hub',
            role: 'hub',
            async measure() {
              const { hubGrowth, hubNs, startUs, startGrowth, reloadUs, reloadGrowth } = await measure();
              return { growth: hubGrowth, time: hubNs, start: startUs, startGrowth, reload: reloadUs, reloadGrowth };
            },
          },
          {
            name: bareName,
            role: 'ceiling',
            async measure() {
              const { bareGrowth, bareNs } = await measure();
              return { growth: bareGrowth, time: bareNs };
            },
          },
        ],
      };
    });
  },
};
