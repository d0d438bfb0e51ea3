// A whole hub from a flow file, loaded as an operator's would be; its settings may stand in the spec.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { firstValueFrom, type SchedulerLike } from 'rxjs';
import { filter, startWith, timeout } from 'rxjs/operators';
import type { ConnectionStatus } from '../../lib/connections/connection.ts';
import { type Hub, startHub } from '../../lib/hub.ts';
import { createLogRecorder } from './connection.ts';

export interface FlowHub {
  readonly hub: Hub;
  status(connectionId: string): ConnectionStatus;
  /** Waits until a connection with `statusParameter: true` is or is not connected, ten seconds at most. */
  isConnected(connectionId: string, expected: boolean): Promise<ConnectionStatus>;
  write(address: string, value: unknown): void;
}

/** Writes settings as the flow file of a folder and returns its path. */
export function writeFlow(folder: string, flow: { connections: object; rules?: object[] }): string {
  const path = join(folder, 'flow.json5');
  writeFileSync(path, JSON.stringify(flow));
  return path;
}

/** Starts a hub that stops when the test is over, if not before. */
export async function startFlowHub(t: ExecutionContext, path: string, scheduler?: SchedulerLike): Promise<FlowHub> {
  const hub = await startHub({ paths: [path], log: createLogRecorder(), ...(scheduler && { scheduler }) });
  t.teardown(() => hub.stop());
  const status = (id: string) => hub.connections().find((connection) => connection.id === id)!;
  return {
    hub,
    status,
    async isConnected(id, expected) {
      const isAsExpected = () => hub.find(`${id}/_status/connected`)!.value === expected;
      await firstValueFrom(hub.changes$.pipe(startWith(undefined), filter(isAsExpected), timeout(10_000)));
      return status(id);
    },
    write: (address, value) => void hub.write(address, value, { kind: 'client', name: 'spec' }),
  };
}
