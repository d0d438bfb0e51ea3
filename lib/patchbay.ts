#!/usr/bin/env node
// The command `patchbay` of the package. It imports the rest only once it is known that this Node.js can link it.

import './command/node-version.ts';

void import('./main.ts');
