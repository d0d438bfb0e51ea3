#!/usr/bin/env node
// The `patchbay` command of the package. It imports the rest only after it has checked that this Node.js version can load it.

import './command/node-version.ts';

void import('./main.ts');
