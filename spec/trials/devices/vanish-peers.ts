// The process on the vanishing host: a device behind the MQTT broker of that host, and a webhook target that writes its deliveries to a
// file.

import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import mqtt from 'mqtt';

const [host, brokerPort, targetPort, file] = process.argv.slice(2) as [string, string, string, string];

const device = await mqtt.connectAsync(`mqtt://${host}:${brokerPort}`, { reconnectPeriod: 200 });
device.on('error', () => {});
device.on('message', (_, payload) => device.publish('level', payload, { retain: true }));
await device.subscribeAsync('level/set');
await device.publishAsync('level', '0', { retain: true });

createServer(async (request, response) => {
  let text = '';
  for await (const chunk of request) text += chunk;
  appendFileSync(file, `${request.headers['webhook-id']} ${text}\n`);
  response.writeHead(204).end();
}).listen(Number(targetPort), host);
