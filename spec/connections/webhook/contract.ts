// What the contract suite has to know of webhook.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ContractCase } from '../../support/contract.ts';
import { createFolder } from '../../support/folder.ts';

const settings = { in: { doorbell: { token: 'open sesame' } }, out: { siren: { url: 'http://127.0.0.1:9/' } } };

export const contractCase: ContractCase = {
  settings,
  sets: ['siren/delivered', 'siren/dropped', 'siren/failed', 'siren/pending'],
  claiming: settings,
  troubles: [
    {
      what: 'the certificates that it trusts cannot be read',
      state: 'failed',
      reason: /^tls\.caFile: cannot read .*: none$/,
      async cause(t) {
        const folder = await createFolder(t, {});
        const caFile = join(folder, 'ca.pem');
        return { settings: { out: settings.out, tls: { caFile } }, end: () => writeFile(caFile, '') };
      },
    },
  ],
};
