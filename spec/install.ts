// `npm run spec:install`: installs the programs that specs need, where it may; `npm run spec` says what is still missing.

import { findSpecs, installMissing } from './needed-programs.ts';

installMissing(findSpecs().values());
