// The start: from the process to its first answers, and what it holds in memory, of a hub as packages have it and of one from a clone,
// held against a server by hand.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { dependent } from '../../spec/support/system/dependent.ts';
import type { Contender, Measurement, Metric, Role, Subject } from '../harness/subject.ts';

/** What a store restores. */
const storedValues = 10_000;
const restMs = 3000;
const laterMs = 45_000;
const deadlineMs = 60_000;
/** So long a hub runs before those that are measured: it keeps what V8 has compiled at its end. */
const firstRunMs = 3000;

/** A value, a rule and an answer of HTTP: what nobody would write with less. */
const byHand = (port: number) => `
const uws = require(${JSON.stringify(createRequire(import.meta.url).resolve('uws-legacy'))});
const values = new Map([['in/p1', 0]]);
uws.App()
  .get('/parameters/*', (response, request) => response.end(String(values.get(request.getUrl().slice(12)) ?? '')))
  .get('/update', (response, request) => {
    const value = Number(request.getQuery('value'));
    values.set(request.getQuery('parameter'), value).set('out/p1', value * 2 + 1);
    response.end('OK');
  })
  .listen('127.0.0.1', ${port}, () => {});
`;

const metrics: readonly Metric[] = [
  { key: 'first', title: 's until the first answer', digits: 2, better: 'less' },
  { key: 'rule', title: 's until the first answer of a rule', digits: 2, better: 'less' },
  { key: 'memory', title: 'MB (PSS) 3 s later', digits: 0, better: 'less' },
  { key: 'later', title: 'MB 45 s after that', digits: 0, better: 'less' },
];

export const start: Subject = {
  name: 'start',
  about:
    '100 parameters and 60 rules: the time from the start of the process to the first responses; the ceiling is a handwritten server',
  measures: ['lib', 'install/bundle.ts'],
  rounds: 3,
  async cases({ isQuick, hubFolder }, folder) {
    const clone = [join(hubFolder, 'lib/main.ts')];
    if (!isQuick) execFileSync('npm', ['run', 'build', '--', '--noCheck'], { cwd: hubFolder });
    const programs = isQuick
      ? [['clone', clone] as const]
      : [['package', [join(hubFolder, 'dist/patchbay.cjs')]] as const, ['clone', clone] as const];
    const laterAfterMs = isQuick ? 0 : laterMs;

    const hub = (name: string, program: readonly string[], role: Role, hasStore: boolean): Contender => ({
      name: hasStore ? `${name} with a store, after kill -9` : name,
      role,
      async measure() {
        const port = await freePort();
        const file = join(folder, `${port}.json5`);
        writeFileSync(file, JSON.stringify(flowOf(port, hasStore ? join(folder, `data-${port}`) : undefined)));
        const args = [...program, 'run', '--log-format', 'json', file];
        await measureStart(args, port, {
          restMs: firstRunMs,
          laterAfterMs: 0,
          writes: hasStore ? storedValues : 0,
          ends: hasStore ? 'SIGKILL' : 'SIGTERM',
        });
        return measureStart(args, port, { restMs, laterAfterMs, expects: hasStore ? storedValues : 0 });
      },
    });
    const hand: Contender = {
      name: 'by hand',
      role: 'ceiling',
      async measure() {
        const port = await freePort();
        const file = join(folder, `${port}.cjs`);
        writeFileSync(file, byHand(port));
        return measureStart([file], port, { restMs, laterAfterMs });
      },
    };
    return [
      {
        name: 'hub',
        metrics,
        contenders: [
          ...programs.map(([name, program], index) => hub(name, program, index === 0 ? 'hub' : 'peer', false)),
          hand,
        ],
      },
      {
        name: 'store',
        metrics,
        contenders: programs.map(([name, program], index) => hub(name, program, index === 0 ? 'hub' : 'peer', true)),
      },
    ];
  },
};

interface Run {
  readonly restMs: number;
  readonly laterAfterMs: number;
  /** How many parameters are written before it ends, and how many have to have their value with the first answer. */
  readonly writes?: number;
  readonly expects?: number;
  readonly ends?: 'SIGTERM' | 'SIGKILL';
}

/** Starts a program and asks it until it answers. Errors: when an answer is wrong. */
async function measureStart(args: readonly string[], port: number, run: Run): Promise<Measurement> {
  const { expects = 0, writes = 0, ends = 'SIGTERM' } = run;
  const startMs = performance.now();
  const child = spawn(...dependent(process.execPath, args), { stdio: 'ignore' });
  const exited = once(child, 'exit');
  const ask = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).text();
  const until = async (path: string, expected?: string) => {
    for (;;) {
      const answer = await ask(path).catch(() => undefined);
      if (answer !== undefined && (expected === undefined || answer === expected))
        return (performance.now() - startMs) / 1000;
      if (performance.now() - startMs > deadlineMs || child.exitCode !== null)
        throw new Error(`${path}: got ${answer}`);
      await after(2);
    }
  };
  try {
    const first =
      expects > 0 ? await until(`/parameters/many/${expects - 1}`, `${expects - 1}`) : await until('/parameters/in/p1');
    await ask('/update?parameter=in/p1&value=3');
    const rule = await until('/parameters/out/p1', '7');
    for (let index = 0; index < writes; index += 100)
      await Promise.all(
        Array.from({ length: 100 }, (_, at) => ask(`/update?parameter=many/${index + at}&value=${index + at}`)),
      );
    await after(run.restMs);
    const memory = memoryMb(child.pid!);
    await after(run.laterAfterMs);
    return { first, rule, memory, later: memoryMb(child.pid!) };
  } finally {
    child.kill(ends);
    await exited;
  }
}

/** The process's own part of the memory of the machine; NaN where the system does not tell. */
function memoryMb(pid: number): number {
  try {
    const [, kibibytes] = /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))!;
    return Number(kibibytes) / 1024;
  } catch {
    return Number.NaN;
  }
}

function flowOf(port: number, data: string | undefined) {
  const parameters = Array.from({ length: 100 }, (_, index) => `p${index},F`);
  const many = Array.from({ length: storedValues }, (_, index) => `${index},I`);
  return {
    connections: {
      api: { type: 'rest-api', port, bindIp: '127.0.0.1' },
      in: { type: 'dummy', parameters },
      out: { type: 'dummy', parameters },
      ...(data !== undefined && { many: { type: 'dummy', parameters: many }, store: { type: 'store', folder: data } }),
    },
    rules: Array.from({ length: 60 }, (_, index) => ({
      name: `r${index}`,
      from: `in/p${index}`,
      map: 'value * 2 + 1',
      to: `out/p${index}`,
    })),
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
