// What the contract suite has to know of store.

import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ContractCase } from '../../support/contract.ts';
import { createFolder } from '../../support/folder.ts';

export const contractCase: ContractCase = {
  settings: { folder: './data' },
  troubles: [
    {
      what: 'its folder is a file',
      state: 'degraded',
      reason: /^cannot write .*values\.db: .*EEXIST/,
      async cause(t) {
        const folder = join(await createFolder(t), 'data');
        await writeFile(folder, '');
        return { settings: { folder }, end: () => rm(folder) };
      },
    },
  ],
};
