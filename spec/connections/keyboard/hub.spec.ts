// A whole hub with a keyboard, as operators run it: it serves whatever happens to display and process, and leaves no
// process behind. Also as compiled JavaScript, and without the optional packages.

import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, symlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { firstValueFrom } from 'rxjs';
import { filter } from 'rxjs/operators';
import { eventually } from '../../support/deadline.ts';
import { createFolder } from '../../support/folder.ts';
import { startTestHub } from '../../support/hub.ts';
import { hideDisplay, startXServer } from '../../support/keyboard/x-server.ts';
import { keyboardPids, startHubProcess } from '../../support/system/hub-process.ts';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../../..');
const flow = {
  connections: {
    api: { type: 'rest-api', port: 0, bindIp: '127.0.0.1' },
    desk: { type: 'dummy', parameters: ['lamp,B,false', 'count,I,0'] },
    keys: { type: 'keyboard', inputKeys: ['ctrl-f1'], outputKeys: ['ctrl-f2'], statusParameter: true },
  },
  rules: [{ from: 'keys/input/ctrl-f1', map: 'true', to: 'desk/lamp' }],
};

test.serial('without DISPLAY the hub starts, says why, and serves', async (t) => {
  hideDisplay();
  const hub = await startTestHub(t, flow);
  const get = async (path: string) => (await fetch(`http://127.0.0.1:${hub.port}${path}`)).text();
  await hub.logged(/^connection "keys" is degraded: no display is available: DISPLAY is not set$/);
  t.is(await get('/parameters/keys/_status/connected'), 'false');
  t.is(await get('/update?parameter=desk/lamp&value=true'), 'OK');
  t.is(await get('/parameters/desk/lamp'), 'true');
  t.is(await get('/update?parameter=keys/output/ctrl-f2&value=1'), 'OK');
  await hub.logged(/^dropped 1 press: no keyboard is available$/);
});

test.serial(
  'signals are for the hub; D-24: kill -9 of the process and of the X server: the hub serves on, the keyboard comes back; the process lives on until the hub has stopped',
  async (t) => {
    const x = await startXServer(t);
    const hub = await startHubProcess(t, flow, { ...x, isGroup: true });
    await hub.logged(/"keys" is running/);
    const [first] = await keyboardPids(hub.pid);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.kill(first!, signal);
    await x.xdotool('key', 'ctrl+F1');
    await eventually(async () => (await hub.get('/parameters/desk/lamp')) === 'true');
    t.false((await hub.finds((output) => output, 'output')).includes('degraded'));

    process.kill(first!, 'SIGKILL');
    await hub.logged(/"keys" is degraded: the keyboard process ended while listening \(SIGKILL\)/);
    t.is(await hub.get('/parameters/keys/_status/connected'), 'false');
    await hub.logged(/"keys" is running/, 2);
    t.not((await keyboardPids(hub.pid))[0], first);

    await x.kill();
    await hub.logged(/"keys" is degraded: no X server is responding/);
    t.is(await hub.get('/update?parameter=desk/lamp&value=false'), 'OK');
    t.is(await hub.get('/parameters/desk/lamp'), 'false');
    const back = await startXServer(t, x);
    await hub.logged(/"keys" is running/, 3);
    await back.xdotool('key', 'ctrl+F1');
    await eventually(async () => (await hub.get('/parameters/desk/lamp')) === 'true');
    t.is(await hub.get('/parameters/keys/_status/connected'), 'true');

    const [last] = await keyboardPids(hub.pid);
    process.kill(-hub.pid, 'SIGINT'); // as Ctrl-C does: to both
    const { status, signal, output } = await hub.ended();
    t.deepEqual([status, signal], [0, null]);
    t.false(isRunning(last!));
    t.is(output.match(/keys\\" is running/g)!.length, 3, 'it was there until then');
  },
);

/** Whether a process runs. One that has ended stays in /proc until its parent, the first process of a container for some, asks. */
function isRunning(pid: number): boolean {
  const path = `/proc/${pid}/stat`;
  return existsSync(path) && !/\) [ZX] /.test(readFileSync(path, 'utf8'));
}

/** Compiles the program into a folder whose node_modules lack packages. */
async function install(t: ExecutionContext, without: readonly string[]): Promise<string> {
  const folder = await createFolder(t, { 'package.json': { type: 'module', version: '0.0.0' } });
  // The types are checked elsewhere, so what packages declare is not read.
  const options = ['--outDir', join(folder, 'dist'), '--noCheck', '--noResolve', '--declaration', 'false'];
  await run(join(root, 'node_modules/.bin/tsc'), ['-p', 'lib', ...options], { cwd: root });
  await mkdir(join(folder, 'node_modules'));
  for (const name of await readdir(join(root, 'node_modules')))
    if (!without.includes(name)) await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  return join(folder, 'dist/main.js');
}

test.serial(
  'compiled to JavaScript it finds its process, which ends when the hub is killed; under X11 keys are heard and pressed without the optional packages',
  async (t) => {
    const program = await install(t, ['uiohook-napi', '@nut-tree-fork']);
    const x = await startXServer(t);
    const hub = await startHubProcess(t, flow, { ...x, program });
    await hub.logged(/"keys" is running/);
    const [child] = await keyboardPids(hub.pid);
    t.is(typeof child, 'number');
    t.true(existsSync(join(dirname(program), 'connections/keyboard/process/main.js')));
    const heard = firstValueFrom((await x.keys$()).pipe(filter((key) => key === 'release F2 4')));
    await hub.get('/update?parameter=keys/output/ctrl-f2&value=true');
    await t.notThrowsAsync(heard);
    await x.xdotool('key', 'ctrl+F1');
    await eventually(async () => (await hub.get('/parameters/desk/lamp')) === 'true');

    process.kill(hub.pid, 'SIGKILL');
    await t.notThrowsAsync(eventually(() => !isRunning(child!)));
  },
);
