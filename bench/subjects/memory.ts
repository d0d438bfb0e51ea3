// Parameters in memory: Dummy parameters by the million, from a flow file to a running hub.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connectionId, defaultOf, lineOf, parameterIdOf } from '../../spec/support/load/many-parameters.ts';
import { performTask, profileOptions } from '../../spec/support/system/task-process.ts';
import type { MapTask } from '../contenders/memory-map.ts';
import type { Case, Contender, Subject } from '../harness/subject.ts';
import type { DeclaringCosts } from '../load/declaring-costs.ts';
import type { MemoryTask } from '../load/flows/memory.ts';

export const memory: Subject = {
  name: 'memory',
  about: 'dummy parameters from a flow file; the ceiling is a Map of BehaviorSubjects in bare rxjs',
  measures: ['lib/graph', 'lib/connections/dummy', 'lib/hub'],
  rounds: 1,
  async cases({ parameters, profileFolder, hubFolder }, folder) {
    const last = parameters - 1;
    const contender = (file: string, hasDefault: boolean): Contender => {
      const address = `${connectionId}/${parameterIdOf(last)}`;
      const sample = hasDefault ? { address, value: defaultOf(last) } : { address };
      const task: MemoryTask = { hubFolder, file, parameters, sample };
      return {
        name: 'hub',
        role: 'hub',
        measure: () => measure('bench/load/flows/memory.ts', task, profileOptions(profileFolder)),
      };
    };
    const measure = async (process: string, task: MemoryTask | MapTask, nodeOptions: readonly string[]) => {
      const result = await performTask<DeclaringCosts>(process, task, nodeOptions);
      return {
        heap: result.heapBytes / parameters,
        resident: result.residentBytes / parameters,
        declare: result.declareMs / 1000,
        busy: result.declareBusyMs / 1000,
      };
    };
    const map: Contender = {
      name: 'Map of BehaviorSubjects',
      role: 'ceiling',
      measure: () => measure('bench/contenders/memory-map.ts', { parameters }, []),
    };
    const cases: Case[] = [];
    for (const [name, isText, hasDefault] of [
      ['lines as a list', false, false],
      ['lines as one text', true, false],
      ['a list with default values', false, true],
      ['one text with default values', true, true],
    ] as const) {
      const file = join(folder, `${cases.length}.json5`);
      await writeFile(file, flowText(parameters, isText, hasDefault));
      cases.push({
        name,
        metrics: [
          { key: 'heap', title: 'heap bytes each', digits: 0, better: 'less' },
          { key: 'resident', title: 'resident bytes each', digits: 0, better: 'less' },
          { key: 'declare', title: 'seconds until the hub runs', digits: 2, better: 'less' },
          { key: 'busy', title: 'busy seconds until the hub runs', digits: 2, better: 'less' },
        ],
        contenders: cases.length === 0 ? [contender(file, hasDefault), map] : [contender(file, hasDefault)],
      });
    }
    return cases;
  },
};

/** A flow file as an author writes it: JSON5, a line per parameter. */
function flowText(parameters: number, isText: boolean, hasDefault: boolean): string {
  const lines = Array.from({ length: parameters }, (_, index) => lineOf(index, hasDefault));
  const setting = isText
    ? `'${lines.join('\\n\\\n')}'`
    : `[\n${lines.map((line) => `        '${line}',\n`).join('')}      ]`;
  return `// ${parameters} parameters\n{\n  connections: {\n    ${connectionId}: { type: 'dummy', parameters: ${setting} },\n  },\n}\n`;
}
