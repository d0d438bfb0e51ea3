// Real brokers: mosquitto, which can be killed, stopped and started again, and its clients as the neighbours at the broker.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import mqtt, { type MqttClient } from 'mqtt';
import { eventually } from './deadline.ts';
import { createFolder } from './folder.ts';
import { pathOf } from './programs.ts';
import { freePort, isListening } from './system/port.ts';

export interface Mosquitto {
  readonly port: number;
  readonly url: string;
  readonly folder: string;
  kill(signal?: NodeJS.Signals): Promise<void>;
  signal(signal: NodeJS.Signals): void;
  /** Starts it again after it was killed. It has forgotten all messages. */
  start(): Promise<void>;
}

/** Starts a broker; `more` returns further lines of its configuration for its folder. */
export async function startMosquitto(
  t: Pick<ExecutionContext, 'teardown'>,
  more: (folder: string) => string = () => 'allow_anonymous true',
): Promise<Mosquitto> {
  const folder = await createFolder(t as ExecutionContext);
  const port = await freePort();
  const file = join(folder, 'mosquitto.conf');
  await writeFile(file, `listener ${port} 127.0.0.1\nmax_queued_messages 0\nuser root\n${more(folder)}\n`);
  let child: ChildProcess | undefined;
  const start = async () => {
    child = spawn(pathOf('mosquitto')!, ['-c', file], { stdio: 'ignore' });
    await eventually(() => isListening(port), 'mosquitto to listen');
  };
  const kill = async (signal: NodeJS.Signals = 'SIGKILL') => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    child.kill('SIGCONT');
    await ended;
  };
  await start();
  t.teardown(() => kill());
  return { port, url: `mqtt://127.0.0.1:${port}`, folder, kill, start, signal: (signal) => child!.kill(signal) };
}

/** A message that a neighbour has received. */
export interface Heard {
  readonly topic: string;
  readonly text: string;
  readonly isRetained: boolean;
}

export interface Neighbour {
  readonly client: MqttClient;
  readonly heard: Heard[];
  /** The newest text of each topic. */
  readonly last: ReadonlyMap<string, string>;
  say(topic: string, text: string, retain?: boolean): Promise<unknown>;
  /** Waits until the newest text of a topic is this. */
  hears(topic: string, text: string): Promise<unknown>;
}

/** Connects a neighbour that is not of this hub. */
export async function joinBroker(
  t: Pick<ExecutionContext, 'teardown'>,
  { url }: Pick<Mosquitto, 'url'>,
  topics: readonly string[] = ['#'],
): Promise<Neighbour> {
  const client = await mqtt.connectAsync(url, { protocolVersion: 5, reconnectPeriod: 100, resubscribe: true });
  t.teardown(() => client.endAsync(true));
  const heard: Heard[] = [];
  const last = new Map<string, string>();
  client.on('error', () => {});
  client.on('message', (topic, payload, { retain }) => {
    heard.push({ topic, text: payload.toString(), isRetained: retain });
    last.set(topic, payload.toString());
  });
  if (topics.length > 0) await client.subscribeAsync([...topics]);
  return {
    client,
    heard,
    last,
    say: (topic, text, retain = false) => client.publishAsync(topic, text, { retain, qos: 1 }),
    hears: (topic, text) => eventually(() => last.get(topic) === text, `${topic} to be ${text}`),
  };
}
