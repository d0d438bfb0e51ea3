#!/usr/bin/env node
// The `patchbay` command of the package. It imports the rest only after the check that this Node.js can load it.

import './command/node-version.ts';

void import('./main.ts');
