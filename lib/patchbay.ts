#!/usr/bin/env node
// The package's `patchbay` command. The rest is imported only after checking that this Node.js version can load it.

import './command/node-version.ts';

void import('./main.ts');
