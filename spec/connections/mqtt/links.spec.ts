// How the hub reaches a broker: TLS, WebSocket, passwords, and what it says when it does not.

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
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
    /^connection "home" is degraded: 127\.0\.0\.1:\d+: its certificate is self-signed; set tls\.caFile or tls\.fingerprint$/,
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
  await hub.logged(/^connection "home" is degraded: no-such-host\.invalid: unknown host name$/);
  t.pass();
});

test('a peer that is no broker, or sends what no broker may, is away', async (t) => {
  const accepted = [0x20, 3, 0, 0, 0];
  const ofQos2 = [0x34, 7, 0, 1, 97, 0, 1, 0, 98];
  for (const [bytes, reason] of [
    [Buffer.from('220 mail\r\n'), /degraded: 127\.0\.0\.1:\d+: /],
    [
      Buffer.from([0x30, 0xff, 0xff, 0xff, 0x7f, 0, 1, 97]),
      /degraded: 127\.0\.0\.1:\d+: the broker sent a packet of more than 16777216 bytes$/,
    ],
    [
      Buffer.from([...accepted, ...ofQos2]),
      /degraded: 127\.0\.0\.1:\d+: the broker sent a message with QoS 2, to which the hub never subscribes$/,
    ],
    // what follows a DISCONNECT comes to a client that has ended
    [
      Buffer.from([...accepted, 0xe0, 2, 0x8e, 0, ...ofQos2, 0x62, 2, 0, 1]),
      /degraded: 127\.0\.0\.1:\d+: another client has taken over the client ID$/,
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

test('a broker that asks for a certificate gets that of the hub, and a hub without one says so', async (t) => {
  let folder = '';
  const broker = await startMosquitto(t, (own) => {
    folder = own;
    for (const name of ['broker', 'hub', 'stranger']) makeCertificate(own, name);
    return `cafile ${own}/hub.crt\ncertfile ${own}/broker.crt\nkeyfile ${own}/broker.key\nrequire_certificate true\nuse_identity_as_username true`;
  });
  const url = `mqtts://127.0.0.1:${broker.port}`;
  const tls = (name: string) => ({
    caFile: join(folder, 'broker.crt'),
    certFile: join(folder, `${name}.crt`),
    keyFile: join(folder, `${name}.key`),
  });
  const hub = await startHub(t, { url, tls: tls('hub') });
  await eventually(() => statusOf(hub, 'home').state === 'running', 'the connection to run');
  const without = await startHub(t, { url, tls: { caFile: join(folder, 'broker.crt') } });
  await without.logged(
    /^connection "home" is degraded: 127\.0\.0\.1:\d+: the broker requires a client certificate: set tls\.certFile and tls\.keyFile$/,
  );
  const stranger = await startHub(t, { url, tls: tls('stranger') });
  await stranger.logged(
    /^connection "home" is degraded: 127\.0\.0\.1:\d+: the broker refuses the certificate of this hub: /,
  );
  t.pass();
});

test('a certificate of another host is not trusted', async (t) => {
  let folder = '';
  const broker = await startMosquitto(t, (own) => {
    folder = own;
    makeCertificate(own, 'broker');
    return `cafile ${own}/broker.crt\ncertfile ${own}/broker.crt\nkeyfile ${own}/broker.key\nallow_anonymous true`;
  });
  const hub = await startHub(t, {
    url: `mqtts://127.0.0.2:${broker.port}`,
    tls: { caFile: join(folder, 'broker.crt') },
  });
  await hub.logged(/^connection "home" is degraded: 127\.0\.0\.2:\d+: /);
  t.pass();
});

interface Between {
  readonly url: string;
  /** What the hub has connected with: 5, 4 (3.1.1), in turn. */
  readonly versions: number[];
  /** From now on no byte goes through, while the links stay open. */
  drop(): void;
  pass(): void;
}

/** Stands before a broker. `answer` is what a CONNECT of MQTT 5 gets instead of the broker; empty: the link is closed. */
async function stand(t: ExecutionContext, port: number, answer?: Buffer): Promise<Between> {
  const sockets = new Set<Socket>();
  const versions: number[] = [];
  let isDropping = false;
  const server = createServer((socket) => {
    const to = connect(port, '127.0.0.1');
    for (const one of [socket, to]) sockets.add(one.on('error', () => {}));
    socket.once('data', (first) => {
      const version = first[first.indexOf('MQTT') + 4]!; // MQTT 3.1.2.2: the protocol level follows the name
      versions.push(version);
      if (version !== 5 || answer === undefined) to.write(first);
      else socket.end(answer);
      socket.on('data', (bytes) => isDropping || to.write(bytes));
      to.on('data', (bytes) => isDropping || socket.write(bytes));
    });
    to.on('close', () => socket.destroy());
    socket.on('close', () => to.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return {
    url: `mqtt://127.0.0.1:${(server.address() as { port: number }).port}`,
    versions,
    drop: () => {
      isDropping = true;
    },
    pass: () => {
      isDropping = false;
    },
  };
}

for (const [what, answer] of [
  ['answers in MQTT 5 that it has none (0x84)', Buffer.from([0x20, 3, 0, 0x84, 0])],
  ['answers in 3.1.1 that the version is not accepted (1)', Buffer.from([0x20, 2, 0, 1])],
  ['closes the link of MQTT 5 without an answer', Buffer.alloc(0)],
] as const)
  test(`3.1.1 is used with a broker that ${what}`, async (t) => {
    const broker = await startMosquitto(t);
    const between = await stand(t, broker.port, answer);
    const hub = await startHub(t, { url: between.url });
    await reads(t, hub, broker.url);
    t.deepEqual([between.versions[0], between.versions.at(-1)], [5, 4]);
  });

test('a link through which nothing goes any more is noticed, and replaced', async (t) => {
  const broker = await startMosquitto(t);
  const between = await stand(t, broker.port);
  const hub = await startHub(t, { url: between.url, keepAlive: '1s', connectTimeout: '500ms' });
  await reads(t, hub, broker.url);
  between.drop();
  await eventually(() => hub.find('home/it')!.device?.staleSince !== undefined, 'a stale value');
  t.is(hub.find('home/it')!.value, 42);
  between.pass();
  await eventually(() => statusOf(hub, 'home').state === 'running', 'the connection to run again');
});

test('further hosts are tried in turn when the broker does not answer', async (t) => {
  const [first, second] = [await startMosquitto(t), await startMosquitto(t)];
  const hub = await startHub(t, { url: first.url, hosts: [second.url], connectTimeout: '500ms' });
  await eventually(() => statusOf(hub, 'home').state === 'running', 'the connection to run');
  await first.kill();
  await eventually(() => statusOf(hub, 'home').state === 'degraded', 'the loss');
  await reads(t, hub, second.url);
});
