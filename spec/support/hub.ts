// A hub from an inline flow, stopped when the test ends.

import type { ExecutionContext } from 'ava';
import { type Hub, type HubOptions, startHub } from '../../lib/hub.ts';
import { createLogRecorder, type LogLine } from './connection.ts';
import { createFolder } from './folder.ts';

export interface HubUnderTest extends Hub {
  readonly lines: LogLine[];
  /** The port on which its first REST API connection listens. */
  readonly port: number;
}

export async function startTestHub(
  t: ExecutionContext,
  flow: object | string,
  options: Partial<HubOptions> = {},
): Promise<HubUnderTest> {
  const log = createLogRecorder();
  const hub = await startHub({ paths: [await createFolder(t, { 'flow.json5': flow })], log, ...options });
  t.teardown(() => hub.stop());
  const listening = log.lines.find(({ message }) => message.startsWith('listens on'));
  return Object.assign(hub, { lines: log.lines, port: Number(/:(\d+)\/$/.exec(listening?.message ?? '')?.[1]) });
}
