// A log for hubs whose figures are measured in their own process.

import type { HubLog } from '../../lib/hub.ts';

const ignore = () => {};

export const silentLog: HubLog = { debug: ignore, info: ignore, warn: ignore, error: ignore, child: () => silentLog };
