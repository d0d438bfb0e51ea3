// Mail to a real server, Exim: over TLS and without, with right and wrong passwords, greylisted, refused, killed and stopped.

import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { readLimit, readMailbox } from '../../../lib/connections/mail/settings.ts';
import { type Hub, type HubOptions, monotonicScheduler } from '../../../lib/hub/index.ts';
import { mistakesOf } from '../../support/core.ts';
import { eventually } from '../../support/deadline.ts';
import { startExim } from '../../support/exim.ts';
import { startTestHub, statusOf, writer } from '../../support/hub.ts';
import { needs } from '../../support/programs.ts';

needs('exim4', 'openssl');

const value = (hub: Hub, address: string) => hub.find(address)?.value;
const has = (hub: Hub, address: string, expected: unknown) =>
  eventually(() => value(hub, address) === expected, `${address} = ${expected}, got ${value(hub, address)}`);
const isState = (hub: Hub, state: string) =>
  eventually(() => statusOf(hub, 'mail').state === state, `${state}, got ${statusOf(hub, 'mail').reason}`);
const becauseOf = (hub: Hub, pattern: RegExp) =>
  eventually(() => pattern.test(statusOf(hub, 'mail').reason), `${pattern}, got ${statusOf(hub, 'mail').reason}`);

const from = 'Studio 1 <studio@example.org>';
const siren = { to: 'night@example.org', subject: 'The siren' };
const desk = { type: 'dummy', parameters: ['level,F,0.5', 'name,S'] };
const start = (t: ExecutionContext, settings: object, options?: Partial<HubOptions>) =>
  startTestHub(t, { connections: { desk, mail: { type: 'mail', from, messages: { siren }, ...settings } } }, options);
const plain = (port: number) => ({ url: `smtp://127.0.0.1:${port}`, starttls: false });
const signedIn = { username: 'studio', password: 'right' };

test('a mail has its recipients, its subject and its text with values, and is counted', async (t) => {
  const exim = await startExim(t);
  const messages = {
    siren: {
      to: ['Night shift <night@example.org>', 'two@example.org'],
      subject: 'Siren: {value} ✓ {name}',
      text: 'Level {= level * 100} %, mic {name}\nwritten: {value}',
      type: 'S',
      replyTo: 'desk@example.org',
    },
  };
  const hub = await start(t, { ...plain(exim.port), messages, inputs: { level: 'desk/level', name: 'desk/name' } });
  await isState(hub, 'running');
  await has(hub, 'mail/siren/online', true);
  hub.write('mail/siren', 'one\r\nBcc: evil@example.org\r\n\r\nhello\u2028x', writer);
  await exim.has(2);
  const [mail] = await exim.mails();
  const [head, body] = mail!.split(/\n\n(.*)/s) as [string, string];
  t.regex(head, /^From: "?Studio 1"? <studio@example\.org>$/m);
  t.regex(head, /^To: "?Night shift"? <night@example\.org>, two@example\.org$/m);
  t.regex(head, /^Reply-To: desk@example\.org$/m);
  t.regex(head, /^Auto-Submitted: auto-generated$/m);
  t.regex(head, /^Message-ID: <[\w-]+@example\.org>$/m);
  t.notRegex(head, /^Bcc:/im);
  t.regex(body, /Level 50 %, mic unknown\nwritten: one\nBcc: evil@example\.org\n\nhello/);
  await has(hub, 'mail/siren/delivered', 1);
  t.is((await exim.mails()).length, 2, 'one for each recipient');
});

test('STARTTLS and TLS are verified, and a password is sent over them', async (t) => {
  const exim = await startExim(t);
  const ways = [
    { url: `smtp://localhost:${exim.port}`, tls: { caFile: exim.caFile } },
    { url: `smtps://localhost:${exim.securePort}`, tls: { caFile: exim.caFile } },
    { url: `smtps://127.0.0.1:${exim.securePort}`, tls: { fingerprint: exim.fingerprint } },
  ];
  for (const [index, way] of ways.entries()) {
    const hub = await start(t, { ...way, ...signedIn });
    await isState(hub, 'running');
    hub.write('mail/siren', true, writer);
    await exim.has(index + 1);
  }
  const mails = await exim.mails();
  t.is(mails.filter((one) => /with esmtpsa/.test(one)).length, 3, 'encrypted, and signed in');
});

test('a wrong password, certificate, name, port or server is a sentence, before any mail is sent', async (t) => {
  const exim = await startExim(t);
  const localhost = `smtps://localhost:${exim.securePort}`;
  const tls = { caFile: exim.caFile };
  const other = `${exim.fingerprint.slice(0, -2)}${exim.fingerprint.endsWith('00') ? '01' : '00'}`;
  const sentences: readonly (readonly [object, RegExp])[] = [
    [
      { url: localhost, tls, ...signedIn, password: 'wrong-one' },
      /^localhost:\d+: did not accept the username and the password: 535 /,
    ],
    [
      { url: localhost, ...signedIn },
      /^localhost:\d+: its certificate is self-signed; set tls\.caFile or tls\.fingerprint$/,
    ],
    [{ url: `smtp://localhost:${exim.port}`, ...signedIn }, /^localhost:\d+: its certificate is self-signed; set/],
    [{ url: `smtps://127.0.0.1:${exim.securePort}`, tls, ...signedIn }, /certificate is for another name/],
    [
      { url: localhost, tls: { fingerprint: other }, ...signedIn },
      /^localhost:\d+: expected the certificate .*, got .*$/,
    ],
    [{ url: 'smtps://nowhere.invalid' }, /^nowhere\.invalid:465: unknown host name$/],
    [{ url: 'smtp://127.0.0.1:9' }, /^127\.0\.0\.1:9: connect ECONNREFUSED 127\.0\.0\.1:9$/],
    [{ url: `smtps://localhost:${exim.port}`, tls, ...signedIn }, /^localhost:\d+: .+/],
  ];
  for (const [settings, sentence] of sentences) {
    const hub = await start(t, settings);
    await isState(hub, 'degraded');
    await becauseOf(hub, sentence);
    t.false(JSON.stringify([hub.lines, hub.wire('mail', 0), hub.connections()]).includes('wrong-one'));
    await hub.stop();
  }
  t.is((await exim.mails()).length, 0);
});

test('a limit suppresses mails, and the next mail says how many and since when', async (t) => {
  const exim = await startExim(t);
  let aheadMs = 0;
  const scheduler = { ...monotonicScheduler, now: () => monotonicScheduler.now() + aheadMs };
  const messages = { siren: { ...siren, text: 'on', limit: '1/1h' } };
  const hub = await start(t, { ...plain(exim.port), messages }, { scheduler });
  for (let number = 0; number < 4; number++) hub.write('mail/siren', true, writer);
  await exim.has(1);
  t.is(value(hub, 'mail/siren/suppressed'), 3);
  aheadMs = 3_600_000;
  hub.write('mail/siren', true, writer);
  await exim.has(2);
  t.regex(
    (await exim.mails())[1]!,
    /on\n\n3 more messages since \d{4}-.*Z were suppressed by the =?\n?limit of 1\/1h\./,
  );
});

test('a greylisted recipient gets the mail later and the others once, a refused one is reported', async (t) => {
  const exim = await startExim(t);
  const messages = {
    mixed: { to: ['night@example.org', 'busy@Example.org', 'nobody-here@example.org'], subject: 'mixed' },
    refused: { to: 'nobody-here@example.org', subject: 'refused' },
  };
  const hub = await start(t, { ...plain(exim.port), messages });
  hub.write('mail/mixed', true, writer);
  await becauseOf(hub, /answered 451 greylisted, try again later$/);
  t.is(value(hub, 'mail/mixed/pending'), 1);
  await hub.logged(/mixed: the server rejected a recipient: nobody-here@example\.org: 550 no such mailbox/);
  await exim.endGreylisting();
  await has(hub, 'mail/mixed/delivered', 1);
  await exim.has(2);
  const mails = await exim.mails();
  t.deepEqual(mails.map((one) => /^\tfor (\S+);$/m.exec(one)?.[1]).sort(), ['busy@example.org', 'night@example.org']);
  hub.write('mail/refused', true, writer);
  await has(hub, 'mail/refused/failed', 1);
  t.regex(statusOf(hub, 'mail').reason, /answered 550 no such mailbox$/);
});

test('mails wait while the server is killed or stopped, and none is lost', async (t) => {
  const exim = await startExim(t);
  const hub = await start(t, {
    ...plain(exim.port),
    timeout: 500,
    messages: { siren: { ...siren, type: 'I', subject: 'number {value}', limit: '100/1m' } },
  });
  await isState(hub, 'running');
  await exim.kill();
  for (let number = 1; number <= 3; number++) hub.write('mail/siren', number, writer);
  await becauseOf(hub, /connect ECONNREFUSED/);
  t.is(value(hub, 'mail/siren/pending'), 3);
  await exim.start();
  await has(hub, 'mail/siren/delivered', 3);
  exim.signal('SIGSTOP');
  hub.write('mail/siren', 4, writer);
  await isState(hub, 'degraded');
  await has(hub, 'mail/siren/online', false);
  exim.signal('SIGCONT');
  await has(hub, 'mail/siren/delivered', 4);
  await exim.has(4);
  const subjects = (await exim.mails()).map((one) => /^Subject: (.*)$/m.exec(one)?.[1]); // Exim delivers them at once
  t.deepEqual([...new Set(subjects)].sort(), ['number 1', 'number 2', 'number 3', 'number 4']);
});

test('a server that answers without end costs no memory that grows', async (t) => {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    const more = () => {
      while (socket.writable && socket.write('x'.repeat(65_536)));
    };
    socket.on('drain', more);
    more();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as { port: number };
  const hub = await start(t, { ...plain(port), timeout: 1000 });
  await isState(hub, 'degraded');
  t.true(process.memoryUsage().rss < 1_000_000_000, `${process.memoryUsage().rss}`);
});

test('a connection that stops ends its dialogue with the server', async (t) => {
  const server = createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const opened = once(server, 'connection');
  const hub = await start(t, { ...plain((server.address() as { port: number }).port), timeout: '1m' });
  const [socket] = (await opened) as [Socket];
  const startedMs = performance.now();
  await hub.stop();
  await eventually(() => socket.destroyed, 'the end of the connection');
  t.true(performance.now() - startedMs < 20_000, 'it does not wait for an answer');
});

test('a mail waits while a server refuses the hub itself, or does not encrypt', async (t) => {
  const server = createServer((socket) => {
    socket.on('error', () => {}).write('220 spec\r\n');
    socket.on('data', (command) => socket.write(/^EHLO/.test(`${command}`) ? '250 spec\r\n' : '554 not you\r\n'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as { port: number };
  const hub = await start(t, { url: `smtp://localhost:${port}`, ...signedIn });
  hub.write('mail/siren', true, writer);
  await becauseOf(hub, /^localhost:\d+: does not encrypt: 554 not you; use smtps:\/\/, or another server$/);
  t.is(value(hub, 'mail/siren/pending'), 1);
  t.is(value(hub, 'mail/siren/failed'), 0);
});

test('addresses and limits are read strictly', (t) => {
  t.deepEqual(readMailbox('a.b+c@example.org'), { name: '', address: 'a.b+c@example.org' });
  t.deepEqual(readMailbox('"Night, shift" <n@localhost>'), { name: 'Night, shift', address: 'n@localhost' });
  for (const wrong of [
    '',
    'a',
    '@b',
    'a@',
    'a b@c',
    'a@b c',
    'a@b\nBcc: c@d',
    'a@b, c@d',
    'a@b <c@d>x',
    'a@b..c',
    '.a@b',
    'a@-b',
    `${'a'.repeat(65)}@b`,
    'N\r\nX: y <a@b>',
  ])
    t.is(readMailbox(wrong), undefined, wrong);
  t.deepEqual(readLimit('2/1h'), { count: 2, durationMs: 3_600_000 });
  for (const wrong of ['', '1', '0/5m', '1/', '1/5', 'x/5m', '-1/5m', '1/5x']) t.is(readLimit(wrong), undefined, wrong);
});

test('each error in the settings has its place', async (t) => {
  const mistakes = async (settings: object) =>
    (
      await mistakesOf(t, {
        connections: { mail: { type: 'mail', url: 'smtps://a', from, messages: { siren }, ...settings } },
      })
    ).join('\n');
  t.is(await mistakes({}).catch(String), '');
  t.regex(await mistakes({ url: 'https://a' }), /mail\.url: expected the address of a mail server/);
  const withPassword = await mistakes({ url: 'smtps://studio:hidden@a' });
  t.regex(withPassword, /use the settings `username` and `password`/);
  t.notRegex(withPassword, /hidden/);
  t.regex(await mistakes({ username: 'x' }), /mail\.password: expected both username and password/);
  t.regex(
    await mistakes({ url: 'smtp://a', starttls: false, ...signedIn }),
    /mail\.starttls: expected true, because anyone on the network/,
  );
  t.regex(await mistakes({ from: 'me' }), /mail\.from: expected an address such as/);
  t.regex(await mistakes({ messages: { siren: { ...siren, to: ['a@b', 'c d@e'] } } }), /messages\.siren\.to\[1\]/);
  t.regex(
    await mistakes({ messages: { siren: { ...siren, limit: '5m' } } }),
    /messages\.siren\.limit: expected a limit such as '1\/5m'/,
  );
  t.regex(
    await mistakes({ messages: { siren: { ...siren, text: '{valu}', type: 'I' } } }),
    /unknown name "valu", did you mean "value"/,
  );
  t.regex(await mistakes({ messages: {} }), /expected 1 to 1000 messages/);
});
