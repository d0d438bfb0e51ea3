// npm run trial -- editing-faults: two clients and an editor on disk change the same file at the same time: no change is lost, and an
// overlap is shown with both texts. Then the hub is killed while it saves many files: after a restart, either all are saved or none.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, watch, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { messageOf } from '../../lib/model/error.ts';
import type { EditResult, SourceAnswer } from '../../lib/wire/http/editing-shapes.ts';
import type { Problem } from '../../lib/wire/http/problem.ts';
import { inTemporaryFolder } from '../support/folder.ts';
import { Random } from '../support/random.ts';
import { dependent } from '../support/system/dependent.ts';
import { freePort } from '../support/system/port.ts';
import { defineTrial, notify, progress } from './trial.ts';

const main = join(import.meta.dirname, '../../lib/main.ts');
const startMs = 300_000;

export const trial = defineTrial({
  about:
    'changes one file from clients and from an editor on the disk at the same time, and kills the hub while it saves',
  options: {
    rounds: ['the number of times that two clients and an editor change the file', 1000, 20],
    kills: ['the number of times that the hub is killed while it saves', 100, 3],
    files: ['the number of files that are saved in that case', 32, 32],
    cuts: ['the number of changes that cut off their author, each for 30 s', 7, 0],
    seed: ['the seed for the changes and for the times of the kills', 1],
  },
  run: ({ rounds, kills, files, cuts, seed }) =>
    inTemporaryFolder('editing-faults', async (folder) => {
      const isKept = await changeTogether(join(folder, 'together'), rounds, seed);
      const isWhole = await killSaves(join(folder, 'killed'), kills, files, seed);
      return (await cutOff(join(folder, 'cut'), cuts)) && isWhole && isKept;
    }),
});

/** A hub in a process of its own. */
class KilledHub {
  readonly #process: ChildProcess;
  readonly #port: number;

  readonly #token: string;

  private constructor(process: ChildProcess, port: number, token: string) {
    this.#process = process;
    this.#port = port;
    this.#token = token;
  }

  /** The status of the answer to a request for the list of files; 0: there is no answer. */
  async status(): Promise<number> {
    try {
      const { status, body } = await fetch(`http://127.0.0.1:${this.#port}/hub/sources`, { headers: this.#headers() });
      await body?.cancel();
      return status;
    } catch {
      return 0;
    }
  }

  #headers(): Record<string, string> {
    return this.#token === '' ? {} : { authorization: `Bearer ${this.#token}` };
  }

  /** Starts a hub; `token` is that of the client. */
  static async start(folder: string, token = ''): Promise<KilledHub> {
    const child = spawn(...dependent(process.execPath, [main, 'run', folder, '--no-warm-up']));
    let output = '';
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const read = (text: Buffer) => {
      output = (output + String(text)).slice(-10_000);
      const [, port] = /listening on .*:(\d+)\//.exec(output) ?? [];
      if (port !== undefined) resolve(Number(port));
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('exit', () => reject(new Error(`the hub ended: ${output}`)));
    const late = setTimeout(() => reject(new Error(`no start within ${startMs / 1000} s: ${output}`)), startMs);
    return new KilledHub(child, await promise.finally(() => clearTimeout(late)), token);
  }

  async source(file: string): Promise<SourceAnswer> {
    const headers = this.#headers();
    const answer = await fetch(`http://127.0.0.1:${this.#port}/hub/source/${encodeURIComponent(file)}`, { headers });
    return (await answer.json()) as SourceAnswer;
  }

  async edit(body: object): Promise<{ readonly status: number; readonly body: EditResult & Problem }> {
    const answer = await fetch(`http://127.0.0.1:${this.#port}/hub/edit`, {
      method: 'POST',
      headers: { ...this.#headers(), 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: answer.status, body: (await answer.json()) as EditResult & Problem };
  }

  async kill(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const ended = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await ended;
  }
}

const entry = `{ connections: { api: { type: 'rest-api', port: 0, bindIp: '127.0.0.1' }, desk: { type: 'dummy', parameters: ['a,F', 'b,F'] } } }`;

function flow(count: number): string {
  const rules = Array.from(
    { length: count },
    (_, at) => `    { name: 'rule ${at}', from: 'desk/a', map: 'value', to: 'desk/b' },`,
  );
  return `// round 0\n{\n  rules: [\n${rules.join('\n')}\n  ],\n}\n`;
}

// Two clients and an editor.

const ruleCount = 6;

interface Change {
  readonly rule: number;
  readonly map: string;
}

async function changeTogether(folder: string, rounds: number, seed: number): Promise<boolean> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'entry.json5'), entry);
  const path = join(folder, 'studio.json5');
  await writeFile(path, flow(ruleCount));
  const hub = await KilledHub.start(folder);
  const counts = { merged: 0, shown: 0, lost: 0, redone: 0 };
  let isRight = rounds > 0;
  try {
    const tell = progress('rounds', rounds);
    for (let round = 1; round <= rounds && isRight; round++) {
      tell(round - 1);
      const random = new Random(seed, round);
      const wanted = (who: number): Change => ({ rule: random.below(ruleCount), map: `value + ${round * 10 + who}` });
      const [one, other, third] = [wanted(1), wanted(2), wanted(3)];
      const base = await hub.source('studio.json5');
      const send = (change: Change) =>
        hub.edit({
          file: 'studio.json5',
          base: base.etag,
          ops: [{ path: `rules[${change.rule}].map`, set: change.map }],
          mode: 'save',
        });
      const late = async <Result>(work: () => Promise<Result>) => {
        await after(random.below(20));
        return work();
      };
      const [first, second, isOnDisk] = await Promise.all([
        late(() => send(one)),
        late(() => send(other)),
        late(() => saveOnDisk(path, third, random.once(2))),
      ]);
      const text = await readFile(path, 'utf8');
      const made = new Map([one, other, third].map((change) => [change, mapOf(text, change.rule)]));
      const rows = [
        { change: one, ...first },
        { change: other, ...second },
      ];
      for (const { change, status, body } of rows) {
        if (status === 200 && body.isSaved) {
          if (body.files[0]?.isMerged === true) counts.merged++;
          if (made.get(change) === change.map || isReplaced(change, [third], made)) continue;
          notify(`round ${round}: the hub saved ${JSON.stringify(change)}, which is gone:\n${text}`);
          isRight = false;
        } else if (status === 409 && hasBothTexts(body, change)) counts.shown++;
        else {
          notify(`round ${round}: ${status} ${JSON.stringify(body)}`);
          isRight = false;
        }
      }
      if (!isOnDisk) counts.redone++;
      else if (made.get(third) !== third.map) {
        notify(`round ${round}: the editor saved ${JSON.stringify(third)}, which is gone:\n${text}`);
        isRight = false;
      }
    }
    const left = (await readdir(folder)).filter((name) => /\.(?:new|old|part)$/.test(name));
    if (left.length > 0) notify(`files are left: ${left.join(', ')}`);
    isRight &&= left.length === 0;
  } finally {
    await hub.kill();
  }
  if (!isRight) return false;
  notify(
    `${rounds} rounds of two clients and an editor: ${counts.merged} changes merged, ${counts.shown} overlaps shown with both texts, ${counts.redone} times the editor found a newer file, no change was lost`,
  );
  return true;
}

/** Whether another one has changed the same rule afterwards, knowingly: the editor read the text with the change, and replaced it. */
function isReplaced({ rule }: Change, others: readonly Change[], made: ReadonlyMap<Change, string>): boolean {
  return others.some((one) => one.rule === rule && made.get(one) === one.map);
}

function hasBothTexts({ conflicts }: Problem, { map }: Change): boolean {
  const [conflict] = conflicts ?? [];
  return conflict?.yours?.includes(map) === true && !conflict.theirs.includes(map) && conflict.base !== undefined;
}

/**
 * Saves as editors do: it reads the text, and shortly before it writes, it looks whether the file is still the same; otherwise it leaves it.
 * Returns whether it has written.
 */
async function saveOnDisk(path: string, { rule, map }: Change, isReplacing: boolean): Promise<boolean> {
  const text = await readFile(path, 'utf8').catch(() => '');
  if (text === '') return false; // the hub is replacing it
  const lines = text.split('\n');
  const at = lines.findIndex((line) => line.includes(`'rule ${rule}'`));
  lines[at] = lines[at]!.replace(/map: '[^']*'/, `map: '${map}'`);
  const part = `${path}.editor`;
  writeFileSync(part, lines.join('\n'));
  try {
    // without a pause in between: what an editor replaces after it has looked is beyond what the hub can keep
    if (readFileSync(path, 'utf8') !== text) return false;
    if (isReplacing) renameSync(part, path);
    else writeFileSync(path, lines.join('\n'), { flag: 'r+' });
    return true;
  } catch {
    return false; // the hub is replacing it
  } finally {
    rmSync(part, { force: true });
  }
}

function mapOf(text: string, rule: number): string {
  return new RegExp(`name: 'rule ${rule}'.*map: '([^']*)'`).exec(text)?.[1] ?? '';
}

// Kills.

async function killSaves(folder: string, kills: number, count: number, seed: number): Promise<boolean> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'entry.json5'), entry);
  const names = Array.from({ length: count }, (_, at) => `flow-${at}.json5`);
  for (const name of names) await writeFile(join(folder, name), flow(1).replace("'rule 0'", `'${name} 0'`));
  const counts = { none: 0, all: 0, inside: 0, answered: 0 };
  let value = 0;
  const tell = progress('kills', kills);
  for (let number = 1; number <= kills; number++) {
    tell(number - 1);
    const random = new Random(seed, number);
    const hub = await KilledHub.start(folder);
    const sources = await Promise.all(names.map((name) => hub.source(name)));
    const stopped = new AbortController();
    const inWindow = firstReplaced(folder, stopped.signal);
    const files = sources.map(({ etag }, at) => ({
      file: names[at],
      base: etag,
      ops: [{ path: 'rules[0].map', set: `value + ${value + 1}` }],
    }));
    let isAnswered = false;
    const saving = hub.edit({ files, mode: 'save' }).then(
      ({ status }) => {
        isAnswered = status === 200;
      },
      () => {},
    );
    await Promise.race([inWindow, saving]);
    const untilMs = performance.now() + random.below(60_000) / 1000 / (random.once(2) ? 1 : 10);
    while (performance.now() < untilMs) await new Promise(setImmediate);
    await hub.kill();
    stopped.abort();
    await saving;
    if (isAnswered) counts.answered++;
    const cut = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8').catch(() => undefined)));
    const isNew = (text: string | undefined) => text?.includes(`value + ${value + 1}'`) === true;
    const fresh = cut.filter(isNew).length;
    if (fresh > 0 && fresh < count) counts.inside++;
    const again = await KilledHub.start(folder);
    await again.kill();
    const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8').catch(() => '')));
    const saved = texts.filter(isNew).length;
    const old = texts.filter((text) => text.includes(value === 0 ? "map: 'value'" : `value + ${value}'`)).length;
    const left = (await readdir(folder)).filter((name) => name.startsWith('.') && name !== '.patchbay');
    if ((saved !== count && old !== count) || left.length > 0 || (isAnswered && saved !== count)) {
      notify(`kill ${number}: ${saved} of ${count} files are saved, ${old} as before, left: ${left.join(', ')}`);
      return false;
    }
    if (saved === count) {
      counts.all++;
      value++;
    } else counts.none++;
  }
  await rm(folder, { recursive: true, force: true });
  notify(
    `${kills} kills during a save of ${count} files, ${counts.inside} of them between two files: ${counts.all} times all were saved, ${counts.none} times none, never a part`,
  );
  return kills > 0;
}

/** Resolves when the hub has begun to replace files. */
async function firstReplaced(folder: string, signal: AbortSignal): Promise<void> {
  try {
    for await (const { filename } of watch(folder, { signal })) if (filename?.endsWith('.old')) return;
  } catch {} // the kill came first
}

// Changes of the REST API that cut their author off.

const token = 'the-owner-of-the-hub';
const probationMs = 30_000;
/** How much later than after its probation a change may be taken back, on a busy machine. */
const lateMs = 20_000;

const cuts: readonly (readonly [about: string, ops: readonly object[]])[] = [
  ['another token', [{ path: 'connections.api.users.owner', remove: true }]],
  ['without the right to edit', [{ path: 'connections.api.users.owner.edit', remove: true }]],
  ['another port', [{ path: 'connections.api.port', set: 0 }]],
  ['another address', [{ path: 'connections.api.bindIp', set: '127.0.0.2' }]],
  ['switched off', [{ path: 'connections.api.enabled', set: false }]],
  ['removed', [{ path: 'connections.api', remove: true }]],
  ['another port, and a kill', [{ path: 'connections.api.port', set: 0 }]],
];

/** Each change must be in force, and be taken back when its 30 s are over, or at the next start. */
async function cutOff(folder: string, count: number): Promise<boolean> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, 'entry.json5');
  const users = {
    owner: { token, read: ['**'], write: ['**'], manage: true, edit: ['**'] },
    other: { token: 'x'.repeat(20) },
  };
  let isRight = true;
  for (const [about, ops] of cuts.slice(0, count)) {
    const port = await freePort();
    const api = { type: 'rest-api', port, bindIp: '127.0.0.1', users };
    const text = `// the entry\n${JSON.stringify({ connections: { api }, rules: [] })}\n`;
    await writeFile(path, text);
    let hub = await KilledHub.start(folder, token);
    try {
      const { etag } = await hub.source('entry.json5');
      const { body } = await hub.edit({ file: 'entry.json5', base: etag, ops, mode: 'save' });
      const sinceMs = performance.now();
      if (body.probation === undefined) throw new Error(`no probation: ${JSON.stringify(body)}`);
      await until(async () => (await hub.status()) !== 200, 5000, 'the author is still there');
      if (about.endsWith('kill')) {
        await hub.kill();
        hub = await KilledHub.start(folder, token);
      }
      await until(async () => (await hub.status()) === 200, probationMs + lateMs, 'the author is not back');
      const tookMs = performance.now() - sinceMs;
      if (!about.endsWith('kill') && tookMs < probationMs - 1000) throw new Error(`taken back after ${tookMs} ms`);
      if ((await readFile(path, 'utf8')) !== text) throw new Error('the file is another one');
      notify(`cut off: ${about}: back after ${(tookMs / 1000).toFixed(1)} s`);
    } catch (error) {
      isRight = false;
      notify(`cut off: ${about}: **${messageOf(error)}**`);
    } finally {
      await hub.kill();
    }
  }
  return isRight;
}

async function until(holds: () => Promise<boolean>, limitMs: number, otherwise: string): Promise<void> {
  for (const endMs = performance.now() + limitMs; !(await holds()); await after(100))
    if (performance.now() > endMs) throw new Error(otherwise);
}
