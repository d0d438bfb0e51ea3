// What the contract suite has to know of xml-file-output.

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ContractCase } from '../../support/contract.ts';
import { createFolder } from '../../support/folder.ts';

const template = '<status lamp="$Lamp">$Title</status>';

export const contractCase: ContractCase = {
  settings: { filename: 'out.xml', template },
  troubles: [
    {
      what: 'the folder of the file is missing',
      state: 'degraded',
      reason: /^cannot write .*out\.xml: no such file or directory \(ENOENT\)$/,
      async cause(t) {
        const folder = join(await createFolder(t), 'later');
        return { settings: { filename: join(folder, 'out.xml'), template }, end: () => mkdir(folder) };
      },
    },
    {
      what: 'the template cannot be read',
      state: 'failed',
      reason: /^templateFile: cannot read .*in\.xml: no such file or directory \(ENOENT\)$/,
      async cause(t) {
        const templateFile = join(await createFolder(t), 'in.xml');
        const end = () => writeFile(templateFile, '<status/>');
        return { settings: { filename: 'out.xml', templateFile }, end };
      },
    },
    {
      what: 'the template does not parse',
      state: 'failed',
      reason: /^template:1:\d+: unclosed tag: status$/,
      cause: async () => ({ settings: { filename: 'out.xml', template: '<status>' } }),
    },
  ],
};
