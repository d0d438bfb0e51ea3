// The parts of the trial with mosquitto: a broker that is killed and stopped, and state messages in both directions beside another client.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import mqtt from 'mqtt';
import { eventually } from '../../support/deadline.ts';
import { thisTree } from '../../support/folder.ts';
import type { NeighboursResult, NeighboursTask } from '../../support/load/neighbours.ts';
import { compareWindows, countOf } from '../../support/load/windows.ts';
import { freePort, isListening } from '../../support/system/port.ts';
import { startHub, startTask } from '../../support/system/task-process.ts';
import { notify } from '../trial.ts';
import type { MqttClientResult, MqttClientTask } from './mqtt-client.ts';
import type { MqttRelayTask } from './mqtt-relay.ts';
import { bridgePrefix } from './mqtt-topics.ts';
import type { Breaks, Stage } from './stage.ts';

const perSecond = 20_000;
/** So many that values of one topic seldom merge before they are sent. */
const topics = 5000;
const neighbours = 20;
/** What the p99 of the others may be of what it is while another process does what the bridge does. */
const mostRatio = 1.2;

async function startBroker(stage: Stage): Promise<{ port: number; start(): Promise<ReturnType<Stage['run']>> }> {
  const port = await freePort();
  const file = join(
    await stage.folder({
      'mosquitto.conf': `listener ${port} 127.0.0.1\nallow_anonymous true\nmax_queued_messages 0\n`,
    }),
    'mosquitto.conf',
  );
  const start = async () => {
    const broker = stage.run('mosquitto', ['-c', file]);
    await eventually(() => isListening(port), 'mosquitto to listen');
    return broker;
  };
  return { port, start };
}

export async function tryMosquitto(stage: Stage, breaks: Breaks): Promise<void> {
  const { port, start } = await startBroker(stage);
  const broker = await start();
  const level = { type: 'F', topic: 'level', set: 'level/set', min: 0, max: 10 };
  const staged = await stage.startHub({
    it: { type: 'mqtt', url: `mqtt://127.0.0.1:${port}`, keepAlive: '1s', connectTimeout: '1s', parameters: { level } },
  });
  const device = await mqtt.connectAsync(`mqtt://127.0.0.1:${port}`, { reconnectPeriod: 200 });
  stage.onEnd(() => device.endAsync(true));
  device.on('error', () => {});
  device.on('message', (_, payload) => device.publish('level', payload, { retain: true }));
  await device.subscribeAsync('level/set');
  await staged.set({ level: 2.5 });
  staged.refuse('level', 11);
  await staged.break('level', broker, start, breaks);
  assert.equal(staged.value('level'), 2.5, 'nothing is sent again');
}

/** Loads a broker beside the neighbours of a hub, in windows by turns through the bridge of the hub and through a relay beside it. */
export async function tryMqttLoad(stage: Stage, { stops: isFull }: Breaks): Promise<void> {
  const windows = isFull ? { pairs: 10, ms: 2000 } : { pairs: 1, ms: 500 };
  const { port, start } = await startBroker(stage);
  const broker = await start();
  const addresses = Array.from({ length: neighbours }, (_, index) => `desk/neighbour/${index}`);
  const hub = await startHub(
    {
      connections: {
        it: { type: 'mqtt', url: `mqtt://127.0.0.1:${port}`, bridge: { prefix: bridgePrefix, share: ['tree/**'] } },
        tree: { type: 'dummy', parameters: Array.from({ length: topics }, (_, index) => `${index},I,0`) },
        desk: { type: 'dummy', parameters: addresses.map((address) => `${address.slice('desk/'.length)},F`) },
      },
    },
    await stage.folder(),
    { hubFolder: thisTree },
  );
  stage.onEnd(() => hub.stop(true));
  const begin = (program: string, task: object) => {
    const started = startTask(`spec/${program}`, task);
    stage.onEnd(() => started.process.kill('SIGKILL'));
    return started;
  };
  await begin('trials/devices/mqtt-relay.ts', { port, topics } satisfies MqttRelayTask).answer();
  const sending = begin('trials/devices/mqtt-client.ts', { port, topics, perSecond, windows } satisfies MqttClientTask);
  await sending.answer();
  const watched: NeighboursTask = { port: hub.port, addresses, windows, beforeMs: 1000, duringMs: 0 };
  const watching = begin('support/load/neighbours.ts', watched);
  await watching.answer();
  sending.process.send('go');
  watching.process.send('go');
  const [{ p99s }, { sent, received, wrong }] = await Promise.all([
    watching.answer<NeighboursResult>(),
    sending.answer<MqttClientResult>(),
  ]);
  broker.kill('SIGKILL');
  const seconds = (windows.ms * countOf(windows)) / 1000;
  const { reached, beside, ratio } = compareWindows(p99s);
  notify(
    `  ${Math.round(sent / seconds)} messages/s and ${Math.round(received / seconds)}/s back, p99 of the others ${reached.toFixed(1)} ms, ${beside.toFixed(1)} ms while another process does what the bridge does, ratio ${ratio.toFixed(2)}`,
  );
  assert.equal(wrong, 0, 'topics whose last state is not what was written last');
  if (!isFull) return;
  assert.ok(
    sent / seconds > perSecond * 0.95 && received / seconds > perSecond * 0.95,
    `expected ${perSecond} messages a second each way`,
  );
  assert.ok(ratio <= mostRatio, `expected a ratio of at most ${mostRatio}`);
}

/** How much the memory of a hub may grow between the first and the last quarter of the time without a broker, in bytes. */
const mostGrown = 8 * 1_048_576;

/** A broker is away for a minute, while the parameters of a bridge change 20,000 times a second. */
export async function tryMqttAway(stage: Stage, { stops: isFull }: Breaks): Promise<void> {
  const { port, start } = await startBroker(stage);
  const broker = await start();
  const many = Array.from({ length: 200 }, (_, index) => `desk/${index}`);
  const hub = await startHub(
    {
      connections: {
        it: { type: 'mqtt', url: `mqtt://127.0.0.1:${port}`, bridge: { prefix: 'hub', follow: ['desk/**'] } },
        desk: { type: 'dummy', parameters: many.map((address) => `${address.split('/')[1]},I,0`) },
        clock: { type: 'timer', pulses: [{ interval: 10 }] },
      },
      rules: [{ name: 'count', from: 'clock/pulse/1', pipe: [{ scan: { seed: 0, expression: 'sum + 1' } }], to: many }],
    },
    await stage.folder(),
    { hubFolder: thisTree },
  );
  stage.onEnd(() => hub.stop(true));
  broker.kill('SIGKILL');
  const seconds = isFull ? 60 : 4;
  const memory: number[] = [];
  for (let second = 0; second < seconds; second++) {
    await after(1000);
    memory.push(await residentBytes(hub.pid));
  }
  const quarter = Math.ceil(seconds / 4);
  const median = (numbers: readonly number[]) =>
    numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)]!;
  const grown = median(memory.slice(-quarter)) - median(memory.slice(quarter, 2 * quarter));
  notify(
    `  memory ${mebibytes(memory.at(-1)!)} after ${seconds} s without a broker, grown by ${mebibytes(grown)} in the second half`,
  );
  if (isFull) assert.ok(grown < mostGrown, `expected less than ${mebibytes(mostGrown)}`);
  await start();
  await eventually(async () => {
    const answer = await fetch(`http://127.0.0.1:${hub.port}/hub/connections`);
    const { connections } = (await answer.json()) as { connections: { id: string; state: string }[] };
    return connections.find(({ id }) => id === 'it')?.state === 'running';
  }, 'the bridge to be back');
}

async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)![1]) * 1024;
}

function mebibytes(bytes: number): string {
  return `${(bytes / 1_048_576).toFixed(1)} MiB`;
}
