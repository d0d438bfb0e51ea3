// All connection types of the hub, loaded.

import { loadConnectionTypes } from '../../lib/connections/connection-types.ts';

export const connectionTypes = await loadConnectionTypes();
