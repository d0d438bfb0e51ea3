// The HTTP transport by itself: what a link does after an error of TLS.

import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import test from 'ava';
import { httpTransport } from '../../lib/device/http.ts';
import type { Link } from '../../lib/device/transport.ts';
import { createFolder } from '../support/folder.ts';
import { makeCertificate } from '../support/system/certificate.ts';

test('after a certificate for another name, each request fails with the reason, until the device has the right one', async (t) => {
  t.timeout(20_000); // undici alone sends nothing more over a connection after this error
  const folder = await createFolder(t);
  const wrong = makeCertificate(folder, 'wrong', { names: 'DNS:other.test' });
  const right = makeCertificate(folder, 'right');
  const keyOf = (name: string) => readFileSync(join(folder, `${name}.key`));
  const server = createServer({ cert: wrong, key: keyOf('wrong') }, (_, response) => response.end('fine'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as { port: number };
  const transport = httpTransport({
    url: new URL(`https://127.0.0.1:${port}/`),
    tls: { ca: Buffer.from(wrong + right) },
    credentials: {},
    connections: 1,
    connectTimeoutMs: 5000,
  });
  let report: (outcome: string) => void = () => {};
  const opened = Promise.withResolvers<void>();
  const link = transport.open({
    opened: () => opened.resolve(),
    received: (bytes) => report(Buffer.from(bytes).toString()),
    failed: (_, reason) => report(reason),
    closed: (reason) => report(`closed: ${reason}`),
  });
  t.teardown(() => link.end());
  await opened.promise;
  const ask = () => {
    const outcome = new Promise<string>((resolve) => {
      report = resolve;
    });
    link.send(Buffer.from('GET /'), {});
    return outcome;
  };
  for (let time = 0; time < 3; time++)
    t.regex(await ask(), /^its certificate is for another name: Hostname\/IP does not/);
  server.setSecureContext({ cert: right, key: keyOf('right') });
  t.is(await ask(), 'fine');
});

for (const isTls of [false, true])
  for (const framing of ['Connection: close\r\n', 'Content-Length: 100\r\n', 'Transfer-Encoding: chunked\r\n'])
    for (const ends of ['cancel', 'end'] as const)
      test.serial(
        `an answer with ${framing.trim()} over ${isTls ? 'TLS' : 'TCP'} that does not end can be given up (${ends})`,
        async (t) => {
          const folder = await createFolder(t);
          const cert = isTls ? makeCertificate(folder, 'device') : '';
          const answer = (socket: Socket) => {
            socket.on('error', () => {});
            socket.on('data', () => socket.write(`HTTP/1.1 200 OK\r\n${framing}\r\n4\r\npart`));
          };
          const server = isTls
            ? createTlsServer({ cert, key: readFileSync(join(folder, 'device.key')) }, answer)
            : createTcpServer(answer);
          server.listen(0, '127.0.0.1');
          await once(server, 'listening');
          t.teardown(() => server.close());
          const { port } = server.address() as { port: number };
          const reports: string[] = [];
          const opened = Promise.withResolvers<void>();
          const connected = once(server, isTls ? 'secureConnection' : 'connection') as Promise<[Socket]>;
          const link = httpTransport({
            url: new URL(`${isTls ? 'https' : 'http'}://127.0.0.1:${port}/`),
            tls: isTls ? { ca: Buffer.from(cert) } : undefined,
            credentials: {},
            connections: 1,
            connectTimeoutMs: 5000,
          }).open({
            opened: () => opened.resolve(),
            received: (bytes) => reports.push(Buffer.from(bytes).toString()),
            failed: (_, reason) => reports.push(reason),
            closed: (reason) => reports.push(`closed: ${reason}`),
          });
          await opened.promise;
          const headReceived = new Promise<void>((resolve) => {
            const received = () => {
              unsubscribe('undici:request:headers', received);
              resolve();
            };
            subscribe('undici:request:headers', received);
          });
          const key = {};
          link.send(Buffer.from('GET /'), key);
          const [socket] = await connected;
          const closed = new Promise((resolve) => socket.once('close', resolve));
          await headReceived;
          if (ends === 'cancel') link.cancel!(key);
          else (link as Link).end(true);
          await closed; // an uncaught error of undici would end this process
          await new Promise((resolve) => setImmediate(resolve));
          t.deepEqual(reports, []);
          link.end();
        },
      );
