// A hub from flow files that stand in the spec, stopped when the test ends.

import type { ExecutionContext } from 'ava';
import { filter, startWith } from 'rxjs/operators';
import type { LimitName } from '../../lib/connections/rest-api/limits/client-limits.ts';
import { type Hub, type HubOptions, startHub } from '../../lib/hub/index.ts';
import type { Origin } from '../../lib/model/parameter.ts';
import type { ConnectionStatus } from '../../lib/model/reports/connection-status.ts';
import { createLogRecorder, type LogLine, type LogRecorder } from './connection.ts';
import { eventually, first } from './deadline.ts';
import { createFolder } from './folder.ts';

export interface HubUnderTest extends Hub, Pick<LogRecorder, 'logged'> {
  readonly lines: LogLine[];
  readonly logged: LogRecorder['logged'];
  /** The port on which its first REST API connection listens. */
  readonly port: number;
  /** The folder of its flow files. */
  readonly folder: string;
}

/** Starts a hub with one flow file, `flow.json5`. */
export function startTestHub(
  t: ExecutionContext,
  flow: object | string,
  options: Partial<HubOptions> = {},
): Promise<HubUnderTest> {
  return startHubFrom(t, { 'flow.json5': flow }, options);
}

/** Starts a hub with the flow files of a folder that has these files, watched only if `options` say so. */
export async function startHubFrom(
  t: ExecutionContext,
  files: Record<string, unknown>,
  options: Partial<HubOptions> = {},
): Promise<HubUnderTest> {
  const folder = await createFolder(t, files);
  const log = createLogRecorder();
  const hub = await startHub({ paths: [folder], log, ...options });
  t.teardown(() => hub.stop());
  const [port = Number.NaN] = portsOf(log);
  return Object.assign(hub, { lines: log.lines, logged: log.logged, port, folder });
}

/** The settings of a REST API connection on a free port of this machine alone. */
export const api = { type: 'rest-api', port: 0, bindIp: '127.0.0.1' };

/** Who writes when a spec does. */
export const writer: Origin = { kind: 'client', name: 'spec' };

/**
 * What something that is asked of another hub comes to, once somebody can say: a machine that is too busy to confirm a write within the 2 s
 * that it has is asked again. Errors: those of `ask`.
 */
export async function confirmed<T>(ask: () => Promise<T>): Promise<T> {
  let reported!: T;
  await eventually(async () => {
    try {
      reported = await ask();
      return ![reported].flat(Number.POSITIVE_INFINITY).some(isUnconfirmed);
    } catch (error) {
      if (!isUnconfirmed(error)) throw error;
      return false;
    }
  }, 'somebody who confirms it');
  return reported;
}

function isUnconfirmed(reported: unknown): boolean {
  return /: not confirmed\b/.test(reported instanceof Error ? reported.message : String(reported));
}

/** Fails when the log has a warning or an error: what clients do wrong is no news for the operator. */
export function expectQuietLog(t: ExecutionContext, { lines }: HubUnderTest): void {
  t.deepEqual(
    lines.filter(({ level }) => level === 'warn' || level === 'error'),
    [],
  );
}

/** Fails unless the warnings and errors are those of these limits, which a client of this machine exceeded. */
export function expectHits(t: ExecutionContext, { lines }: HubUnderTest, limits: readonly LimitName[]): void {
  const reported = lines.filter(({ level }) => level === 'warn' || level === 'error').map(({ message }) => message);
  const hits = reported.map(
    (message) => /^client 127\.0\.0\.1 exceeded the limit (\w+) /.exec(message)?.[1] ?? message,
  );
  t.deepEqual([...new Set(hits)], [...limits]);
}

/** The port of each REST API connection of a hub, in the order of their starts. */
export function portsOf({ lines }: Pick<HubUnderTest, 'lines'>): number[] {
  return lines.flatMap(({ message }) => /^listening on .*:(\d+)\/$/.exec(message)?.[1] ?? []).map(Number);
}

/** How a connection of a hub is. */
export function statusOf(hub: Hub, connectionId: string): ConnectionStatus {
  return hub.connections().find(({ id }) => id === connectionId)!;
}

/** Waits until a connection with `statusParameter: true` is or is not connected. */
export async function isConnected(hub: Hub, connectionId: string, expected: boolean): Promise<ConnectionStatus> {
  const isAsExpected = () => hub.find(`${connectionId}/_status/connected`)!.value === expected;
  await first(hub.changes$.pipe(startWith(undefined), filter(isAsExpected)), `${connectionId} connected: ${expected}`);
  return statusOf(hub, connectionId);
}
