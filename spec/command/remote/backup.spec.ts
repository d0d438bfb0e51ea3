// `patchbay backup` and `patchbay restore`: a hub in another folder, whole or not at all.

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { backup, restore } from '../../../lib/command/remote/backup-command.ts';
import type { Backup } from '../../../lib/connections/persistence.ts';
import { startHub } from '../../../lib/hub/index.ts';
import { createLogRecorder } from '../../support/connection.ts';
import { eventually } from '../../support/deadline.ts';
import { createFolder } from '../../support/folder.ts';
import { ask } from '../../support/http.ts';
import { api, portsOf, startHubFrom, writer } from '../../support/hub.ts';
import { oddFiles } from '../../support/odd-file.ts';
import { shared } from '../../support/shared.ts';
import { call, runToEnd } from '../../support/system/process.ts';

const flow = (settings: object = {}) => ({
  connections: {
    api: { ...api, dashboards: 'dashboards', ...settings },
    store: { type: 'store', folder: '../data', snapshots: { all: { include: ['desk/**'] } } },
    desk: { type: 'dummy', parameters: ['lamp,B', 'text'] },
    file: { type: 'xml-file-output', filename: 'out.xml', templateFile: '../templates/t.xml' },
  },
});
const files = (settings?: object) => ({
  'studio/flows/flow.json5': flow(settings),
  'studio/flows/dashboards/one.json5': "{ title: 'One', widgets: [] }",
  'studio/flows/copy.ts':
    "import { name } from './_name.ts';\nexport default { rules: [{ name, from: 'desk/text', to: 'file/A' }] };\n",
  'studio/flows/_name.ts': "export const name = 'copy';\n",
  'studio/templates/t.xml': '<a>$A</a>',
});
/** A hub of a flow file alone. */
const plain = shared((t) => {
  const proxied = { ...api, allowedHosts: ['hub.example'] };
  const trusting = { ...api, trustedProxies: ['127.0.0.1'] };
  const apis = { open: api, guarded: { ...api, token: 'YQ==' }, proxied, trusting };
  return startHubFrom(t, { 'flow.json5': { connections: { ...apis, store: { type: 'store', folder: 'data' } } } });
});
const options = (port: number, token = '') => ({ url: `http://127.0.0.1:${port}`, username: '', password: '', token });
const quiet = { print: () => {}, printError: () => {} };

test('a backup has all files of a hub, and a hub runs in the restored folder', async (t) => {
  const hub = await startHubFrom(t, files());
  hub.write('desk/lamp', true, writer);
  hub.write('store/all/save', 'evening', writer);
  hub.write('desk/text', 'now', writer);
  const folder = await createFolder(t);
  const [file, restored] = [join(folder, 'a.tar'), join(folder, "olivia's $(deep)/restored")];
  const made = await runToEnd(t, ['backup', file, '--url', options(hub.port).url]);
  t.regex(made.output, /a\.tar: \d+ files, [\d,]+ bytes, as of \S+Z\n$/);
  const { status, output } = await call((console) => restore(file, restored, 'patchbay', console));
  t.is(status, 0);
  const [, word] = /\nRun the hub: patchbay run (.*)\n$/.exec(output)!;
  const root = execFileSync('sh', ['-c', `printf %s ${word}`], { encoding: 'utf8' }); // as one word
  const names = (await readdir(restored, { recursive: true })).sort();
  for (const name of Object.keys(files()))
    t.true(
      names.some((one) => one.endsWith(name.slice('studio/'.length))),
      name,
    );
  const log = createLogRecorder();
  const next = await startHub({ paths: [root!], log });
  t.teardown(() => next.stop());
  t.deepEqual([next.find('desk/lamp')!.value, next.find('desk/text')!.value], [true, 'now']);
  next.write('desk/text', 'later', writer);
  t.is(next.find('file/A')!.value, 'later', 'flows in TypeScript run with what they import');
  next.write('store/all/recall', 'evening', writer);
  const [port] = portsOf(log) as [number];
  t.is((await ask(t, port, 'GET /hub/dashboards')).text, '{"dashboards":["one"]}\n');
});

test('a folder that is not empty, and a file that is not a backup, change nothing', async (t) => {
  const folder = await createFolder(t, { 'full/x': '', 'a.tar': 'no archive' });
  const refuse = (file: string, target: string, message: RegExp) =>
    t.throwsAsync(restore(join(folder, file), join(folder, target), 'patchbay', quiet), { message });
  await refuse('a.tar', 'full', /full: expected an empty folder, got a folder that contains x$/);
  await refuse('a.tar', 'a.tar', /expected an empty folder, got a file$/);
  await refuse('a.tar', 'new', /a\.tar: expected more data, got the end of the file: the backup is incomplete$/);
  await refuse('none.tar', 'new', /none\.tar: expected an archive, got none$/);
  for (const odd of oddFiles.filter(({ kind }) => !kind.startsWith('a huge') && !kind.includes('without a size'))) {
    await odd.make(join(folder, 'odd.tar'), t);
    await refuse('odd.tar', 'new', new RegExp(`odd\\.tar: expected an archive, got .*${odd.reported.source}$`));
    await rm(join(folder, 'odd.tar'), { recursive: true });
    await rm(join(folder, 'odd.tar.target'), { force: true });
  }
  await mkdir(join(folder, 'empty'));
  await refuse('a.tar', 'empty', /the backup is incomplete$/);
  t.deepEqual((await readdir(folder)).sort(), ['a.tar', 'empty', 'full']);
  t.deepEqual(await readdir(join(folder, 'empty')), []);
});

/** A server that is no hub. */
async function serve(t: ExecutionContext, body: Buffer, claimedBytes: number): Promise<number> {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-length': claimedBytes });
    response.write(body, () => response.destroy());
  }).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

test('a hub that is lost during a backup, or gives an unexpected answer, leaves the file unchanged', async (t) => {
  const folder = await createFolder(t, { 'a.tar': 'the one before' });
  const file = join(folder, 'a.tar');
  const port = await serve(t, Buffer.alloc(100_000, 'x'), 100_000_000);
  await t.throwsAsync(backup(file, options(port), quiet), { message: /a\.tar: cannot make a complete backup: / });
  await writeFile(join(folder, 'no-folder'), '');
  await t.throwsAsync(backup(join(folder, 'no-folder/a.tar'), options(port), quiet), { message: /ENOTDIR/ });
  t.is(await readFile(file, 'utf8'), 'the one before');
  t.deepEqual((await readdir(folder)).sort(), ['a.tar', 'no-folder']);
});

test.serial(
  'a backup needs credentials; a hub without credentials only gives it to programs on its machine',
  async (t) => {
    const [open, guarded, ...proxied] = portsOf(await plain()) as [number, number, number, number];
    const file = join(await createFolder(t), 'a.tar');
    await t.throwsAsync(backup(file, options(guarded), quiet), { message: /expected valid credentials for this hub/ });
    t.is(await backup(file, options(guarded, 'YQ=='), quiet), 0);
    const request = 'GET /hub/backup';
    for (const header of ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip'])
      t.is((await ask(t, open, request, { headers: { [header]: '10.0.0.3' } })).status, 403, header);
    t.is((await ask(t, open, request, { headers: { 'sec-fetch-site': 'cross-site' } })).status, 403);
    t.is((await ask(t, open, request, { headers: { origin: 'http://other.example' } })).status, 403);
    t.is(proxied.length, 2);
    for (const port of proxied) {
      const { status, text } = await ask(t, port, request);
      t.deepEqual([status, JSON.parse(text).code], [403, 'forbidden']);
    }
  },
);

test.serial('one backup is made at a time, and a database that cannot be copied is named', async (t) => {
  const hub = await plain();
  const { storage } = hub.persistence.archive!;
  let first: Backup | undefined; // that of a test before may be on its way to its end
  await eventually(async () => {
    first = await storage!.backUp().catch(() => undefined);
    return first !== undefined;
  }, 'a backup');
  await t.throwsAsync(storage!.backUp(), { code: 'conflict' });
  t.is((await ask(t, hub.port, 'GET /hub/backup')).status, 409);
  await first!.end();
  await (await storage!.backUp()).end();
  const askDamaged = async () => {
    await writeFile(join(storage!.folder, 'history.db'), 'x'.repeat(10_000));
    return ask(t, hub.port, 'GET /hub/backup');
  };
  let { status, text } = await askDamaged();
  // the hub had mended it, or the backup before has not ended yet
  for (let attempt = 0; attempt < 100 && [200, 409].includes(status); attempt++)
    ({ status, text } = await askDamaged());
  t.is(status, 503);
  t.regex(JSON.parse(text).detail, /^cannot make a backup: cannot copy .*history\.db: .*(malformed|not a database)/);
  t.false((await readdir(storage!.folder)).includes('backup.part'));
});
