// The parts of the trial with mosquitto: a broker that is killed and stopped, and state messages in both directions beside a neighbour.

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import mqtt from 'mqtt';
import { eventually } from '../../support/deadline.ts';
import { freePort, isListening } from '../../support/system/port.ts';
import { notify } from '../trial.ts';
import type { Breaks, Stage } from './stage.ts';

const perSecond = 20_000;
const topics = 1000;

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

export async function tryMqttLoad(stage: Stage, { stops }: Breaks): Promise<void> {
  const { port, start } = await startBroker(stage);
  await start();
  const api = await freePort();
  const parameters = Array.from({ length: topics }, (_, index) => `${index},I,0`);
  const folder = await stage.folder();
  await writeFile(
    join(folder, 'flow.json5'),
    JSON.stringify({
      connections: {
        api: { type: 'rest-api', port: api, bindIp: '127.0.0.1' },
        it: { type: 'mqtt', url: `mqtt://127.0.0.1:${port}`, bridge: { prefix: 'hub', share: ['desk/**'] } },
        desk: { type: 'dummy', parameters },
        near: { type: 'dummy', parameters: ['a,I,0'] },
      },
    }),
  );
  stage.run(process.execPath, [join(import.meta.dirname, '../../../lib/main.ts'), 'run', folder]);
  await eventually(() => isListening(api), 'the hub to listen');
  const other = await mqtt.connectAsync(`mqtt://127.0.0.1:${port}`, { protocolVersion: 5 });
  stage.onEnd(() => other.endAsync(true));
  let received = 0;
  const last = new Map<string, string>();
  other.on('message', (topic, payload) => {
    received++;
    last.set(topic, payload.toString());
  });
  await other.subscribeAsync('hub/desk/+');
  await eventually(() => last.size === topics, 'all topics');
  const measureMs = stops ? 10_000 : 2000;
  await percentile(api, 500);
  const idleMs = await percentile(api, measureMs);
  let sent = 0;
  received = 0;
  const startMs = performance.now();
  const timer = setInterval(() => {
    for (const wanted = ((performance.now() - startMs) / 1000) * perSecond; sent < wanted; sent++)
      other.publish(`hub/desk/${sent % topics}/set`, String(sent));
  }, 2);
  const busyMs = await percentile(api, measureMs);
  const seconds = (performance.now() - startMs) / 1000;
  const [out, back] = [sent / seconds, received / seconds];
  clearInterval(timer);
  for (let index = 0; index < topics; index++) other.publish(`hub/desk/${index}/set`, '-1');
  await eventually(() => last.size === topics && [...last.values()].every((text) => text === '-1'), 'the last values');
  notify(
    `  ${out.toFixed(0)} messages/s to the hub, ${back.toFixed(0)}/s from it; a neighbour's write took ${idleMs.toFixed(1)} ms, and ${busyMs.toFixed(1)} ms meanwhile (99th percentile)`,
  );
}

/** The 99th percentile of how long writes of another client take. */
async function percentile(port: number, ms: number): Promise<number> {
  const times: number[] = [];
  const endMs = performance.now() + ms;
  for (let value = 0; performance.now() < endMs; value++) {
    const startMs = performance.now();
    await (await fetch(`http://127.0.0.1:${port}/update?p=near/a&v=${value}`)).text();
    times.push(performance.now() - startMs);
    await after(2);
  }
  return times.sort((one, other) => one - other)[Math.floor(times.length * 0.99)]!;
}
