// A flow under test: a hub with the real connections from the flow files on a virtual clock. Connections with effects outside the process
// (network, keyboard, files) do not run: they only declare their parameters, which the test sets.

import { resolve } from 'node:path';
import type { Subscription } from 'rxjs';
import type { ConnectionContext, ConnectionType, PlayedMessages } from '../connections/connection.ts';
import type { ShownPart } from '../connections/editing.ts';
import type { Link, LinkListener, Transport } from '../device/transport.ts';
import { type ConnectionPlan, type Plan, type RulePlan, sourcesOf } from '../flow/plan.ts';
import {
  type Assignment,
  type Expectation,
  formatValue,
  type TestPlan,
  type TestStep,
  timesFired,
} from '../flow/test-plan.ts';
import type { Graph } from '../graph/graph.ts';
import type { ParameterNode } from '../graph/parameter-node.ts';
import { Hub, type HubLog, type RunOptions, simulated } from '../hub/index.ts';
import { Journal } from '../hub/journal.ts';
import { formatAddress } from '../model/address.ts';
import { messageOf } from '../model/error.ts';
import { type Change, type Origin, type ParameterDeclaration, staleSinceOf } from '../model/parameter.ts';
import type { Value } from '../model/value.ts';
import { VirtualClock } from './virtual-clock.ts';

/** The default time of day at the start of a test: midnight UTC on a Monday. */
const testEpochMs = Date.UTC(2024, 0, 1);

const setBefore: Origin = { kind: 'client', name: 'given' };
const test: Origin = { kind: 'client', name: 'test' };

/** An expectation that must not be met until the time `untilMs`. */
interface Watch {
  readonly expectation: Expectation;
  readonly untilMs: number;
}

export class TestRun {
  readonly clock = new VirtualClock();
  readonly timeline = new Timeline();
  /** Whether an expectation has failed. After a failure, no further steps run. */
  isFailed = false;
  graph!: Graph;
  readonly #plan: Plan;
  readonly #epochMs: number;
  readonly #fires = new Map<string, number>();
  readonly #devices = new Map<string, TestDevice>();
  #watches: Watch[] = [];
  #hub: Hub | undefined;
  #changes: Subscription | undefined;

  private constructor(plan: Plan, epochMs: number) {
    this.#plan = plan;
    this.#epochMs = epochMs;
  }

  /**
   * Starts the hub with given values at a time of day, and simulates the given devices. Afterwards, the clock is at 0, and no scheduled
   * action has run.
   */
  static async start(
    plan: Plan,
    { given, startMs: epochMs = testEpochMs, played }: Pick<TestPlan, 'given' | 'startMs' | 'played'>,
  ): Promise<TestRun> {
    const run = new TestRun(plan, epochMs);
    const withDevices = (one: ConnectionPlan) => (played.has(one.id) ? run.#play(one) : simulated(one));
    const options: RunOptions = {
      log: Journal.ungated(run.#createLog()), // a log gate would measure real seconds
      scheduler: run.clock,
      now: () => epochMs + run.clock.now(),
      prepare: (graph) => run.#prepare(graph, given),
    };
    run.#hub = await run.clock.asDefault(() =>
      Hub.run({ ...plan, connections: plan.connections.map(withDevices) }, options),
    );
    return run;
  }

  /** Runs the steps, and lets the time of the last `during` pass. A failure ends the run early and is marked in the timeline. */
  do(steps: readonly TestStep[]): void {
    try {
      this.clock.asDefault(() => this.#doAll(steps));
    } catch (error) {
      this.#fail('', messageOf(error));
    }
  }

  advance(durationMs: number): void {
    const nothing = { set: [], expect: [], never: [], link: [], receive: [], sent: [], stale: [], wanted: [] };
    this.do([{ ...nothing, atMs: this.clock.now() + durationMs, duringMs: 0 }]);
  }

  async stop(): Promise<void> {
    this.#changes?.unsubscribe();
    await this.#hub?.stop();
  }

  #prepare(graph: Graph, assignments: readonly Assignment[]): void {
    this.graph = graph;
    for (const { address, value } of graph.changedSince(0)) this.timeline.addKnown(address, value!);
    this.#changes = graph.changes$.subscribe({
      next: (change) => this.#note(change),
      error: (error) => this.#fail('', messageOf(error)),
    });
    for (const assignment of assignments) this.#write(assignment, setBefore);
  }

  #doAll(steps: readonly TestStep[]): void {
    for (const step of steps) {
      this.#advanceTo(step.atMs ?? this.clock.now());
      if (this.isFailed) return;
      this.#step(step);
    }
    this.#advanceTo(Math.max(this.clock.now(), ...this.#watches.map(({ untilMs }) => untilMs)));
  }

  #step({ set, expect, never, duringMs, ...devices }: TestStep): void {
    for (const { connectionId, isUp } of devices.link) this.#devices.get(connectionId)!.link(isUp);
    if (devices.link.length > 0) this.#advanceTo(this.clock.now());
    for (const assignment of set) this.#write(assignment, test);
    this.#advanceTo(this.clock.now());
    for (const { connectionId, bytes, place } of devices.receive) {
      if (!this.#devices.get(connectionId)!.receive(bytes))
        this.#fail('', `${connectionId}: expected an open link to the device, got none at this time (${place()})`);
      this.#advanceTo(this.clock.now());
    }
    this.#expectOfDevices(devices);
    for (const expectation of expect) {
      const { address, isTrigger } = expectation;
      const actual = isTrigger ? (this.#fires.get(address) ?? 0) : this.#node(address).value;
      if (!expectation.isMetBy(actual)) this.#fail(address, this.#explain(expectation, actual));
    }
    if (expect.length > 0) this.#fires.clear();
    if (this.isFailed) return;
    const watches = never.map((expectation) => ({ expectation, untilMs: this.clock.now() + duringMs }));
    for (const { expectation } of watches)
      if (!expectation.isTrigger) this.#reject(expectation, this.#node(expectation.address).value);
    this.#watches.push(...watches);
  }

  #expectOfDevices({ sent, stale, wanted }: Pick<TestStep, 'sent' | 'stale' | 'wanted'>): void {
    for (const { connectionId, frames, place } of sent) {
      const others = this.#devices.get(connectionId)!.takeSent();
      const compared = frames.length === 0 ? others : others.filter((frame) => frames.includes(frame));
      if (JSON.stringify(compared) === JSON.stringify(frames)) continue;
      const listed = (some: readonly string[]) => (some.length === 0 ? 'nothing' : some.map(formatValue).join(', '));
      this.#fail(
        '',
        `${connectionId}: expected to have sent ${listed(frames)}, got ${listed(others.slice(-8))} (${place()})`,
      );
    }
    for (const { connectionId, isStale, place } of stale) {
      const own = [...this.graph.parameters()].find(({ owner: { name } }) => name === connectionId);
      const isIt = own !== undefined && staleSinceOf(own) !== undefined;
      if (isIt !== isStale)
        this.#fail(
          '',
          `${connectionId}: expected ${isStale ? 'stale' : 'fresh'} values, got ${isIt ? 'stale' : 'fresh'} ones (${place()})`,
        );
    }
    for (const { address, text, place, isMetBy } of wanted) {
      const pending = this.#node(address).wanted?.value;
      const got = pending === undefined ? 'none' : formatValue(pending);
      if (!isMetBy(pending)) this.#fail(address, `expected ${text}, got ${got} (${place()})`);
    }
  }

  /** Returns a connection whose device is simulated by the steps. */
  #play(connection: ConnectionPlan): ConnectionPlan {
    const { id, settings, folder } = connection;
    const type = connection.type as ConnectionType;
    const messages = type.played!.messages(settings, (path) => resolve(folder, path));
    const device = new TestDevice(this.clock, messages);
    this.#devices.set(id, device);
    const wire: ConnectionContext<unknown>['wire'] = (direction, bytes) => {
      const frame = messages.show(bytes);
      if (direction === 'out') device.noteSent(frame);
      this.timeline.addNote(this.clock.now(), `${id} ${direction === 'out' ? '>' : '<'} ${formatValue(frame)}`);
    };
    const wireReceived: ConnectionContext<unknown>['wireReceived'] = (frames, from, end) => {
      for (const frame of frames.slice(from, end)) wire('in', frame.bytes.subarray(frame.from, frame.end));
    };
    const run: ConnectionType['run'] = (context) => type.played!.run({ ...context, wire, wireReceived }, device);
    return { ...connection, type: { ...type, run } };
  }

  #advanceTo(timeMs: number): void {
    this.clock.advanceTo(timeMs, () => this.isFailed);
    this.#watches = this.#watches.filter(({ untilMs }) => untilMs > this.clock.now());
  }

  /** Writes a value as a client. A read-only parameter is written on behalf of its connection, which is not running. */
  #write({ address, value }: Assignment, origin: Origin): void {
    const node = this.#node(address);
    this.graph.writeTo(node, value, node.access === 'read-only' ? node.owner : origin);
  }

  #note(change: Change): void {
    const { address, type } = change.parameter;
    this.timeline.addChange(this.clock.now(), change);
    if (type === 'T') this.#fires.set(address, (this.#fires.get(address) ?? 0) + 1);
    for (const { expectation, untilMs } of this.#watches)
      if (expectation.address === address && this.clock.now() < untilMs) this.#reject(expectation, change.value);
  }

  #reject(expectation: Expectation, actual: Value | undefined): void {
    const { address, text, place } = expectation;
    if (expectation.isMetBy(actual)) this.#fail(address, `got ${text}, which \`never\` rules out (${place()})`);
  }

  #explain({ address, isTrigger, text, place }: Expectation, actual: Value | undefined): string {
    const last = this.#node(address).lastChange;
    const since = last === undefined ? '' : `, since ${this.#timeOf(last)} by ${formatOrigin(last.origin)}`;
    const got = isTrigger ? timesFired(actual as number) : `${formatValue(actual)}${since}`;
    return `expected ${text}, got ${got} (${place()})`;
  }

  #timeOf({ time }: Change): string {
    return formatTime(time - this.#epochMs);
  }

  #fail(address: string, text: string): void {
    this.isFailed = true;
    const relevant = address === '' ? undefined : upstreamOf(this.#plan, [address]);
    const origin = address === '' ? undefined : this.#node(address).lastChange?.origin;
    this.timeline.addMark(this.clock.now(), address, text, relevant, origin);
    for (const { name, to, state, reason } of this.#hub?.rules() ?? [])
      if (state === 'waiting' && to.some((one) => relevant?.has(one) ?? true))
        this.timeline.addNote(this.clock.now(), `rule "${name}" ${reason}`);
  }

  #node(address: string): ParameterNode {
    return this.graph.find(address)!;
  }

  /** Creates a log whose warnings and errors become notes in the timeline. */
  #createLog(): HubLog {
    const note = (_: object, message: string) => this.timeline.addNote(this.clock.now(), message);
    const log = { debug: () => {}, info: () => {}, warn: note, error: note };
    return { ...log, child: () => log };
  }
}

/** The maximum number of frames that a simulated device keeps for the next `sent`. */
const maxKeptFrames = 20_000;

/** A device that is simulated by the steps of a test. It serves as the transport of its connection, so that no data leaves the process. */
class TestDevice implements Transport {
  readonly name = 'test';
  readonly keepsFrames: boolean;
  readonly isPassive: boolean;
  readonly #clock: VirtualClock;
  #sent: string[] = [];
  #isUp = true;
  #isOpen = false;
  #listener: LinkListener | undefined;

  constructor(clock: VirtualClock, { transport }: PlayedMessages) {
    this.keepsFrames = transport.keepsFrames;
    this.isPassive = transport.isPassive === true;
    this.#clock = clock;
  }

  open(listener: LinkListener): Link {
    this.#listener = listener;
    const opening = this.isPassive && !this.#isUp ? undefined : this.#clock.schedule(() => this.#opened());
    return {
      send() {},
      end: () => {
        opening?.unsubscribe();
        if (this.#listener === listener) this.#forget();
      },
    };
  }

  /** Makes the device send bytes to the hub. Returns false if there is no open link. */
  receive(bytes: Uint8Array): boolean {
    const wasOpen = this.#isOpen; // the hub may close the link after a message
    if (wasOpen) this.#listener!.received(bytes);
    return wasOpen;
  }

  /** Makes the device reachable or not. When `isUp` is false, the link ends, and further links are refused until `isUp` is true again. */
  link(isUp: boolean): void {
    this.#isUp = isUp;
    const listener = this.#listener;
    if (!isUp && this.#isOpen) {
      this.#forget();
      listener!.closed('the device closed the link');
    } else if (isUp && this.isPassive && !this.#isOpen && listener !== undefined)
      this.#clock.schedule(() => this.#opened());
  }

  noteSent(frame: string): void {
    if (this.#sent.length >= maxKeptFrames) this.#sent = this.#sent.slice(-maxKeptFrames / 2);
    this.#sent.push(frame);
  }

  /** Returns the frames that the hub has sent to the device since the last call. */
  takeSent(): readonly string[] {
    const sent = this.#sent;
    this.#sent = [];
    return sent;
  }

  #opened(): void {
    const listener = this.#listener;
    if (listener === undefined || this.#isOpen) return;
    if (this.#isUp) {
      this.#isOpen = true;
      listener.opened();
    } else {
      this.#forget();
      listener.closed('connect ECONNREFUSED'); // so that the hub retries after at most 4 s
    }
  }

  #forget(): void {
    this.#listener = undefined;
    this.#isOpen = false;
  }
}

// The timeline of a test: each change with its time, its previous value and its origin, and a mark where the test failed. The number of
// kept lines is limited; the newest lines of each parameter are kept. If the test fails, the timeline shows the lines that may have led to
// the failure.

/** The maximum number of lines that a timeline shows. Further lines are only counted. */
export const maxTimelineLines = 200;
/** The maximum number of lines that a timeline shows per parameter. */
export const maxLinesOfParameter = 20;
/** The maximum number of lines that a timeline keeps in memory. Only a part of these lines is shown. */
const maxKeptLines = 10 * maxTimelineLines;

const widestColumn = 40;

interface Line {
  readonly isMark: boolean;
  /** The address of the changed parameter. Undefined if the line is always shown. */
  readonly address?: string;
  /** true if the line is dropped because its parameter has `maxLinesOfParameter` newer lines. */
  isLeft?: true;
  readonly timeMs: number;
  readonly columns: readonly string[];
  /** The writer, which has its own column. */
  readonly origin?: Origin | undefined;
}

class Timeline {
  #lines: Line[] = [];
  readonly #values = new Map<string, Value>();
  readonly #linesOf = new Map<string, Line[]>();
  #count = 0;
  /** The addresses of the parameters that may have led to the failure; undefined stands for all parameters. */
  #relevant: Set<string> | undefined;

  /** Records the value of a parameter at the start of the test. */
  addKnown(address: string, value: Value): void {
    this.#values.set(address, value);
  }

  addChange(timeMs: number, { parameter: { address, type }, value, origin }: Change): void {
    const isTrigger = type === 'T';
    const before = this.#values.get(address);
    if (!isTrigger) this.#values.set(address, value);
    const what = isTrigger ? 'fired' : `${formatValue(before)} → ${formatValue(value)}`;
    this.#add({ isMark: false, timeMs, address, columns: [address, what, formatOrigin(origin)], origin });
  }

  /** Adds a log line as a note, for example about a rule that failed on a value. */
  addNote(timeMs: number, text: string): void {
    this.#add({ isMark: false, timeMs, columns: [text] });
  }

  /** Marks the moment at which an expectation failed. The timeline then shows only the changes of relevant parameters. */
  addMark(timeMs: number, address: string, text: string, relevant?: ReadonlySet<string>, origin?: Origin): void {
    if (relevant !== undefined) this.#relevant = new Set([...(this.#relevant ?? []), ...relevant]);
    this.#add({ isMark: true, timeMs, columns: [address, text], origin });
  }

  /**
   * Returns the timeline in columns. With `part`, only the lines that a user may see are included, without log lines. A mark starts with
   * `>>`.
   */
  format(part?: ShownPart): string {
    const lines = this.#lines.filter((line) => this.#isShown(line));
    const shown = (part === undefined ? lines : lines.flatMap((line) => shownOf(line, part))).slice(-maxTimelineLines);
    const others = this.#count - shown.length;
    const table = shown.map(({ isMark, timeMs, columns }) => ({
      mark: isMark ? '>>' : '  ',
      cells: [formatTime(timeMs), ...columns],
    }));
    const widthOf = (column: number) =>
      Math.min(
        widestColumn,
        Math.max(
          0,
          ...table.filter(({ cells }) => cells.length > column + 1).map(({ cells }) => cells[column]!.length),
        ),
      );
    const widths = [0, 1, 2].map(widthOf);
    const rows = table.map(({ mark, cells }) =>
      [mark, ...cells.map((cell, column) => (column < cells.length - 1 ? cell.padEnd(widths[column]!) : cell))].join(
        '  ',
      ),
    );
    return [...(others > 0 ? [`    … ${others} others …`] : []), ...rows].join('\n');
  }

  #add(line: Line): void {
    this.#count++;
    this.#lines.push(line);
    if (line.address !== undefined) {
      const ofParameter = this.#linesOf.get(line.address) ?? [];
      this.#linesOf.set(line.address, ofParameter);
      if (ofParameter.push(line) > maxLinesOfParameter) ofParameter.shift()!.isLeft = true;
    }
    if (this.#lines.length >= 2 * maxKeptLines)
      this.#lines = this.#lines.filter(({ isLeft }) => !isLeft).slice(-maxKeptLines);
  }

  #isShown({ address, isLeft }: Line): boolean {
    return !isLeft && (address === undefined || (this.#relevant?.has(address) ?? true));
  }
}

/** Returns the part of a line that a user may see: nothing, the whole line, or the line without its writer. */
function shownOf(line: Line, { mayRead, mayName }: ShownPart): Line[] {
  const { address, isMark, origin, columns } = line;
  if (address === undefined ? !isMark : !mayRead(address)) return [];
  const isHidden = origin !== undefined && (origin.kind === 'rule' ? !mayName(origin.name) : origin.kind !== 'client');
  if (!isHidden) return [line];
  const writer = formatOrigin(origin);
  return [{ ...line, columns: columns.map((one) => (one === writer ? '' : one.replace(` by ${writer}`, () => ''))) }];
}

/** Formats the origin of a change: `rule "lamp off"`, `connection "clock"`, `test`. */
function formatOrigin({ kind, name }: Origin): string {
  return kind === 'client' ? name : `${kind} "${name}"`;
}

/** Formats a time in milliseconds as hours, minutes and seconds: 3500 → `0:00:03.500`. */
function formatTime(timeMs: number): string {
  const two = (number: number) => String(number).padStart(2, '0');
  const seconds = Math.floor(timeMs / 1000);
  const clock = `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return `${clock}.${String(Math.floor(timeMs % 1000)).padStart(3, '0')}`;
}

// Finds the upstream of parameters: the sources of the rules that write the parameters, the sources of the rules that write those sources,
// and so on, also through connections.

/** The rules and connections in a plan that produce values, keyed by the address of the parameter. */
interface Makers {
  readonly rules: ReadonlyMap<string, readonly RulePlan[]>;
  /** The connections that compute their read-only parameters, keyed by the address of each such parameter. */
  readonly connections: ReadonlyMap<string, ConnectionPlan>;
}

/** The producers of each plan, cached because all tests of a plan use them. */
const knownMakers = new WeakMap<Plan, Makers>();

/** Returns the given addresses, and all addresses at which a change may cause changes to these parameters. */
export function upstreamOf(plan: Plan, addresses: Iterable<string>): ReadonlySet<string> {
  const makers = knownMakers.get(plan) ?? makersOf(plan);
  knownMakers.set(plan, makers);
  const upstream = new Set(addresses);
  const seen = new Set<object>();
  const isNew = (one: object) => seen.size !== seen.add(one).size;
  for (const at of upstream) {
    for (const rule of makers.rules.get(at) ?? []) {
      for (const sources of [sourcesOf(rule), rule.sharedAddresses])
        if (isNew(sources)) for (const source of sources) upstream.add(source);
      for (const one of rule.addresses) if (!rule.to.includes(one)) upstream.add(one);
    }
    const connection = makers.connections.get(at);
    if (connection === undefined || !isNew(connection)) continue;
    for (const input of Object.values(connection.inputs)) upstream.add(input);
    for (const { id, access } of connection.parameters)
      if (access !== 'read-only') upstream.add(formatAddress(connection.id, id));
  }
  return upstream;
}

function makersOf({ rules, connections }: Plan): Makers {
  const writers = new Map<string, RulePlan[]>();
  for (const rule of rules)
    for (const address of rule.to) {
      const known = writers.get(address);
      if (known === undefined) writers.set(address, [rule]);
      else known.push(rule);
    }
  const computed = connections.flatMap((connection) =>
    connection.parameters
      .filter(({ access }) => access === 'read-only')
      .map(({ id }) => [formatAddress(connection.id, id), connection] as const),
  );
  return { rules: writers, connections: new Map(computed) };
}

// Parameters of other hubs that a file declares. A test simulates these hubs, like everything else outside the process.

/** Returns the plan with a stand-in for each connection that belongs to another hub. */
export function withRemotes(plan: Plan): Plan {
  const own = new Set(plan.connections.map(({ id }) => id));
  const remote = plan.connections.flatMap(standInsFor).filter(({ id }) => !own.has(id));
  return remote.length === 0 ? plan : { ...plan, connections: [...plan.connections, ...remote] };
}

function standInsFor(connection: ConnectionPlan): ConnectionPlan[] {
  const { type, settings, folder } = connection;
  const { parameters } = type.remotes?.(settings, (path) => resolve(folder, path)) ?? {};
  const byId = new Map<string, ParameterDeclaration[]>();
  for (const [address, { type, access }] of parameters ?? []) {
    const slash = address.indexOf('/');
    const id = address.slice(0, slash);
    byId.set(id, [...(byId.get(id) ?? []), { id: address.slice(slash + 1), type, access }]);
  }
  const { remotes, ...standIn } = simulated(connection).type;
  return [...byId].map(([id, declarations]) => ({ ...connection, id, type: standIn, parameters: declarations }));
}
