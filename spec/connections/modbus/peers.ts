// The other side of the specs of modbus: devices in a process of their own, and jsmodbus, which others have written.

import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Server, Socket } from 'node:net';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { eventually } from '../../support/deadline.ts';
import { createFolder } from '../../support/folder.ts';
import { freePort } from '../../support/system/port.ts';
import type { DeviceMessage, DeviceTask } from './device.ts';

export interface Device {
  readonly port: number;
  readonly child: ChildProcess;
  set(address: number, value: number): void;
  /** What has been written to it since the last call: `10 500`, `coil 4 true`. */
  written(): Promise<string[]>;
}

/** Starts a device, which ends with the test. */
export async function startDevice(t: ExecutionContext, task: DeviceTask = {}, onPort?: number): Promise<Device> {
  const port = task.serial === undefined ? (onPort ?? (await freePort())) : 0;
  const child = fork(join(import.meta.dirname, 'device.ts'), { execArgv: ['--disable-warning=ExperimentalWarning'] });
  t.teardown(() => child.kill('SIGKILL'));
  child.on('error', () => {}); // it was killed while it is told something
  child.send({ ...(task.serial === undefined && { ports: [port] }), ...task } satisfies DeviceTask);
  await once(child, 'message');
  const tell = (message: DeviceMessage) => child.send(message);
  return {
    port,
    child,
    set: (address, value) => tell({ set: [address, value] }),
    async written() {
      const answer = once(child, 'message');
      tell('written');
      return (await answer)[0] as string[];
    },
  };
}

/** Two ends of a serial line, made by socat. */
export async function startLine(t: ExecutionContext): Promise<readonly [string, string]> {
  const folder = await createFolder(t);
  const [one, other] = [join(folder, 'one'), join(folder, 'other')];
  const child = spawn('socat', [`pty,raw,echo=0,link=${one}`, `pty,raw,echo=0,link=${other}`], { stdio: 'ignore' });
  t.teardown(() => child.kill('SIGKILL'));
  await eventually(() => existsSync(one) && existsSync(other), 'the ptys of socat');
  return [one, other];
}

interface JsModbus {
  readonly client: {
    readonly TCP: new (
      socket: Socket,
      unitId: number,
    ) => Record<
      'readCoils' | 'readHoldingRegisters' | 'readInputRegisters' | 'writeSingleCoil' | 'writeMultipleRegisters',
      (address: number, value: unknown) => Promise<{ response: { body: { valuesAsArray: number[] } } }>
    >;
  };
  readonly server: { readonly TCP: new (server: Server) => { readonly holding: Buffer } };
}

export const jsmodbus = createRequire(import.meta.url)('jsmodbus') as JsModbus;
