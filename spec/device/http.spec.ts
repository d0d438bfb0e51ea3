// The HTTP transport by itself: what a link does after an error of TLS.

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';
import test from 'ava';
import { httpTransport } from '../../lib/device/http.ts';
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
