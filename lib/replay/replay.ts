// Runs two installations in virtual time on a recording of the outside writes to a hub, and reports where the installations differ.

import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { openRegularFile } from '../files/regular-file.ts';
import type { ConnectionPlan, Plan } from '../flow/plan.ts';
import type { Graph } from '../graph/graph.ts';
import { type HubLog, repeated } from '../hub/index.ts';
import { runningOn } from '../hub/shadow/shadow-run.ts';
import { Deviations, type SideName } from '../hub/twin/deviations.ts';
import { runTwin, type Twin } from '../hub/twin/run-twin.ts';
import { HubError, messageOf } from '../model/error.ts';
import type { Change } from '../model/parameter.ts';
import { VirtualClock } from '../testing/virtual-clock.ts';
import {
  decodeLine,
  type RecordedTurn,
  type RecordedValue,
  type RecordingLine,
  type RecordingStart,
} from '../wire/recording.ts';

/** The maximum number of deviations that are kept by default; the newest deviations are kept. */
const keptDeviations = 100_000;

interface Replayed {
  readonly deviations: Deviations;
  /** The length of the recording, in milliseconds. */
  readonly lastedMs: number;
  readonly turns: number;
  readonly writes: number;
  /** The number of recorded writes that were skipped because neither installation has the parameter. */
  readonly unknown: number;
}

/** One of the two installations: a twin with its own clock. */
interface Side {
  readonly twin: Twin;
  readonly clock: VirtualClock;
  /**
   * The IDs of connections that differ from the recorded connections. These connections compute their values instead of receiving the
   * recorded values.
   */
  readonly own: ReadonlySet<string>;
}

/**
 * Replays a recording on the current flows and on the changed flows. Keeps the newest `most` deviations. Errors: any error from the
 * recording, in which case the results so far are lost.
 */
export async function replay(
  { start, values, turns }: ReadRecording,
  flows: Plan,
  changed: Plan,
  most = keptDeviations,
): Promise<Replayed> {
  const deviations = new Deviations({ most, momentMs: 0 });
  const setting = { time: start.time, values };
  const comparison = new Comparison(deviations);
  const done = startSide(flows, flows, setting, (graph) => comparison.follow('done', graph));
  const would = startSide(changed, flows, setting, (graph) => comparison.follow('would', graph));
  const sides = [done, would];
  let lastedMs = 0;
  let count = 0;
  let writes = 0;
  let unknown = 0;
  for await (const turn of turns) {
    lastedMs = turn.t;
    for (const side of sides) replayTurn(side, turn);
    comparison.compare();
    count++;
    writes += turn.w.length;
    for (const [address] of turn.w) if (sides.every(({ twin }) => twin.graph.find(address) === undefined)) unknown++;
  }
  deviations.endMoments(Number.POSITIVE_INFINITY);
  for (const { twin } of sides) await twin.stop();
  return { deviations, lastedMs, turns: count, writes, unknown };
}

/** The state of the installation at the start of a recording. */
interface Setting {
  readonly time: number;
  readonly values: readonly RecordedValue[];
}

/**
 * Starts flows with the values in a recording. Rules and connections that are the same as in `recorded` continue; all others start from
 * scratch.
 */
export function startSide(
  flows: Plan,
  recorded: Plan,
  { time, values }: Setting,
  prepared: (graph: Graph) => void,
): Side {
  const clock = new VirtualClock();
  const recordedKeys = new Set(recorded.rules.map(({ key }) => key));
  const recordedConnections = new Map(recorded.connections.map(({ id, key }) => [id, key]));
  const isAsRecorded = ({ id, key, type }: ConnectionPlan) => type.isExternal || recordedConnections.get(id) === key;
  const own = new Set(flows.connections.filter((one) => !isAsRecorded(one)).map(({ id }) => id));
  const plan: Plan = {
    ...flows,
    connections: flows.connections.map(repeated),
    rules: flows.rules.map((rule) => (recordedKeys.has(rule.key) ? runningOn(rule) : rule)),
  };
  const twin = runTwin(plan, {
    log: silent,
    scheduler: clock,
    now: () => time + clock.now(),
    withoutTicks: new Set(flows.connections.filter(isAsRecorded).map(({ id }) => id)),
    prepare(graph) {
      for (const { p, v } of values) restore(graph, p, v, time);
      prepared(graph);
    },
  });
  return { clock, twin, own };
}

/** Lets virtual time pass until a recorded turn, and makes the external writes in that turn. */
export function replayTurn({ twin, clock, own }: Side, { t, w, d = [] }: RecordedTurn): void {
  clock.advanceTo(t);
  if (d.length > 0) twin.follow(d);
  const writes = own.size === 0 ? w : w.filter(([, , kind, name]) => !(kind === 'connection' && own.has(name)));
  if (writes.length === 0) return;
  twin.receive(writes.map(([address, value, kind, name]) => ({ address, value, origin: { kind, name } })));
  clock.advanceTo(t);
}

function restore(graph: Graph, address: string, value: RecordedValue['v'], time: number): void {
  const node = graph.find(address);
  if (node === undefined || node.type === 'T') return;
  try {
    graph.restore(node, { value, time, readCause: () => undefined }, node.owner);
  } catch {
    // the parameter has another type in these flows: it starts with its default value or unknown
  }
}

/**
 * Compares the changes on both sides since the last comparison. One side runs ahead of the other, so changes are compared in chronological
 * order.
 */
class Comparison {
  readonly #deviations: Deviations;
  readonly #changes: Readonly<Record<SideName, Change[]>> = { done: [], would: [] };

  constructor(deviations: Deviations) {
    this.#deviations = deviations;
  }

  follow(side: SideName, graph: Graph): void {
    for (const node of graph.parameters()) this.#deviations.begin(side, node);
    const push = (change: Change) => void this.#changes[side].push(change);
    for (const source$ of [graph.changes$, graph.wanted$]) source$.subscribe({ next: push, error: () => {} });
  }

  compare(): void {
    const { done, would } = this.#changes;
    for (let [at, other] = [0, 0]; at < done.length || other < would.length; ) {
      const isDone = other >= would.length || (at < done.length && done[at]!.time <= would[other]!.time);
      if (isDone) this.#deviations.note('done', done[at++]!);
      else this.#deviations.note('would', would[other++]!);
    }
    done.length = 0;
    would.length = 0;
  }
}

const nothing = () => {};
const entries = { debug: nothing, info: nothing, warn: nothing, error: nothing };
/** A log that discards all entries, because a replay does not report rule failures. */
const silent: HubLog = { ...entries, child: () => entries };

// Reads a recording. An error names the damaged line. An incomplete last line, left by a kill, is ignored.

interface ReadRecording {
  readonly start: RecordingStart;
  readonly values: readonly RecordedValue[];
  /** The recorded turns in chronological order. Errors: `bad-request`, which names the damaged line. */
  readonly turns: AsyncIterable<RecordedTurn>;
}

/** Opens the recording at a path. Errors: `bad-request`, which names the damaged or missing line; any file system error. */
export async function openRecording(path: string): Promise<ReadRecording> {
  const lines = readLines(path);
  const start = (await lines.next()).value?.line;
  if (start === undefined || !('recording' in start)) throw damaged(path, 1, 'the first line of a recording');
  const values: RecordedValue[] = [];
  while (values.length < start.values) {
    const { value: next } = await lines.next();
    if (next === undefined || !('p' in next.line))
      throw damaged(path, next?.number ?? values.length + 2, `${start.values} values`);
    values.push(next.line);
  }
  return { start, values, turns: turnsOf(path, lines) };
}

async function* turnsOf(path: string, lines: AsyncIterable<Numbered>): AsyncGenerator<RecordedTurn> {
  let lastMs = 0;
  for await (const { line, number } of lines) {
    if (!('t' in line) || line.t < lastMs) throw damaged(path, number, 'a turn no earlier than the previous one');
    lastMs = line.t;
    yield line;
  }
}

interface Numbered {
  readonly line: RecordingLine;
  readonly number: number;
}

async function* readLines(path: string): AsyncGenerator<Numbered, undefined> {
  let number = 0;
  /** The number of a line that cannot be decoded, or 0. At the end of the file, the line is incomplete; elsewhere, it is damaged. */
  let broken = 0;
  const found = await openRegularFile(path).catch((error) => {
    throw new HubError('bad-request', `${path}: expected a recording, got ${messageOf(error)}`, { cause: error });
  });
  await found.close();
  for await (const text of createInterface({
    input: Readable.from(piecesOf(path)),
    crlfDelay: Number.POSITIVE_INFINITY,
  })) {
    number++;
    if (broken > 0) throw damaged(path, broken, 'a readable line');
    const line = decodeLine(text);
    if (line === undefined) broken = number;
    else yield { line, number };
  }
  if (broken > 0 && (await endsWithLine(path))) throw damaged(path, broken, 'a readable line');
  return undefined;
}

/** The maximum length of a line in a recording, in bytes. Longer lines are truncated, because they cannot be part of a recording. */
const maxLineBytes = 64 * 1024 * 1024;

async function* piecesOf(path: string): AsyncGenerator<Buffer> {
  let lineBytes = 0;
  for await (const piece of createReadStream(path) as AsyncIterable<Buffer>) {
    const end = piece.lastIndexOf(0x0a);
    lineBytes = end < 0 ? lineBytes + piece.length : piece.length - end - 1;
    if (lineBytes <= maxLineBytes) yield piece;
  }
}

/** Returns whether the last line of a recording is complete and not truncated by a kill. */
async function endsWithLine(path: string): Promise<boolean> {
  const handle = await open(path);
  try {
    const { size } = await handle.stat();
    const { buffer } = await handle.read({ position: size - 1, length: 1 });
    return buffer[0] === 0x0a;
  } finally {
    await handle.close();
  }
}

function damaged(path: string, line: number, expected: string): HubError {
  return new HubError('bad-request', `${path}:${line}: expected ${expected}: the recording is damaged here`);
}
