// What a server of the settings is: an address that can be dialled, and nothing secret, since it is shown wherever the link is told of.

import test from 'ava';
import { settingsSchema } from '../../../lib/connections/nats/settings.ts';

const anAddress = "the address of a server such as 'nats://10.0.0.5:4222'";
const noCredentials = /^expected an address without credentials: use the setting `credentials`/;

/** What is wrong with a server. */
function mistakesOf(server: string): string[] {
  const { error } = settingsSchema.safeParse({ domain: 'd', hub: 'h', servers: [server] });
  return error?.issues.map(({ message }) => message) ?? [];
}

for (const server of ['nats://10.0.0.5:4222', 'nats://hub-1', 'tls://[::1]:4222', 'tls://nats.example.org:443'])
  test(`${server} is a server`, (t) => t.deepEqual(mistakesOf(server), []));

for (const server of [
  'http://10.0.0.5:4222',
  'nats://',
  'nats://10.0.0.5:4222/',
  'nats://10.0.0.5:99999',
  'nats://a:b',
])
  test(`${server} is not a server`, (t) => {
    const [mistake, ...others] = mistakesOf(server);
    t.true(mistake!.includes(anAddress));
    t.deepEqual(others, []);
  });

for (const server of ['nats://west:secret@10.0.0.5:4222', 'tls://token@10.0.0.5/', 'http://west:secret@10.0.0.5'])
  test(`${server} has credentials, which are not shown`, (t) => {
    const [mistake, ...others] = mistakesOf(server);
    t.regex(mistake!, noCredentials);
    t.deepEqual(others, []);
    t.notRegex(mistake!, /secret|token/);
  });
