// How the hub reaches a broker: TLS, WebSocket, passwords, and what it says when it does not.

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { eventually } from '../../support/deadline.ts';
import { createFolder } from '../../support/folder.ts';
import { type HubUnderTest, startTestHub, statusOf } from '../../support/hub.ts';
import { joinBroker, startMosquitto } from '../../support/mosquitto.ts';
import { needs } from '../../support/programs.ts';
import { makeCertificate } from '../../support/system/certificate.ts';
import { freePort } from '../../support/system/port.ts';

needs('mosquitto', 'openssl');

const parameters = { it: { type: 'I', topic: 'it', set: 'it' } };

const startHub = (t: ExecutionContext, settings: object): Promise<HubUnderTest> =>
  startTestHub(t, { connections: { home: { type: 'mqtt', parameters, ...settings } } });

async function reads(t: ExecutionContext, hub: HubUnderTest, url: string): Promise<void> {
  const other = await joinBroker(t, { url });
  await eventually(() => statusOf(hub, 'home').state === 'running', 'the connection to run');
  await other.say('it', '42');
  await eventually(() => hub.find('home/it')?.value === 42, 'the value');
  t.is(hub.find('home/it')!.value, 42);
}

test('TLS is verified, by a file of certificates or by a fingerprint', async (t) => {
  let folder = '';
  const broker = await startMosquitto(t, (own) => {
    folder = own;
    makeCertificate(own, 'broker');
    return `cafile ${own}/broker.crt\ncertfile ${own}/broker.crt\nkeyfile ${own}/broker.key\nallow_anonymous true`;
  });
  const url = `mqtts://127.0.0.1:${broker.port}`;
  const caFile = join(folder, 'broker.crt');
  const fingerprint = execFileSync('openssl', ['x509', '-in', caFile, '-noout', '-fingerprint', '-sha256'])
    .toString()
    .split('=')[1]!
    .trim();
  for (const tls of [{ caFile }, { fingerprint }]) {
    const hub = await startHub(t, { url, tls });
    await eventually(() => statusOf(hub, 'home').state === 'running', 'the connection to run');
  }
  const wrong = await startHub(t, { url });
  await wrong.logged(
    /^connection "home" is degraded: 127\.0\.0\.1:\d+: the certificate of the broker is not trusted: self-signed certificate/,
  );
  t.pass();
  const pinned = await startHub(t, { url, tls: { fingerprint: '00:11' } });
  await pinned.logged(/^connection "home" is degraded: 127\.0\.0\.1:\d+: expected the certificate 00:11, got /);
});

test('a WebSocket is as good as TCP', async (t) => {
  const port = await freePort();
  await startMosquitto(t, () => `allow_anonymous true\nlistener ${port} 127.0.0.1\nprotocol websockets`); // it needs another listener
  const url = `ws://127.0.0.1:${port}`;
  await reads(t, await startHub(t, { url }), url);
});

test('a password is sent, and a wrong one is a sentence, once', async (t) => {
  const broker = await startMosquitto(t, (folder) => {
    const file = join(folder, 'passwords');
    writeFileSync(file, 'hub:secret-word\n');
    execFileSync('mosquitto_passwd', ['-U', file]);
    return `allow_anonymous false\npassword_file ${file}`;
  });
  const folder = await createFolder(t, { 'word.txt': 'secret-word\n' });
  const right = await startHub(t, { url: broker.url, username: 'hub', password: { file: join(folder, 'word.txt') } });
  await eventually(() => statusOf(right, 'home').state === 'running', 'the connection to run');
  const wrong = await startHub(t, { url: broker.url, username: 'hub', password: 'another-word' });
  await wrong.logged(
    /^connection "home" is degraded: 127\.0\.0\.1:\d+: the broker refuses the username or the password$/,
  );
  t.is(wrong.lines.filter(({ level }) => level === 'warn').length, 1);
  t.false(JSON.stringify(wrong.lines).includes('another-word'));
});

test('a host that does not exist is a sentence', async (t) => {
  const hub = await startHub(t, { url: 'mqtt://no-such-host.invalid' });
  await hub.logged(/^connection "home" is degraded: no-such-host\.invalid: there is no host no-such-host\.invalid$/);
  t.pass();
});

test('a peer that is no broker, and one that sends an endless packet, are away', async (t) => {
  const { createServer } = await import('node:net');
  for (const [bytes, reason] of [
    [Buffer.from('220 mail\r\n'), /degraded: 127\.0\.0\.1:\d+: /],
    [
      Buffer.from([0x30, 0xff, 0xff, 0xff, 0x7f, 0, 1, 97]),
      /degraded: 127\.0\.0\.1:\d+: the broker sent a packet of more than 16777216 bytes$/,
    ],
  ] as const) {
    const server = createServer((socket) => socket.on('error', () => {}).write(bytes)).listen(0, '127.0.0.1');
    t.teardown(() => server.close());
    await eventually(() => server.listening);
    const hub = await startHub(t, {
      url: `mqtt://127.0.0.1:${(server.address() as { port: number }).port}`,
      connectTimeout: '300ms',
    });
    await hub.logged(reason);
    await hub.stop();
  }
  t.pass();
});
