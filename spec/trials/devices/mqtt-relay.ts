// A baseline for the MQTT bridge of a hub: a process that only republishes each write as the state of its topic, under another prefix. The
// p99 of the hub's clients in its windows shows the effect of the machine alone.

import mqtt from 'mqtt';
import { runTask } from '../../support/system/task.ts';
import { besidePrefix } from './mqtt-topics.ts';

export interface MqttRelayTask {
  readonly port: number;
  readonly topics: number;
}

await runTask(async ({ port, topics }: MqttRelayTask) => {
  const client = await mqtt.connectAsync(`mqtt://127.0.0.1:${port}`);
  client.on('message', (topic, payload) => client.publish(topic.slice(0, -'/set'.length), payload, { retain: true }));
  for (let index = 0; index < topics; index++) client.publish(`${besidePrefix}/tree/${index}`, '0', { retain: true });
  await client.subscribeAsync(`${besidePrefix}/tree/+/set`);
  process.once('disconnect', () => client.end(true));
  return 'ready';
});
