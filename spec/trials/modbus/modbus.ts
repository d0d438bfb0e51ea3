// npm run trial -- modbus: many Modbus devices with 100 registers each, polled every second; then all of them are killed and restarted.
// Exit status 1 if a register differs from its device, a device is polled too rarely, or values do not become stale or fresh in time.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { untilSo } from '../../support/deadline.ts';
import { inTemporaryFolder, thisTree } from '../../support/folder.ts';
import { freePort } from '../../support/system/port.ts';
import { startHub } from '../../support/system/task-process.ts';
import { defineTrial, notify } from '../trial.ts';

const registers = 100;
const everyMs = 1000;
const program = join(import.meta.dirname, '../../connections/modbus/device.ts');

interface Listed {
  readonly parameter: string;
  readonly value?: number;
  readonly staleSince?: unknown;
}

async function startDevices(ports: readonly number[]): Promise<ChildProcess> {
  const child = fork(program, { execArgv: ['--disable-warning=ExperimentalWarning'] });
  child.send({ ports });
  await once(child, 'message');
  return child;
}

export const trial = defineTrial({
  about: 'reads 100 registers of many Modbus devices every second, and kills and restarts the devices',
  options: {
    devices: ['the number of devices', 100, 10],
    seconds: ['how long they are read, in seconds', 20, 3],
    limit: ['the time limit for values to become stale, or fresh again, in seconds', 10, 60],
  },
  async run({ devices, seconds, limit }) {
    const ports = await Promise.all(Array.from({ length: devices }, () => freePort()));
    const parameters = { [`r/{n:0..${registers - 1}}`]: { holding: 100 } };
    const connections = Object.fromEntries(
      ports.map((port, index) => [
        `d${index}`,
        { type: 'modbus', tcp: `127.0.0.1:${port}`, every: everyMs, parameters },
      ]),
    );
    let child = await startDevices(ports);
    try {
      return await inTemporaryFolder('modbus', async (folder) => {
        const hub = await startHub({ connections }, folder, { hubFolder: thisTree });
        const read = async <Answer>(path: string) =>
          (await (await fetch(`http://127.0.0.1:${hub.port}/hub/${path}`)).json()) as Answer;
        const listed = async () =>
          (await read<Listed[]>('parameters')).filter(({ parameter }) => /^d\d/.test(parameter));
        const frames = async () => {
          const { connections: all } = await read<{ connections: { id: string; wire?: { framesIn: number } }[] }>(
            'connections',
          );
          return all.filter(({ id }) => /^d\d/.test(id)).map(({ wire }) => wire?.framesIn ?? 0);
        };
        const looks = { deadlineMs: limit * 1000, everyMs: 100 };
        const areAll = (what: string, isSo: (one: Listed) => boolean) =>
          untilSo(
            `${devices * registers} ${what} values`,
            async () => {
              const all = await listed();
              return all.length === devices * registers && all.every(isSo);
            },
            looks,
          );
        const isRight = ({ parameter, value }: Listed) => value === 100 + Number(parameter.split('/')[2]);
        try {
          await areAll('right', isRight);
          const before = await frames();
          await after(seconds * 1000);
          const answers = (await frames()).map((count, index) => count - before[index]!);
          const least = Math.min(...answers);
          if (least < (seconds * 1000) / everyMs - 2) throw new Error(`expected ${seconds} answers, got ${least}`);
          notify(`reading: ${devices * registers} values a second, at least ${least} answers in ${seconds} s: holds`);
          const killedMs = performance.now();
          child.kill('SIGKILL');
          await areAll('stale', (one) => one.staleSince !== undefined && isRight(one));
          const staleMs = performance.now() - killedMs;
          child = await startDevices(ports);
          const startedMs = performance.now();
          await areAll('fresh', (one) => one.staleSince === undefined && isRight(one));
          const freshMs = performance.now() - startedMs;
          notify(`death: stale after ${Math.round(staleMs)} ms, fresh after ${Math.round(freshMs)} ms: holds`);
          return true;
        } catch (error) {
          notify(`**${(error as Error).message}**`);
          return false;
        } finally {
          await hub.stop();
        }
      });
    } finally {
      child.kill('SIGKILL');
    }
  },
});
