// A hub that serves files: its Document Root is the folder `www` of a folder of files.

import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { createFolder } from '../folder.ts';
import { api, type HubUnderTest, startTestHub } from '../hub.ts';

/** Starts one with files such as `{'www/index.html': 'top', 'secret.txt': 'secret'}`, and a parameter `desk/lamp`, true. */
export async function startSite(
  t: ExecutionContext,
  files: Record<string, unknown>,
): Promise<HubUnderTest & { root: string; outside: string }> {
  const outside = await createFolder(t, files);
  const root = join(outside, 'www');
  const hub = await startTestHub(t, {
    connections: { api: { ...api, documentRoot: root }, desk: { type: 'dummy', parameters: ['lamp,B,true'] } },
  });
  return Object.assign(hub, { root, outside });
}
