// Hosted driver modules: modules of our own on the real base packages 1.14.1 and 2.0.4, with a device on TCP. They work, misbehave at every
// stage, and reach for what they must not.

import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { add, list, show } from '../../../lib/command/drivers.ts';
import { maxFailedStarts, maxKills } from '../../../lib/connections/companion/companion.ts';
import { openDriver } from '../../../lib/connections/companion/package.ts';
import type { Hub } from '../../../lib/index.ts';
import { eventually } from '../../support/deadline.ts';
import { createFolder } from '../../support/folder.ts';
import { startTestHub, statusOf, writer } from '../../support/hub.ts';
import { type ModuleOptions, moduleFiles, writeModule, writeTgz } from './build.ts';

const value = (hub: Hub, id: string) => hub.find(`it/${id}`)?.value;
const has = (hub: Hub, id: string, expected: unknown) =>
  eventually(() => value(hub, id) === expected, `${id} = ${expected}, got ${value(hub, id)}`);
const isStale = (hub: Hub, id: string) => hub.find(`it/${id}`)!.device?.staleSince !== undefined;
const reasonOf = (hub: Hub) => String((statusOf(hub, 'it') as { reason?: string }).reason);

/** A device that answers each line with itself, to everybody. */
async function startDevice(t: ExecutionContext, port = 0) {
  const sockets = new Set<Socket>();
  let program = 'program 1\n';
  let isMute = false;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    socket.write(program);
    socket.on('data', (data) => {
      if (isMute) return;
      program = data.toString();
      for (const one of sockets) one.write(program);
    });
  }).listen(port, '127.0.0.1');
  await once(server, 'listening');
  const close = async () => {
    for (const socket of sockets) socket.destroy();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  };
  t.teardown(close);
  return {
    port: (server.address() as { port: number }).port,
    close,
    sockets,
    mute: () => {
      isMute = true;
    },
  };
}

const parts = {
  values: {
    program: { variable: 'program', type: 'I' },
    label: { variable: 'label' },
    three: { feedback: 'program', options: { input: 3 } },
  },
  writes: {
    program: { action: 'program', options: { input: '{value}' }, confirm: 'program' },
    misbehave: { action: 'misbehave' },
  },
};

async function start(t: ExecutionContext, options: ModuleOptions, settings: object = {}, port = 1) {
  const module = await createFolder(t);
  await writeModule(module, options);
  return startTestHub(t, {
    connections: {
      it: {
        ...{ type: 'companion', module, config: { host: '127.0.0.1', port }, allowHosts: ['127.0.0.1'], ...parts },
        ...settings,
      },
      other: { type: 'dummy', parameters: ['x,I'] },
    },
  });
}

for (const api of [1, 2] as const) {
  test.serial(
    `API ${api}: variables and feedbacks are values, actions are writes, and a value confirms its write`,
    async (t) => {
      const device = await startDevice(t);
      const hub = await start(t, { api }, {}, device.port);
      await eventually(() => statusOf(hub, 'it').state === 'running', 'a running module');
      await has(hub, 'program', 1);
      await has(hub, 'three', false);
      hub.write('it/program', 3, writer);
      t.is(hub.find('it/program')!.wanted?.value, 3);
      await has(hub, 'program', 3);
      await has(hub, 'three', true);
      await has(hub, 'label', 'source 3');
      t.is(hub.find('it/program')!.lastChange?.cause?.origin.name, 'spec');

      hub.write('it/program', 13, writer);
      await hub.logged(/program: the action failed: .*13 is not a source/);
      t.is(hub.find('it/program')!.wanted, undefined);
      t.is(value(hub, 'program'), 3);
    },
  );

  test.serial(
    `API ${api}: a device that is gone makes the values stale; writes are refused until it is back`,
    async (t) => {
      const device = await startDevice(t);
      const hub = await start(t, { api }, {}, device.port);
      await has(hub, 'program', 1);
      await device.close();
      await eventually(() => isStale(hub, 'program'), 'stale');
      t.regex(reasonOf(hub), /^module spec-device 1\.2\.3: (?:disconnected|connection failure: .*ECONNREFUSED)/);
      t.throws(() => hub.write('it/program', 2, writer), { message: /the module's device is offline/ });
      await startDevice(t, device.port);
      await eventually(() => !isStale(hub, 'program') && statusOf(hub, 'it').state === 'running', 'fresh');
    },
  );

  test.serial(`API ${api}: a config that lacks a field starts nothing, and the operator reads which`, async (t) => {
    const device = await startDevice(t);
    const hub = await start(t, { api }, { config: { port: device.port } });
    await eventually(() => statusOf(hub, 'it').state === 'failed', 'a failed connection');
    t.is(
      reasonOf(hub),
      'config: module spec-device 1.2.3 also needs host (textinput, such as "192.0.2.1"); the module was not started',
    );
    t.is(device.sockets.size, 0);
  });

  test.serial(
    `API ${api}: a module that crashes at any stage is named and started again, and gives up when it never starts`,
    async (t) => {
      const runs = await Promise.all(
        [
          'crash at import',
          'crash at construct',
          'crash at fields',
          'crash at init',
          'exit at init',
          'reject at init',
        ].map(async (mode) => ({ mode, hub: await start(t, { api, mode }) })),
      );
      for (const { mode, hub } of runs) {
        const isNamed = () =>
          /^module spec-device 1\.2\.3.*(?:it crashes|exit code 7|ECONNREFUSED)/.test(reasonOf(hub));
        await eventually(isNamed, `${mode}: the name of the module and the reason`); // meanwhile it may be connecting
        hub.write('other/x', 1, writer);
        t.is(hub.find('other/x')?.value, 1);
      }
      const [{ hub }] = runs as [(typeof runs)[number]];
      await eventually(() => statusOf(hub, 'it').state === 'failed', 'a module that is refused');
      t.regex(
        reasonOf(hub),
        new RegExp(`ended ${maxFailedStarts} times before it was ready, most recently because it crashes on purpose`),
      );
    },
  );

  test.serial(
    `API ${api}: a module that crashes while it runs is started again, and its values are fresh again`,
    async (t) => {
      const device = await startDevice(t);
      const hub = await start(t, { api, mode: 'reject at later' }, {}, device.port);
      await has(hub, 'program', 1);
      hub.write('it/misbehave', true, writer);
      await eventually(() => isStale(hub, 'program'), 'stale');
      t.regex(reasonOf(hub), /^module spec-device 1\.2\.3: it crashes later .*; the hub starts it again$/);
      await eventually(() => !isStale(hub, 'program'), 'fresh');
    },
  );

  test.serial(
    `API ${api}: a module reaches only the allowed hosts, reads no files, starts no programs, and sees no environment`,
    async (t) => {
      const device = await startDevice(t);
      const settings = { values: { tried: { variable: 'program' } }, writes: {}, allowHosts: ['127.0.0.1'] };
      const triedBy = async (way: string) => {
        const hub = await start(t, { api, mode: `${way} at init` }, settings, device.port);
        await eventually(() => /: .*: /.test(String(value(hub, 'tried'))), `what ${way} has tried`);
        return { hub, tried: String(value(hub, 'tried')) };
      };
      const { hub, tried } = await triedBy('elsewhere');
      for (const what of ['tcp', 'own lookup', 'udp', 'lookup', 'resolver', 'listen', 'fetch'])
        t.true(tried.includes(`${what}: EACCES`), tried);
      await hub.logged(/module spec-device 1\.2\.3 was not permitted to connect to 192\.0\.2\.7:9/);
      const files = (await triedBy('files')).tried;
      t.is(
        files,
        'read /etc/passwd: ERR_ACCESS_DENIED; read environment: MODULE_MANIFEST,CONNECTION_ID,VERIFICATION_TOKEN; read /proc: ERR_ACCESS_DENIED; write: ERR_ACCESS_DENIED',
      );
      t.false(existsSync('/tmp/patchbay-module-was-here'));
      t.is(
        (await triedBy('programs')).tried,
        'spawn: ERR_ACCESS_DENIED; worker: ERR_ACCESS_DENIED; kill: EACCES; binding: EACCES; debug: EACCES',
      );
    },
  );

  test.serial(`API ${api}: a module that loops or uses up memory is killed, named, and started again`, async (t) => {
    const device = await startDevice(t);
    const runs = await Promise.all(
      [
        ['loop', 'it did not answer within 15 s'],
        ['allocate', 'it used more than 64 MiB of memory'],
        ['buffers', 'it used more than 160 MiB of memory'],
      ].map(async ([way, reason]) => ({
        reason,
        hub: await start(t, { api, mode: `${way} at later` }, { memory: 64 }, device.port),
      })),
    );
    for (const { hub, reason } of runs) {
      await has(hub, 'program', 1);
      hub.write('it/misbehave', true, writer);
      t.regex(await hub.logged(/^module .* ended: /), new RegExp(`^module spec-device 1\\.2\\.3 ended: ${reason}`));
      await eventually(() => statusOf(hub, 'it').state === 'running', 'a module that runs again');
    }
  });

  test.serial(`API ${api}: of a flood of log entries some are logged, and how many were not`, async (t) => {
    const device = await startDevice(t);
    const settings = { values: {}, writes: { say: { action: 'say', options: { text: 'x', how: 'loud', now: true } } } };
    const hub = await start(t, { api }, settings, device.port);
    await eventually(() => statusOf(hub, 'it').state === 'running', 'a running module');
    for (let count = 0; count < 200; count++) hub.write('it/say', true, writer);
    const isDropped = () => {
      hub.write('it/say', true, writer);
      return hub.drivers
        .get('it')!
        .state()
        .log.some(({ text }) => /^\d+ more log entries within a second were dropped$/.test(text));
    };
    await eventually(isDropped, 'a count of what was dropped');
    t.true(hub.lines.some(({ message }) => /^module spec-device 1\.2\.3: says x$/.test(message)));
  });

  test.serial(`API ${api}: floods of 100,000 variables and of error output do not reach the hub`, async (t) => {
    const device = await startDevice(t);
    const flood = await start(t, { api, mode: 'flood at init' }, { memory: 512 }, device.port);
    const chatter = await start(t, { api, mode: 'chatter at init' }, {}, device.port);
    await eventually(() => Number(value(flood, 'program')) > 2, 'values of a flood');
    await has(chatter, 'three', false);
    const startMs = performance.now();
    for (let at = 1; at <= 100; at++) {
      flood.write('other/x', at, writer);
      await new Promise((resolve) => setImmediate(resolve));
    }
    t.true(performance.now() - startMs < 5000);
    t.is(flood.find('other/x')?.value, 100);
    t.is([...flood.parameters()].filter(({ address }) => address.startsWith('it/')).length, 4);
  });
}

test.serial(
  'a module that is killed again and again is refused, until an operator restarts the connection',
  async (t) => {
    const hub = await start(t, { api: 2, mode: 'allocate at init' }, { memory: 64 });
    await eventually(() => statusOf(hub, 'it').state === 'failed', 'a module that is refused');
    t.regex(
      reasonOf(hub),
      new RegExp(
        `^module spec-device 1\\.2\\.3 was killed ${maxKills} times, most recently because it used more than 64 MiB of memory; restart the connection`,
      ),
    );
    const { restarts } = hub.drivers.get('it')!.state();
    t.is(restarts, maxKills - 1);
    await t.throwsAsync(hub.drivers.get('it')!.list({ kind: 'actions', search: '', from: 0, count: 1 }), {
      message: 'the module is not running',
    });
    hub.control('it', 'restart', writer);
    await eventually(
      () => statusOf(hub, 'it').state === 'degraded' && /ended|again|starting/.test(reasonOf(hub)),
      'another try',
    );
  },
);

test.serial('each module of a hub is shown, with what it offers, until its connection stops', async (t) => {
  const device = await startDevice(t);
  const module = await createFolder(t);
  await writeModule(module, { api: 1 });
  const config = { host: '127.0.0.1', port: device.port };
  const it = { type: 'companion', module, config, allowHosts: ['127.0.0.1'] };
  const hub = await startTestHub(t, {
    connections: { sim: { ...it, simulate: true }, it, more: { ...it, config: {} } },
  });
  await eventually(() => statusOf(hub, 'more').state === 'failed', 'a module that lacks its config');
  await eventually(() => statusOf(hub, 'it').state === 'running', 'a running module');
  t.deepEqual([...hub.drivers.keys()].sort(), ['it', 'more', 'sim']);
  t.like(hub.drivers.get('more')!.state(), {
    module: { id: 'spec-device', apiVersion: '1.14.1' },
    missing: ['host', 'port'],
  });
  const view = hub.drivers.get('it')!;
  t.deepEqual(
    view.state().config!.map(({ id, type, min, max }) => [id, type, min, max]),
    [
      ['host', 'textinput', undefined, undefined],
      ['port', 'number', 1, 65_535],
    ],
  );
  t.like(view.state(), { status: 'ok', missing: [], restarts: 0 });
  const list = (kind: 'variables' | 'feedbacks' | 'actions', search = '', item?: string) =>
    view.list({ kind, search, from: 0, count: 10, ...(item !== undefined && { item }) });
  t.deepEqual(await list('variables', 'AIR source'), {
    total: 1,
    items: [{ id: 'program', name: 'The source on the air', value: '1' }],
  });
  const { items } = await list('actions', '', 'say');
  t.deepEqual(items[0]!.fields![1]!.choices, [
    { id: 'loud', label: 'Loudly' },
    { id: 2, label: 'Twice' },
  ]);
  t.deepEqual(await list('feedbacks', '', 'none'), { total: 0, items: [] });
  hub.control('it', 'stop', writer);
  t.false(hub.drivers.has('it'));
  await t.throwsAsync(list('actions'), { message: /the module (?:has ended|is not running|has not answered)/ });
});

test('a .tgz runs as a folder does; damaged and foreign packages are refused with the reason', async (t) => {
  const device = await startDevice(t);
  const folder = await createFolder(t);
  const file = join(folder, 'device.tgz');
  await writeTgz(file, await moduleFiles({ api: 1 }));
  const driver = await openDriver(file, 'device.tgz');
  t.like(driver, { id: 'spec-device', version: '1.2.3', api: 1 });
  t.true(existsSync(driver.entrypoint));
  await driver.remove();
  t.false(existsSync(driver.folder));
  const hub = await start(t, { api: 1 }, { module: file }, device.port);
  await has(hub, 'program', 1);

  const refused = async (files: Record<string, string>) => {
    await writeTgz(file, files);
    return (await t.throwsAsync(openDriver(file, 'device.tgz'))).message;
  };
  const manifest = async (more: object) => ({ ...(await moduleFiles({ api: 1, manifest: more })) });
  const runtime = { type: 'node22', api: 'nodejs-ipc', apiVersion: '1.14.1', entrypoint: '../main.js' };
  t.regex(
    await refused({ 'main.js': '' }),
    /^module: device\.tgz: expected a driver module, which contains companion\/manifest\.json$/,
  );
  t.regex(await refused({ '../../outside.js': '', ...(await manifest({})) }), /expected paths within the module/);
  t.regex(
    await refused(await manifest({ runtime: { ...runtime, apiVersion: '3.0.0' } })),
    /expected a module of API version 1 or 2, got 3\.0\.0/,
  );
  t.regex(
    await refused(await manifest({ runtime: { ...runtime, entrypoint: '../../x.js' } })),
    /expected an entrypoint inside the module/,
  );
  t.regex(
    await refused(await manifest({ runtime: { ...runtime, permissions: { 'child-process': true } } })),
    /the module requests child-process, which the hub does not permit/,
  );
  await writeModule(folder, { api: 1 });
  t.regex(
    (await t.throwsAsync(openDriver(join(folder, 'main.js'), 'main.js'))).message,
    /expected a \.tgz file or a folder/,
  );
});

test('patchbay drivers adds, lists and describes modules, without a network', async (t) => {
  const folder = await createFolder(t);
  const lines: string[] = [];
  const console = { print: (text: string) => void lines.push(...text.split('\n')) };
  const drivers = join(folder, 'drivers');
  for (const api of [1, 2] as const) {
    const file = join(folder, `${api}.tgz`);
    await writeTgz(file, await moduleFiles({ api, manifest: { version: `${api}.0.0` } }));
    t.is(await add(file, drivers, console), 0);
    await t.throwsAsync(add(file, drivers, console), { message: /already exists: to replace it, delete it first/ });
  }
  lines.length = 0;
  await list(drivers, console);
  t.deepEqual(lines, [
    'spec-device-1.0.0.tgz               Spec: Device (API 1.14.1)',
    'spec-device-2.0.0.tgz               Spec: Device (API 2.0.4)',
  ]);
  for (const version of ['1.0.0', '2.0.0']) {
    const module = join(drivers, `spec-device-${version}.tgz`);
    lines.length = 0;
    await show(module, '{}', console);
    t.true(lines.includes('  port                        number, such as 9990: Port'), lines.join('\n'));
    t.true(
      lines.includes(
        `To see what the module offers, pass its complete config: --config '{"host":"192.0.2.1","port":9990}'`,
      ),
    );
    lines.length = 0;
    await show(module, "{ host: '192.0.2.1', port: 9990 }", console);
    t.true(lines.includes('  program                     The source on the air'), lines.join('\n'));
    t.true(lines.includes('  program                     Select a source'));
    t.true(lines.includes('    allowHosts: ['), lines.join('\n'));
  }
  await t.throwsAsync(show(join(drivers, 'spec-device-1.0.0.tgz'), '[]', console), {
    message: /--config: expected an object/,
  });
});
