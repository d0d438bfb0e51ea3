// GET /hub/files: what the last load of the flow files said.

import type { LoadReport } from '../../../wire/http/operation.ts';
import { toIsoTime } from '../../../wire/time.ts';
import type { HubPort } from '../../hub-port.ts';

export function filesOf(hub: HubPort): LoadReport {
  const { time, isLoaded, reason, files } = hub.files();
  return { time: toIsoTime(time), loaded: isLoaded, reason, files };
}
