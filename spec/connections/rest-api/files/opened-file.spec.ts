// What was opened counts (D-16): a folder that is swapped for a link while it is read leads nowhere, and the files of the installation are
// served to nobody, whatever they are called.

import { execFileSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  fstatSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import test from 'ava';
import { findFile } from '../../../../lib/connections/rest-api/files/document-root.ts';
import { placeOfOpened } from '../../../../lib/connections/rest-api/files/opened-file.ts';
import {
  closeDescriptor,
  descriptorStats,
  openDescriptor,
  type Reading,
  readBytes,
  readNow,
} from '../../../../lib/connections/rest-api/files/reading.ts';
import { readFlags } from '../../../../lib/files/regular-file.ts';
import { checkFlows, startHub } from '../../../../lib/hub/index.ts';
import { createLogRecorder } from '../../../support/connection.ts';
import { eventually } from '../../../support/deadline.ts';
import { createFolder } from '../../../support/folder.ts';
import { api, portsOf } from '../../../support/hub.ts';

/** Finds, opens and reads a file below a root, as a request does. */
function* readBelow(root: string, path: string): Reading<string> {
  const place = yield* findFile(root, path, path, '');
  if ('location' in place) return '';
  const descriptor = yield* openDescriptor(place.file, readFlags);
  try {
    const stats = yield* descriptorStats(descriptor);
    yield* place.check?.(descriptor, stats) ?? [];
    const buffer = Buffer.alloc(stats.size);
    yield* readBytes(descriptor, buffer, 0);
    return buffer.toString();
  } finally {
    yield* closeDescriptor(descriptor);
  }
}

/** Takes the steps of a reading, and does something before one of them and before a later one; returns how many there were. */
function take(reading: Reading<string>, moments: ReadonlyMap<number, () => void>): { text: string; steps: number } {
  let steps = 0;
  let next = reading.next();
  try {
    for (; !next.done; steps++) {
      moments.get(steps)?.();
      let found: unknown;
      try {
        found = next.value.now();
      } catch (error) {
        next = reading.throw(error);
        continue;
      }
      next = reading.next(found);
    }
    return { text: next.value, steps };
  } catch {
    return { text: 'none', steps };
  }
}

for (const [what, path, swapped] of [
  ['a folder', '/folder/x.txt', 'folder'],
  ['a folder above', '/folder/deep/x.txt', 'folder'],
  ['a file', '/file.txt', 'file.txt'],
  ['an index', '/index/', 'index/index.html'],
] as const)
  test(`${what} that is replaced by a link at any moment shows nothing from outside`, async (t) => {
    const folder = await createFolder(t, {
      'www/folder/x.txt': 'inside',
      'www/folder/deep/x.txt': 'inside',
      'www/file.txt': 'inside',
      'www/index/index.html': 'inside',
      'secret/x.txt': 'secret',
      'secret/deep/x.txt': 'secret',
    });
    const root = join(folder, 'www');
    const name = join(root, swapped);
    symlinkSync(join(folder, what.startsWith('a folder') ? 'secret' : 'secret/x.txt'), join(folder, 'link'));
    const swap = () => {
      renameSync(name, join(folder, 'kept'));
      renameSync(join(folder, 'link'), name);
    };
    const swapBack = () => {
      renameSync(name, join(folder, 'link'));
      renameSync(join(folder, 'kept'), name);
    };
    const { text, steps } = take(readBelow(root, path), new Map());
    t.is(text, 'inside');
    for (let from = 0; from <= steps; from++)
      for (let to = from + 1; to <= steps + 1; to++) {
        const moments = new Map([
          [from, swap],
          [to, swapBack],
        ]);
        const reported = take(readBelow(root, path), moments).text;
        t.true(['inside', 'none'].includes(reported), `${reported} when it is swapped from step ${from} to step ${to}`);
        if (existsSync(join(folder, 'kept'))) swapBack();
      }
  });

test('if the system does not show the path of an open file, it must be the file of its own path', async (t) => {
  const folder = await createFolder(t, { a: 'a', b: 'b' });
  const path = join(folder, 'a');
  const descriptor = openSync(path, 'r');
  t.teardown(() => closeSync(descriptor));
  const place = (system?: string) => readNow(placeOfOpened(descriptor, fstatSync(descriptor), path, system));
  t.is(place(), path);
  t.is(place('/nowhere'), path);
  renameSync(path, join(folder, 'c'));
  t.is(place(), join(folder, 'c'));
  renameSync(join(folder, 'b'), path);
  t.is(place('/nowhere'), undefined);
});

const root = resolve(import.meta.dirname, '../../../..');
const program = `import { defineFlow } from ${JSON.stringify(join(root, 'lib/index.ts'))};
import { name } from ${JSON.stringify('./helper.ts')};
export default defineFlow({ connections: { ts: { type: 'dummy', parameters: [name] } } });`;

/** An installation that serves its own folder, to whoever has the password. */
const installation = {
  'flows/a.json5': {
    connections: {
      api: {
        ...api,
        documentRoot: '..',
        dashboards: '../boards',
        deviceFile: '../devices.json',
        username: 'u',
        password: { file: '../password.txt' },
      },
      more: { ...api, enabled: false, tls: { certFile: '../hub.crt', keyFile: '../hub.key' } },
      store: { type: 'store', folder: '../data' },
      onair: { type: 'xml-file-output', filename: '../onair.xml', templateFile: '../onair.in.xml' },
      net: {
        ...{ type: 'nats', enabled: false, domain: 'd', hub: 'h', mirrors: '../mirrors.json' },
        credentials: { file: '../hub.creds' },
      },
      desk: { type: 'dummy', parameters: ['a,S,x'] },
    },
  },
  'flows/b.json5': { instances: { template: '../templates/_t.json5', each: { one: {} } } },
  'templates/_t.json5': { connections: { '${instance}': { type: 'dummy', parameters: ['a'] } } },
  'flows/c.ts': program,
  'flows/helper.ts': "export const name = 'a';\nexport default { connections: {} };",
  'lib/outside.ts': "export const other = 'b';",
  'package.json': { type: 'module' },
  'password.txt': 'hunter22\n',
  'devices.json': { devices: [] },
  'boards/studio.json5': { widgets: [] },
  'hub.key': 'key',
  'hub.creds': 'creds',
  'mirrors.json': {},
  'onair.in.xml': '<a>$X</a>',
};
const served = {
  'hub.crt': 'certificate',
  'boards/logo.svg': '<svg/>',
  'onair.xml': '<a/>',
  'index.html': 'top',
  'flows/panel/index.html': 'panel',
  'values.db.html': 'page',
  'password.txt.html': 'about passwords',
  'passwords.txt': 'about passwords',
  'hub.html': 'page',
  'hub-key.html': 'page',
  'flows/a.html': 'page',
  'flows/a2.html': 'page',
};

test.serial('files of the installation are never served under any name, and check names them', async (t) => {
  const folder = await createFolder(t, { ...installation, ...served });
  const log = createLogRecorder();
  const hub = await startHub({ paths: [join(folder, 'flows')], log });
  t.teardown(() => hub.stop());
  const [port] = portsOf(log);
  const headers = { authorization: `Basic ${Buffer.from('u:hunter22').toString('base64')}` };
  const get = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}/${path}`, { headers });
    return answer.status === 200 ? answer.text() : answer.status;
  };
  // all of them, since what comes is known a second later
  const parts = ['values', 'history', 'audit'].map((name) => join(folder, 'data', `${name}.db-shm`));
  await eventually(() => parts.every(existsSync), 'the databases');
  for (const [path, content] of Object.entries(served)) t.is(await get(path), content, path);
  const databases = readdirSync(join(folder, 'data')).filter((name) => !name.startsWith('.'));
  t.true(databases.includes('values.db') && databases.includes('audit.db') && databases.includes('hub.lock'));
  const secrets = Object.keys(installation).filter((name) => !['package.json', 'lib/outside.ts'].includes(name));
  secrets.push(...databases.map((name) => `data/${name}`));
  for (const [index, path] of secrets.entries()) {
    t.is(await get(path), 404, path);
    linkSync(join(folder, path), join(folder, `hard${index}.txt`));
    t.is(await get(`hard${index}.txt`), 404, `a hard link to ${path}`);
    symlinkSync(path, join(folder, `soft${index}.txt`));
    t.is(await get(`soft${index}.txt`), 404, `a link to ${path}`);
  }

  // what an editor leaves, and what is not loaded yet
  for (const path of [
    'flows/a.json5~',
    'flows/a.json5.bak',
    'flows/a.bak',
    'flows/a.json5.2026-11-29',
    'flows/a.json5.gz',
    'flows/a.json5 (copy)',
    'flows/a.json5-backup',
    'Copy of password.txt',
    'hub.old',
    'hub (1).key',
    'hub - Copy.key',
    'hub.key.1',
    'hub copy 2.key',
    'password_old.txt',
    'password-20261129.txt',
    'password (Kopie).txt',
    '#password.txt#',
    'password.txt~',
    'flows/new.json5',
    'data/values.damaged-1.db',
    'data/backup.part/0',
    'flows/_old/a.json5',
  ]) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), 'secret');
    t.is(await get(path.replaceAll('#', '%23')), 404, path);
  }
  writeFileSync(join(folder, 'next'), 'hunter23\n');
  renameSync(join(folder, 'next'), join(folder, 'password.txt'));
  t.is(await get('password.txt'), 404, 'the moment after it was saved');

  rmSync(join(folder, 'flows/new.json5'));
  const { plan, mistakes } = await checkFlows([join(folder, 'flows')]);
  t.deepEqual(mistakes, []);
  const hints = plan.hints!().filter((hint) => hint.includes('documentRoot'));
  t.is(hints.length, 1);
  t.regex(
    hints[0]!,
    /a\.json5:\d+:\d+: connections\.api\.documentRoot: expected a folder without files of the installation, which are never served: boards\/studio\.json5, data\/audit\.db, .* and \d+ more$/,
  );
});

test('a separate Document Root has no hint, also below the flow files, and a replaced file is found again', async (t) => {
  const folder = await createFolder(t, {
    'flows/a.json5': {
      connections: { api: { ...api, documentRoot: 'www', dashboards: '.' }, store: { type: 'store', folder: '.' } },
    },
    'flows/www/index.html': 'top',
  });
  const { plan } = await checkFlows([join(folder, 'flows')]);
  t.deepEqual(
    plan.hints!().filter((hint) => hint.includes('documentRoot')),
    [],
  );
});

test('a folder that is mounted elsewhere is recognized by its identity', async (t) => {
  if (process.getuid?.() !== 0 || process.platform !== 'linux') return t.pass();
  const folder = await createFolder(t, { 'data/values.db': 'secret', 'www/x.txt': 'open' });
  mkdirSync(join(folder, 'www/mounted'));
  const check = `
    import { PrivateFileCheck } from ${JSON.stringify(join(root, 'lib/connections/rest-api/files/opened-file.ts'))};
    import { readNow } from ${JSON.stringify(join(root, 'lib/connections/rest-api/files/reading.ts'))};
    import { statSync } from 'node:fs';
    const check = new PrivateFileCheck(() => ({ privateFiles: [{ path: '${folder}/data', names: /^values/ }] }));
    const path = '${folder}/www/mounted/values.db-wal';
    console.log(readNow(check.holds(path, statSync('${folder}/www/x.txt'))));`;
  const script = join(folder, 'check.ts');
  writeFileSync(script, check);
  const reported = execFileSync('unshare', [
    '-m',
    'sh',
    '-c',
    `mount --bind ${folder}/data ${folder}/www/mounted && ${process.execPath} ${script}`,
  ]);
  t.is(reported.toString().trim(), 'true');
});
