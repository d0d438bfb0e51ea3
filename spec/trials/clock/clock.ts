// npm run trial -- clock: sets the clock of a hub's machine back and ahead, for seconds and permanently, while timers are pending and data
// is stored; and starts hubs while the clock is wrong. Nothing may be lost, or end early, late or never.

import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { connect } from '../../../lib/client/index.ts';
import { grid } from '../../../lib/connections/timer/timer.ts';
import type { AuditPage, EventList, History } from '../../../lib/wire/http/past-shapes.ts';
import { becomesSo } from '../../support/deadline.ts';
import { inTemporaryFolder, thisTree } from '../../support/folder.ts';
import { programs } from '../../support/programs.ts';
import { freePort } from '../../support/system/port.ts';
import { defineTrial, notify } from '../trial.ts';
import { setClocksOfPair } from './pair.ts';
import { SettableClock, type SettableHub, startSettableHub } from './settable-hub.ts';
import { password, pulseMs, rootToken, waiting, waitMs, writeStudio } from './studio.ts';

const hour = 3_600_000;
const day = 24 * hour;

const times: Readonly<Record<string, number>> = {
  'back-1h': -hour,
  'back-1d': -day,
  'ahead-1d': day,
  'ahead-91d': 91 * day,
  'ahead-20y': 20 * 365 * day,
};

interface Part {
  readonly about: string;
  /** Resolves with whether all held. */
  run(name: string, values: Values): Promise<boolean>;
}

const parts: Readonly<Record<string, Part>> = {
  ...Object.fromEntries(
    Object.entries(times).map(([name, byMs]) => {
      const about = `one hub whose clock is set ${name.replace('-', ' by ')}`;
      return [name, { about, run: (name: string, values: Values) => tryStudio(name, byMs, values) }] as const;
    }),
  ),
  pair: {
    about: 'a pair of hubs; the clock of each hub is set in all these ways',
    run: (name) => tryPair(name, Object.values(times)),
  },
};

/** Fires that are missed are logged as often as this. */
const logMissedMs = 10_000;

/** What ends by becoming false. */
const endsFalse: readonly string[] = [waiting.TOF, waiting.TP];

const options = {
  late: ['the maximum deviation of an end, in milliseconds', 1000, 4000],
  writes: ['the number of writes before the clock is set', 20],
  lasting: ['how long the clock is wrong: seconds, good (permanently), or both in turn', 'both', 'seconds'],
} as const;

export const trial = defineTrial({
  about:
    'sets the clock of a hub that has pending timers and stored data: nothing is lost, and nothing is early or late',
  options,
  parts: { all: parts, short: ['ahead-91d'] },
  async run(values, { parts }) {
    let isAllWell = true;
    for (const [name, part] of parts) if (!(await part.run(name, values))) isAllWell = false;
    return isAllWell;
  },
});

interface Values {
  readonly late: number;
  readonly writes: number;
  readonly lasting: string;
}

async function tryStudio(name: string, byMs: number, { late, writes, lasting }: Values): Promise<boolean> {
  let isAllWell = true;
  for (const isForGood of [false, true].filter((one) => lasting === 'both' || one === (lasting === 'good'))) {
    const mistakes = await inTemporaryFolder('clock', (folder) => tryOne(folder, byMs, isForGood, late, writes));
    isAllWell = conclude(`${name} ${isForGood ? 'for good' : 'for seconds'}`, mistakes) && isAllWell;
  }
  return isAllWell;
}

async function tryPair(name: string, times: readonly number[]): Promise<boolean> {
  if (!programs.nats.isThere()) {
    notify(`${name}: left out, as it needs nats-server`);
    return true;
  }
  return conclude(name, await inTemporaryFolder('clock', (folder) => setClocksOfPair(folder, times)));
}

function conclude(name: string, mistakes: readonly string[]): boolean {
  for (const mistake of mistakes) notify(`  ${mistake}`);
  notify(`${name}: ${mistakes.length} mistakes`);
  return mistakes.length === 0;
}

async function tryOne(
  folder: string,
  byMs: number,
  isForGood: boolean,
  lateMs: number,
  writes: number,
): Promise<readonly string[]> {
  await mkdir(join(folder, 'dashboards'));
  await writeFile(join(folder, 'dashboards', 'door.json5'), '{ widgets: [] }');
  await symlink(join(thisTree, 'node_modules'), join(folder, 'node_modules'));
  await writeStudio(folder, await freePort());
  const clock = new SettableClock(folder);
  await clock.set(0);
  const one = new Attempt(folder, clock, lateMs);
  try {
    await one.start();
    await one.write(writes);
    await one.signIn();
    await one.setWhileWaiting(byMs);
    await one.write(2);
    if (!isForGood) {
      await after(2000);
      await clock.set(0);
    }
    await one.write(2);
    await one.check('after the clock was set');
    await one.restart(isForGood ? byMs : 0, byMs);
    await one.write(2);
    await one.check('after a start with the wrong clock');
    await clock.set(0);
    await one.write(2);
    await one.check('after it was set right');
    await one.restart(0, 0);
    await one.write(1);
    await one.check('after the last start');
  } finally {
    await one.end();
  }
  return one.mistakes;
}

/** One studio, through all of it. */
class Attempt {
  readonly mistakes: string[] = [];
  readonly #folder: string;
  readonly #clock: SettableClock;
  readonly #lateMs: number;
  #hub!: SettableHub;
  #client!: ReturnType<typeof connect>;
  #written = 0;
  #jumps = 0;
  #starts = 0;
  #cookie = '';
  #link = '';

  constructor(folder: string, clock: SettableClock, lateMs: number) {
    this.#folder = folder;
    this.#clock = clock;
    this.#lateMs = lateMs;
  }

  async start(): Promise<void> {
    this.#hub = await startSettableHub(this.#folder, this.#clock);
    this.#starts++;
    this.#client = connect(`http://127.0.0.1:${this.#hub.port}`, { token: rootToken });
    await this.#client.whenLive();
  }

  async end(): Promise<void> {
    this.#client?.close();
    this.#hub?.process.kill('SIGKILL');
  }

  /** Starts the hub anew after the clock was set from one to another wrong time, with a timer under way. */
  async restart(fromMs: number, toMs: number): Promise<void> {
    await this.#clock.set(fromMs);
    await after(1500); // what is noticed by then is a jump of this run
    const late = Number((await this.#value('desk/late')) ?? 0);
    await this.#client.set('clock/timer/2/start', waitMs);
    await after(300);
    this.#client.close();
    await this.#hub.stop();
    await this.#clock.set(toMs);
    await this.start();
    const startedMs = performance.now();
    const hasFired = async () => Number(await this.#value('desk/late')) === late + 1;
    const isFired = await becomesSo(hasFired, { deadlineMs: waitMs + this.#lateMs + 3000, everyMs: 50 });
    if (!isFired)
      this.#say(
        `a timer of ${waitMs} ms that ran at the restart has not fired ${Math.round(performance.now() - startedMs)} ms after it`,
      );
  }

  /** Writes values that are each one more. */
  async write(count: number): Promise<void> {
    for (let one = 0; one < count; one++) await this.#client.set('desk/n', ++this.#written);
  }

  /** A browser signs in, and a kiosk is invited. */
  async signIn(): Promise<void> {
    const signedIn = await this.#ask('/hub/sign-in', { user: 'ann', password }, '');
    this.#cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
    const invite = { action: 'invite', user: 'door', device: 'Reception', dashboard: 'door' };
    const { link } = (await (await this.#ask('/hub/users', invite)).json()) as { link: string };
    this.#link = link;
  }

  /** Everything begins to wait, and the clock is set; all of it has to end when it would have. */
  async setWhileWaiting(byMs: number): Promise<void> {
    const ended = new Map<string, number>();
    let beganMs = Number.POSITIVE_INFINITY;
    const following = Object.entries(waiting).map(([name, address]) => {
      const seen = new Set<unknown>();
      return this.#client.param(address).subscribe((value) => {
        if (value === undefined) return;
        // A pulse and a TOF end with false, after they were true.
        const isEnd = endsFalse.includes(address)
          ? value === false && seen.has(true)
          : seen.size > 0 && !seen.has(value);
        seen.add(value);
        if (isEnd && performance.now() > beganMs && !ended.has(name)) ended.set(name, performance.now() - beganMs);
      });
    });
    const beats = { pulses: await this.#pulses(), missed: this.#missedPulses(), fromMs: performance.now() };
    let missedHere = 0;
    const beatsHere = grid(pulseMs).subscribe(({ missed }) => {
      missedHere += missed;
    });
    await this.#client.set('desk/in', true);
    beganMs = performance.now();
    await after(1000);
    // A full minute comes soon after the clock was set, and may not be lost.
    const minutes = Number(await this.#value('desk/minutes'));
    const toMinuteMs = 1500;
    const shown = this.#clock.now() + byMs;
    const aligned = byMs + (60_000 - toMinuteMs - (shown % 60_000));
    await this.#clock.set(aligned);
    this.#jumps++;
    await after(waitMs - 1000 + this.#lateMs + 500);
    for (const [name] of Object.entries(waiting)) {
      const tookMs = ended.get(name);
      if (tookMs === undefined) this.#say(`${name} of ${waitMs} ms has not ended`);
      else if (Math.abs(tookMs - waitMs) > this.#lateMs)
        this.#say(`${name} of ${waitMs} ms has ended after ${Math.round(tookMs)} ms`);
    }
    beatsHere.unsubscribe();
    await this.#expectPulses({ ...beats, missedHere });
    // What a clock that is set ahead has gone past by less than a minute fires late.
    const most = byMs > 0 ? 2 : 1;
    const fires = Number(await this.#value('desk/minutes')) - minutes;
    if (fires < 1 || fires > most) this.#say(`the schedule has fired ${fires} times at the minute that came next`);
    for (const one of following) one.unsubscribe();
  }

  /** What is kept has to be there, in an order that makes sense. */
  async check(when: string): Promise<void> {
    const say = (text: string) => this.#say(`${when}: ${text}`);
    await after(1500); // what is written once a second is
    const all = 'from=0&to=7999999999999';
    if (Number(await this.#value('desk/n')) !== this.#written)
      say(`desk/n is ${await this.#value('desk/n')} in place of ${this.#written}`);
    const audit = await this.#get<AuditPage>('/hub/audit?address=desk/n&limit=1000');
    if (audit.entries.length !== this.#written)
      say(`the audit has ${audit.entries.length} of ${this.#written} entries`);
    for (const { before, after } of audit.entries)
      if (Number(after) !== Number(before) + 1) say(`the audit has ${before} before ${after}`);
    const { entries: jumps } = await this.#get<AuditPage>('/hub/audit?kind=clock');
    if (jumps.length < this.#jumps) say(`the audit has ${jumps.length} of ${this.#jumps} jumps of the clock`);
    const { entries: starts } = await this.#get<AuditPage>('/hub/audit?kind=start');
    if (starts.length !== this.#starts) say(`the audit has ${starts.length} of ${this.#starts} starts`);
    const { times, gaps } = await this.#get<History>(`/hub/history/desk/n?points=10000&${all}`);
    if (times.some((time, index) => index > 0 && time < times[index - 1]!)) say('times of the history do not grow');
    for (const { from, to } of gaps) if (from > to) say(`the history has a gap from ${from} to ${to}`);
    const { events } = await this.#get<EventList>(`/hub/events/desk/n?limit=1000&${all}`);
    const changes = events.filter(({ writer }) => writer.kind === 'client');
    if (changes.length !== this.#written) say(`the history has ${changes.length} of ${this.#written} changes`);
    for (const { value, previous } of changes)
      if (previous !== undefined && Number(previous) !== Number(value) - 1)
        say(`the history has ${value}, which was ${previous}`);
    const { uptimeSeconds } = await this.#get<{ uptimeSeconds: number }>('/hub/health');
    if (uptimeSeconds > 300) say(`the hub runs for ${uptimeSeconds} s`);
    if (!(await this.#isLetIn())) say('the browser is signed out');
    if (this.#link !== '') {
      const opened = await this.#ask('/hub/sign-in', { code: this.#link.split('#')[1] }, '');
      if (opened.status !== 200) say(`the link of the kiosk is answered ${opened.status}`);
      this.#link = '';
    }
  }

  /** A clock that is ahead at a start by more than 30 days asks for the password, until it is right. */
  async #isLetIn(): Promise<boolean> {
    const { status } = await fetch(`http://127.0.0.1:${this.#hub.port}/parameters/desk/n`, {
      headers: { cookie: this.#cookie, connection: 'close' },
    });
    const isAsked = this.#starts === 2 && this.#clock.wrongMs > 30 * day;
    return status === 200 || (isAsked && status === 401);
  }

  /** Each beat of the pulse has fired, or the log has named it as missed; and no more are missed than on a busy machine. */
  async #expectPulses(before: { pulses: number; missed: number; fromMs: number; missedHere: number }): Promise<void> {
    let fired = 0;
    let missed = 0;
    let expected = 0;
    const isEachKnown = async () => {
      expected = (performance.now() - before.fromMs) / pulseMs;
      missed = this.#missedPulses() - before.missed;
      fired = (await this.#pulses()) - before.pulses;
      return fired + missed > expected - 3;
    };
    const areKnown = await becomesSo(isEachKnown, { deadlineMs: logMissedMs + this.#lateMs, everyMs: 20 });
    const counted = `${fired} times and missed ${missed} in place of ${Math.round(expected)}`;
    const isTooOften = fired > expected + 3;
    const missedMost = before.missedHere + this.#lateMs / pulseMs + 2;
    if (!areKnown || isTooOften || missed > missedMost) this.#say(`a pulse has fired ${counted}`);
  }

  async #pulses(): Promise<number> {
    return Number(await this.#value('desk/pulses'));
  }

  /** How many fires of the pulse the log has named as missed, since the hub was started. */
  #missedPulses(): number {
    return this.#hub.log.reduce((sum, { missed }) => sum + Number(missed ?? 0), 0);
  }

  #say(mistake: string): void {
    this.mistakes.push(mistake);
  }

  async #value(address: string): Promise<string> {
    const answer = await this.#fetch(`/parameters/${address}`);
    return answer.ok ? answer.text() : '';
  }

  async #get<Answer>(path: string): Promise<Answer> {
    const answer = await this.#fetch(path, { headers: { accept: 'application/json' } });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
    return JSON.parse(text) as Answer;
  }

  #ask(path: string, body: object, token = rootToken): Promise<Response> {
    return this.#fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify(body),
      token,
    });
  }

  #fetch(
    path: string,
    { headers, token = rootToken, ...request }: RequestInit & { token?: string } = {},
  ): Promise<Response> {
    const credentials = token === '' ? {} : { authorization: `Bearer ${token}` };
    return fetch(`http://127.0.0.1:${this.#hub.port}${path}`, {
      ...request,
      headers: { ...(headers as object), ...credentials, connection: 'close' },
    });
  }
}
