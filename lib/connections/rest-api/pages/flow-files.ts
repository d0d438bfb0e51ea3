// GET /hub/files: what the last load of the flow files said.

import type { HubPort } from '../../hub-port.ts';

/** `{"time":…,"loaded":true,"reason":"","files":[{"path":…,"connections":2,"rules":5,"mistakes":[]}]}`. */
export function filesOf(hub: HubPort): object {
  const { time, isLoaded, reason, files } = hub.files();
  return { time: new Date(time).toISOString(), loaded: isLoaded, reason, files };
}
