// The part of the trial with a host that vanishes without a packet to announce it: its cable is pulled at either end, or it loses its
// address. The hub and the host run in network namespaces of their own, which end with their processes.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as after } from 'node:timers/promises';
import { eventually } from '../../support/deadline.ts';
import { statusOf, writer } from '../../support/hub.ts';
import { notify } from '../trial.ts';
import { type Breaks, backMs, type Stage } from './stage.ts';

const inside = 'PATCHBAY_TRIAL_NAMESPACE';
const [here, there] = ['198.18.0.1', '198.18.0.2'];
/** Everything on the host has the same ports in its own namespace. */
const ports = { line: 9001, http: 9002, mqtt: 9003, osc: 9004, target: 9005 };
/** How long a device may be silent before it is stale, and what the machine may add to that. */
const idleMs = 1500;
const slackMs = 1000;

/** How the host vanishes, and comes back: commands of `ip`, at this end or at the other one. */
const ways = {
  'the cable at the hub': { at: 'here', gone: 'link set near down', back: 'link set near up' },
  'the cable at the host': { at: 'there', gone: 'link set far down', back: 'link set far up' },
  'the address of the host': {
    at: 'there',
    gone: `addr del ${there}/24 dev far`,
    back: `addr add ${there}/24 dev far`,
  },
} as const;

/** Whether this process may make network namespaces. */
export function mayMakeNamespaces(): boolean {
  return spawnSync('unshare', ['-n', 'ip', 'link', 'add', 'near', 'type', 'veth', 'peer', 'name', 'far']).status === 0;
}

/** Runs the part in a namespace of its own. */
export async function tryVanish(stage: Stage, breaks: Breaks): Promise<void> {
  if (process.env[inside] !== undefined) return tryInside(stage, breaks);
  const sizes = breaks.stops ? ['--rounds', String(breaks.rounds)] : ['--short'];
  const args = process.execArgv.concat(process.argv.slice(1, 3), 'vanish', sizes);
  const child = spawn('unshare', ['-n', process.execPath, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, [inside]: '1' },
  });
  stage.onEnd(() => child.kill('SIGKILL'));
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (/^ {2}|\*\*/.test(line)) notify(line);
  });
  const [status] = await once(child, 'close');
  assert.equal(status, 0, 'the part in a namespace of its own failed');
}

function ip(command: string, pid?: number): void {
  const prefix = pid === undefined ? [] : ['nsenter', '-t', String(pid), '-n'];
  const [program, ...args] = [...prefix, 'ip', ...command.split(' ')];
  const { status, stderr } = spawnSync(program!, args);
  assert.equal(status, 0, `${command}: ${stderr}`);
}

/** Starts the host with its programs; returns how it is broken, and the file with the deliveries. */
async function startHost(stage: Stage) {
  const host = stage.run('unshare', ['-n', 'sleep', '3600']);
  const pid = host.pid!;
  const own = spawnSync('readlink', ['/proc/self/ns/net']).stdout.toString();
  await eventually(
    () => spawnSync('readlink', [`/proc/${pid}/ns/net`]).stdout.toString() !== own,
    'the namespace of the host',
  );
  ip('link set lo up');
  ip(`link add near type veth peer name far netns ${pid}`);
  ip(`addr add ${here}/24 dev near`);
  ip('link set near up');
  for (const command of ['link set lo up', `addr add ${there}/24 dev far`, 'link set far up']) ip(command, pid);
  const folder = await stage.folder({
    'www/level.json': '{"level":0}',
    'mosquitto.conf': `listener ${ports.mqtt} 0.0.0.0\nallow_anonymous true\n`,
  });
  const nginx = join(await stage.folder({ 'nginx.conf': nginxOf(folder) }), 'nginx.conf');
  const run = (...command: string[]) => stage.run('nsenter', ['-t', String(pid), '-n', ...command]);
  const listen = (port: number) => `TCP-LISTEN:${port},reuseaddr,fork`;
  const taken = join(folder, 'taken');
  run('socat', listen(ports.line), 'SYSTEM:sed -u "s/?/=7/"');
  run('socat', listen(ports.osc), 'EXEC:cat');
  run('mosquitto', '-c', join(folder, 'mosquitto.conf'));
  run('nginx', '-c', nginx);
  const peers = join(import.meta.dirname, 'vanish-peers.ts');
  const start = () => run(process.execPath, peers, there, String(ports.mqtt), String(ports.target), taken);
  const url = `http://${there}:${ports.http}/level.json`;
  await eventually(
    () =>
      fetch(url).then(
        ({ ok }) => ok,
        () => false,
      ),
    'nginx to answer',
  );
  await after(500); // mosquitto listens by then
  start();
  const apply = (at: 'here' | 'there', command: string) => ip(command, at === 'here' ? undefined : pid);
  const takenText = () => readFile(taken, 'utf8').catch(() => '');
  return { apply, takenText };
}

const nginxOf = (folder: string) => `
daemon off;
master_process off;
user root;
pid ${folder}/pid;
error_log ${folder}/error.log;
events { }
http {
  access_log off;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
  server { listen ${ports.http}; root ${folder}/www; location / { dav_methods PUT; } }
}
`;

const line = {
  about: 'a number that an echo reports',
  transports: ['tcp'],
  frame: { end: '\n' },
  parameters: { level: { type: 'I', ask: { send: 'level?', reply: 'level={value:int}', every: '300ms' } } },
};
const file = {
  about: 'a number that is a file of a web server',
  transports: ['http'],
  timeout: '500ms',
  parameters: {
    level: {
      type: 'I',
      ask: { path: '/level.json', reply: { level: '{value}' }, every: '300ms' },
      // biome-ignore lint/suspicious/noThenProperty: it is a key of descriptions
      write: { method: 'PUT', path: '/level.json', body: { level: '{value}' }, reply: 204, then: 'ask' },
    },
  },
};

async function tryInside(stage: Stage, { rounds, stops: isFull, random }: Breaks): Promise<void> {
  const { apply, takenText } = await startHost(stage);
  const folder = await stage.folder({ 'line.json5': JSON.stringify(line), 'file.json5': JSON.stringify(file) });
  const staged = await stage.startHub({
    it: { type: 'device', tcp: `${there}:${ports.line}`, protocol: join(folder, 'line.json5'), idleTimeout: idleMs },
    http: {
      ...{ type: 'device', http: `http://${there}:${ports.http}/`, protocol: join(folder, 'file.json5') },
      idleTimeout: idleMs,
    },
    mqtt: {
      ...{ type: 'mqtt', url: `mqtt://${there}:${ports.mqtt}`, keepAlive: 1000 },
      parameters: { level: { type: 'I', topic: 'level', set: 'level/set' } },
    },
    osc: {
      ...{ type: 'osc', tcp: `${there}:${ports.osc}`, framing: 'length', idleTimeout: idleMs },
      queries: [{ send: '/ping', every: 300 }],
      parameters: { level: { address: '/level', type: 'I' } },
    },
    hooks: {
      type: 'webhook',
      timeout: 2000,
      out: { number: { type: 'I', body: '{value}', url: `http://${there}:${ports.target}/` } },
    },
  });
  const { hub } = staged;
  const ids = ['it', 'http', 'mqtt', 'osc'];
  const isStale = (id: string) => hub.find(`${id}/level`)!.device?.staleSince !== undefined;
  const isBack = (id: string) => statusOf(hub, id).state === 'running' && !isStale(id);
  await eventually(() => isBack('osc'), 'the echo of OSC');
  hub.write('osc/level', 7, writer);
  await eventually(() => ids.every((id) => isBack(id) && hub.find(`${id}/level`)!.value !== undefined), 'all to run');
  let number = 0;
  const confirmed = new Map<string, number>();
  const work = setInterval(() => {
    hub.write('hooks/number', ++number, writer);
    for (const id of ['http', 'mqtt']) {
      const { value } = hub.find(`${id}/level`)!;
      if (hub.find(`${id}/level`)!.wanted !== undefined) continue;
      confirmed.set(id, Math.max(confirmed.get(id) ?? 0, Number(value)));
      try {
        hub.write(`${id}/level`, Number(value) + 1, writer);
      } catch (error) {
        assert.match(String(error), /unavailable|stale|offline|not/i); // it is away
      }
    }
  }, 50);
  stage.onEnd(() => clearInterval(work));
  const longest = { stale: 0, back: 0, delivery: 0 };
  const within = async (what: string, limitMs: number, isSo: () => boolean): Promise<number> => {
    const startMs = performance.now();
    await eventually(isSo, what);
    const ms = performance.now() - startMs;
    assert.ok(ms < limitMs, `${what}: took ${ms.toFixed(0)} ms, expected less than ${limitMs}`);
    return ms;
  };
  for (let round = 0; round < rounds; round++)
    for (const [name, { at, gone, back }] of Object.entries(ways)) {
      await after(1000);
      const before = new Map(confirmed);
      apply(at, gone);
      await Promise.all(
        ids.map(async (id) => {
          const ms = await within(`${name}: ${id} to be stale`, idleMs + slackMs, () => isStale(id));
          longest.stale = Math.max(longest.stale, ms);
        }),
      );
      for (const id of ids) assert.equal(typeof hub.find(`${id}/level`)!.value, 'number', 'the value stays');
      await after(isFull ? 1000 + random.below(25_000) : 1000);
      const last = number;
      apply(at, back);
      const startMs = performance.now();
      await Promise.all(
        ids.map(async (id) => {
          const ms = await within(`${name}: ${id} to be back`, backMs, () => isBack(id));
          longest.back = Math.max(longest.back, ms);
        }),
      );
      for (const [id, least] of before)
        assert.ok(
          Number(hub.find(`${id}/level`)!.value) >= least,
          `${name}: ${id} has lost a confirmed write: ${hub.find(`${id}/level`)!.value} after ${least}`,
        );
      await eventually(async () => (await takenText()).includes(` ${last}\n`), `${name}: webhook ${last}`);
      longest.delivery = Math.max(longest.delivery, performance.now() - startMs);
    }
  clearInterval(work);
  await eventually(async () => (await takenText()).includes(` ${number}\n`), 'the last webhook');
  const seen = new Set<string>();
  const numbers = (await takenText())
    .trimEnd()
    .split('\n')
    .flatMap((row) => {
      const [id = '', text] = row.split(' ');
      return seen.size === seen.add(id).size ? [] : [Number(text)];
    });
  assert.deepEqual(
    numbers,
    Array.from({ length: number }, (_, index) => index + 1),
    'each webhook arrives, in order',
  );
  notify(
    `  ${rounds * Object.keys(ways).length} times gone: stale after ${longest.stale.toFixed(0)} ms at most, back after ${longest.back.toFixed(0)} ms, all webhooks delivered ${longest.delivery.toFixed(0)} ms after the return`,
  );
}
