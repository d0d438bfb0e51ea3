// Node-RED as its users run it, from npm: a WebSocket in, nodes that hold parameters and rules, a WebSocket out. It is no dependency of anything:
// it is installed into the folder for temporary files when it is measured for the first time.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ServerProcess, startProgram } from '../../spec/support/system/task-process.ts';
import type { Studio } from '../load/flows/studio.ts';

const version = '4';
const installed = join(tmpdir(), 'patchbay-bench-node-red');
const program = join(installed, 'node_modules/node-red/red.js');

/** Installs Node-RED unless it is there; says why it is not measured; undefined: it is there. */
export function missingNodeRed(): string | undefined {
  if (existsSync(program)) return undefined;
  const args = ['install', '--prefix', installed, '--no-audit', '--no-fund', `node-red@${version}`];
  const { status } = spawnSync('npm', args, { stdio: 'ignore' });
  return status === 0 && existsSync(program) ? undefined : 'Node-RED was left out: npm could not install it';
}

/** Starts Node-RED with a studio on a free port of this machine. */
export async function startNodeRed(studio: Studio, folder: string): Promise<ServerProcess> {
  const port = await freePort();
  const user = await mkdtemp(join(folder, 'node-red-'));
  await mkdir(join(user, 'lib'));
  const shared = { httpAdminRoot: false, flowFile: 'flows.json', telemetry: { enabled: false } };
  const settings = { uiPort: port, uiHost: '127.0.0.1', ...shared };
  await writeFile(join(user, 'settings.js'), `module.exports = ${JSON.stringify(settings)};`);
  await writeFile(join(user, 'flows.json'), JSON.stringify(flowOf(studio)));
  const args = [program, '--userDir', user, '--settings', join(user, 'settings.js')];
  const server = await startProgram(process.execPath, args, /Started flows()/, 'stdout');
  return { ...server, port };
}

/** A parameter is held by a function node, which lets changes through; a rule is one that computes, behind a switch by address. */
function flowOf({ sources, rules }: Studio): object[] {
  const hold = 'const { p, v } = msg.payload; if (flow.get(p) === v) return null; flow.set(p, v); return msg;';
  const at = { z: 'tab', x: 0, y: 0 };
  const ruleId = (index: number) => `rule-${index}`;
  const wiresOf = (source: string) => rules.flatMap(({ from }, index) => (from === source ? [ruleId(index)] : []));
  return [
    { id: 'tab', type: 'tab', label: 'studio' },
    { id: 'ws', type: 'websocket-listener', path: '/ws', wholemsg: 'false' },
    { id: 'in', type: 'websocket in', server: 'ws', ...at, wires: [['json']] },
    { id: 'json', type: 'json', property: 'payload', action: 'obj', ...at, wires: [['forget']] },
    // with the session of its message a node would answer that client alone
    { id: 'forget', type: 'function', func: 'return { payload: msg.payload };', outputs: 1, ...at, wires: [['hold']] },
    { id: 'hold', type: 'function', func: hold, outputs: 1, ...at, wires: [['out', 'switch']] },
    {
      ...{ id: 'switch', type: 'switch', property: 'payload.p', propertyType: 'msg', checkall: 'false' },
      ...{ rules: sources.map((v) => ({ t: 'eq', v, vt: 'str' })), outputs: sources.length, ...at },
      wires: sources.map(wiresOf),
    },
    ...rules.map(({ to, factor, offset }, index) => ({
      ...{ id: ruleId(index), type: 'function', outputs: 1, ...at, wires: [['hold']] },
      func: `return { payload: { p: ${JSON.stringify(to)}, v: msg.payload.v * ${factor} + ${offset} } };`,
    })),
    { id: 'out', type: 'websocket out', server: 'ws', ...at, wires: [] },
  ];
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  const { port } = server.address() as { port: number };
  await new Promise((done) => server.close(done));
  return port;
}
