// The source tree that this file is part of: whose hub is measured and tried unless another one is said.

import { join } from 'node:path';

export const thisTree = join(import.meta.dirname, '../../..');
