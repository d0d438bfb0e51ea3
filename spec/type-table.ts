// Writes the table of connection types into README.md; `npm run format` runs it.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readReadme, root } from './support/repository/readme.ts';
import { withTypeTable } from './support/repository/type-table.ts';

try {
  writeFileSync(join(root, 'README.md'), withTypeTable(readReadme('README.md')));
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
