// What driver modules of the specs do that they should not, at a stage of their life: `crash at import`, `loop at later`. A module is bundled
// with its way in the place of `__MODE__`.

import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { lookup, Resolver } from 'node:dns';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { Worker } from 'node:worker_threads';

const mode = '__MODE__';
const [way = '', wantedStage = ''] = mode.split(' at ');

type Flood = (values: Record<string, string>) => void;

const tried: string[] = [];
const oddText = '<img src=x onerror="pwned=1"> \u202e{value}';

/** Tries something, and remembers whether it was possible. */
function attempt(what: string, work: () => unknown): void {
  try {
    const result = work();
    tried.push(`${what}: ${result === undefined ? 'done' : String(result)}`);
  } catch (error) {
    tried.push(`${what}: ${(error as { code?: string }).code ?? (error as Error).message}`);
  }
}

const ways: Readonly<Record<string, (flood: Flood | undefined) => void>> = {
  crash() {
    throw new Error('it crashes on purpose');
  },
  exit() {
    process.exit(7);
  },
  reject() {
    setImmediate(() => {
      throw new Error('it crashes later');
    });
  },
  loop() {
    for (;;);
  },
  spin() {
    const spinMs = 200;
    setInterval(() => {
      for (const startMs = performance.now(); performance.now() - startMs < spinMs; );
    }, 1);
  },
  allocate() {
    const all: number[][] = [];
    for (;;) all.push(Array.from({ length: 100_000 }, (_, index) => index * 1.5));
  },
  buffers() {
    const all: Buffer[] = [];
    setInterval(() => {
      for (let count = 0; count < 20; count++) all.push(Buffer.alloc(1_048_576, count));
    }, 5);
  },
  chatter() {
    setInterval(() => {
      for (let line = 0; line < 2000; line++) console.error('a line of a module that talks too much '.repeat(10));
    }, 1);
  },
  flood(flood) {
    let round = 0;
    setInterval(() => {
      round++;
      const values: Record<string, string> = {};
      for (let index = 0; index < 100_000; index++) values[`v${index}`] = `${round}`;
      flood?.({ ...values, program: `${round}` });
    }, 10);
  },
  many(define) {
    const values: Record<string, string> = {};
    for (let index = 0; index < 100_000; index++) values[`v${index}`] = 'as ever';
    define?.(values);
  },
  late(define) {
    define?.({ late: 'defined later', [oddText]: oddText });
  },
  elsewhere() {
    const ignore = (what: string) => (error: Error) => tried.push(`${what}: ${(error as { code?: string }).code}`);
    connect(9, '192.0.2.7').on('error', ignore('tcp'));
    const ownLookup = (_: string, __: object, done: (error: null, address: string, family: number) => void) =>
      done(null, '192.0.2.8', 4);
    connect({ port: 9, host: 'allowed.example', lookup: ownLookup as never }).on('error', ignore('own lookup'));
    const udp = createSocket('udp4').on('error', ignore('udp'));
    attempt('udp send', () => void udp.send('x', 9, '192.0.2.9'));
    lookup('elsewhere.example', ignore('lookup') as never);
    attempt('resolver', () => void new Resolver().resolve4('elsewhere.example', () => {}));
    attempt('listen', () => void createServer().listen(0));
    void fetch('http://192.0.2.10/').catch((error) => tried.push(`fetch: ${error.cause?.code}`));
  },
  files() {
    attempt('read /etc/passwd', () => readFileSync('/etc/passwd').length);
    attempt('read environment', () => Object.keys(process.env).join(','));
    attempt('read /proc', () => readFileSync(`/proc/${process.ppid}/environ`).length);
    attempt('write', () => writeFileSync('/tmp/patchbay-module-was-here', ''));
  },
  programs() {
    attempt('spawn', () => void spawn('true'));
    attempt('worker', () => void new Worker('0', { eval: true }));
    attempt('kill', () => process.kill(process.ppid, 'SIGTERM'));
    attempt('binding', () => (process as unknown as { binding(name: string): unknown }).binding('tcp_wrap'));
    attempt('debug', () => (process as unknown as { _debugProcess(pid: number): void })._debugProcess(process.ppid));
  },
};

/** Misbehaves if this is the stage. The results of what it tries are the values of the variable `program`, one after the other. */
export function misbehave(stage: string, flood?: Flood): void {
  if (stage === 'init' && flood !== undefined && ['elsewhere', 'files', 'programs'].includes(way))
    setTimeout(() => flood({ program: tried.join('; ') }), 1000);
  if (stage === wantedStage) ways[way]?.(flood);
}
