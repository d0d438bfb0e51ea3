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

/** The settings of a REST API connection on a free port of this machine alone. */
export const api = { type: 'rest-api', port: 0, bindIp: '127.0.0.1' };

/** Fails when the log has a warning or an error: what clients do wrong is no news for the operator. */
export function expectQuietLog(t: ExecutionContext, { lines }: HubUnderTest): void {
  t.deepEqual(
    lines.filter(({ level }) => level === 'warn' || level === 'error'),
    [],
  );
}

/** The port of each REST API connection of a hub, in the order of their starts. */
export function portsOf({ lines }: HubUnderTest): number[] {
  return lines.flatMap(({ message }) => /^listens on .*:(\d+)\/$/.exec(message)?.[1] ?? []).map(Number);
}
