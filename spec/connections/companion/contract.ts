// What the contract suite has to know of companion.

import type { ContractCase } from '../../support/contract.ts';
import { createFolder } from '../../support/folder.ts';
import { writeModule } from './build.ts';

const parts = {
  values: { program: { variable: 'program', type: 'I' }, three: { feedback: 'program', options: { input: 3 } } },
  writes: { program: { action: 'program', options: { input: '{value}' } }, misbehave: { action: 'misbehave' } },
};

export const contractCase: ContractCase = {
  settings: { module: 'nowhere', simulate: true, ...parts },
  sets: ['program'],
  troubles: [
    {
      what: 'its module is missing',
      state: 'failed',
      reason: /^module: nowhere\.tgz: ENOENT/,
      cause: async () => ({ settings: { module: 'nowhere.tgz', ...parts } }),
    },
    {
      what: 'its config lacks something',
      state: 'failed',
      reason:
        /^config: module spec-device 1\.2\.3 also needs port \(number, such as 9990\); the module was not started$/,
      async cause(t) {
        const module = await createFolder(t);
        await writeModule(module, { api: 2 });
        return { settings: { module, config: { host: '127.0.0.1' }, ...parts } };
      },
    },
  ],
};
