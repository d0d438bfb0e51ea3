// A log for hubs that run in this process and whose log nobody reads.

import type { HubLog } from '../../lib/hub/index.ts';

const ignore = () => {};

export const silentLog: HubLog = { debug: ignore, info: ignore, warn: ignore, error: ignore, child: () => silentLog };
