#!/usr/bin/env node
// The package's `patchbay` command. Everything else is imported only after a check that this version of Node.js can load it.

import './command/node-version.ts';

void import('./main.ts');
