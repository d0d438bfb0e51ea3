// Rehearses an edited rule: a twin that runs only this rule receives, in virtual time, the events that started the most recent runs of the
// live rule, or events from a recording. The twin has a separate graph, so nothing that it does is live.

import type { Rehearsal, RehearsedEvent, RehearsedResult, RehearsedRun } from '../connections/editing.ts';
import type { Plan, RulePlan } from '../flow/plan.ts';
import type { Graph } from '../graph/graph.ts';
import { messageOf } from '../model/error.ts';
import type { Origin, Parameter } from '../model/parameter.ts';
import type { RuleRun } from '../model/reports/rule-status.ts';
import { VirtualClock } from '../testing/virtual-clock.ts';
import type { HubLog } from './journal.ts';
import { runningOn, trimmed } from './shadow/shadow-run.ts';
import { runTwin, type Twin } from './twin/run-twin.ts';

/** The maximum number of runs shown in a rehearsal. */
export const rehearsedRuns = 20;
/** The maximum time that a rehearsal may block the hub, in milliseconds. A rule may repeat itself every 10 ms. */
const limitMs = 200;
/** How far apart two runs started by a timer, one on each side, may be to count as the same run, in milliseconds. */
const sameMs = 30;

const outside: Origin = { kind: 'client', name: 'rehearsal' };

interface RehearsalParts {
  /** The plan that contains the edited rule. */
  readonly plan: Plan;
  readonly rule: RulePlan;
  /** The addresses whose changes start the live rule. Empty if the rule is new. */
  readonly sources: readonly string[];
  /** The most recent runs of the live rule, newest first. */
  readonly runs: readonly RuleRun[];
  /** Recorded events of the rule's sources, oldest first. */
  readonly recorded: readonly RehearsedEvent[];
  readonly find: (address: string) => Parameter | undefined;
  readonly now: number;
}

/** Returns the most recent runs of the live rule, newest first, each next to the corresponding run of the edited rule. Never throws. */
export function rehearse(parts: RehearsalParts): Rehearsal {
  const events = eventsOf(parts);
  const [first] = events;
  if (first === undefined) return { runs: [], assumed: [], reason: whyNothing(parts) };
  const { plan, rule, find, now } = parts;
  const addresses = new Set(rule.addresses);
  const firsts = new Map<string, RehearsedEvent>();
  for (const event of events) if (!firsts.has(event.address)) firsts.set(event.address, event);
  const clock = new VirtualClock();
  const twin = runTwin(
    {
      ...plan,
      connections: plan.connections.flatMap((one) => trimmed(one, addresses)),
      rules: [{ ...runningOn(rule), isEnabled: true, isShadow: false }],
      tests: [],
    },
    {
      ...{ log: silent, scheduler: clock, now: () => first.time + clock.now(), withoutTicks: new Set<string>() },
      prepare: (graph) => prepare(graph, firsts, find),
    },
  );
  const cut = play(twin, clock, events, now);
  const would = twin.rules.runsOf(rule.name)[0]?.runs ?? [];
  const assumed = rule.addresses.filter((address) => !rule.to.includes(address) && !isKnown(address, parts, firsts));
  void twin.stop();
  return { runs: beside(parts.runs, would).slice(0, rehearsedRuns), assumed: [...new Set(assumed)], reason: cut };
}

/** Returns whether the twin had the value that the parameter had at the time of the live runs. */
function isKnown(address: string, { sources }: RehearsalParts, firsts: ReadonlyMap<string, RehearsedEvent>): boolean {
  return sources.includes(address) || firsts.has(address);
}

function whyNothing({ sources, rule }: RehearsalParts): string {
  if (sources.length === 0)
    return 'No change to its sources has been recorded yet: this requires a store with a history.';
  return `No run of "${rule.name}" has been recorded since it started.`;
}

/** Returns the events to play, oldest first. A value that a step emits later counts as a separate run, started by the same change. */
function eventsOf({ runs, recorded }: RehearsalParts): RehearsedEvent[] {
  const changes = new Set<number>();
  const kept = runs.toReversed().flatMap(({ source, value, time, revision }): RehearsedEvent[] => {
    if (source === undefined || value === undefined || changes.has(revision)) return [];
    if (revision > 0) changes.add(revision);
    return [{ address: source, value, time }];
  });
  const known = new Set(kept.map(({ address }) => address));
  return [...kept, ...recorded.filter(({ address }) => !known.has(address))].sort((a, b) => a.time - b.time);
}

/**
 * Sets the parameters to their values before the first event. The earlier value of a parameter with an event was not recorded: a boolean
 * had the opposite value; any other value is unknown until its event. All other parameters have their current values.
 */
function prepare(graph: Graph, firsts: ReadonlyMap<string, RehearsedEvent>, find: RehearsalParts['find']): void {
  for (const node of graph.parameters()) {
    if (node.type === 'T') continue;
    const event = firsts.get(node.address);
    const live = find(node.address);
    const value = event === undefined ? live?.value : node.type === 'B' ? event.value !== true : undefined;
    if (value === undefined || live?.type !== node.type) continue;
    graph.restore(node, { value, time: live.lastChange?.time ?? 0, readCause: () => undefined }, node.owner);
  }
}

/** Plays the events on the twin. Returns the reason why the rehearsal ended early, or an empty string if it did not end early. */
function play(twin: Twin, clock: VirtualClock, events: readonly RehearsedEvent[], now: number): string {
  const until = performance.now() + limitMs;
  const isOver = () => performance.now() > until;
  const start = events[0]!.time;
  try {
    for (const { address, value, time } of events) {
      clock.advanceTo(time - start, isOver);
      if (isOver()) return 'The rule runs too often to replay every run.';
      twin.receive([{ address, value, origin: outside }]);
    }
    clock.advanceTo(Math.max(0, now - start), isOver);
    return isOver() ? 'The rule runs too often to replay every run.' : '';
  } catch (error) {
    return messageOf(error);
  }
}

/** Aligns the runs of the live rule with the runs of the edited rule, newest first. */
function beside(was: readonly RuleRun[], would: readonly RuleRun[]): RehearsedRun[] {
  const left = new Set(would.toReversed());
  const rows = was.toReversed().map((run): RehearsedRun => {
    const other = [...left].find((one) => isSameRun(run, one));
    if (other !== undefined) left.delete(other);
    return { ...aboutOf(run), was: resultOf(run), ...(other && { would: resultOf(other) }) };
  });
  const more = [...left].map((run): RehearsedRun => ({ ...aboutOf(run), would: resultOf(run) }));
  return [...rows, ...more].sort((a, b) => a.time - b.time).reverse();
}

function isSameRun(one: RuleRun, other: RuleRun): boolean {
  const apartMs = Math.abs(one.time - other.time);
  return one.source === other.source && apartMs < (one.source === undefined ? sameMs : 1);
}

function aboutOf({ time, source, value }: RuleRun): Pick<RehearsedRun, 'time' | 'source' | 'value'> {
  return { time, ...(source !== undefined && { source }), ...(value !== undefined && { value }) };
}

function resultOf({ outcome, result, error }: RuleRun): RehearsedResult {
  return { outcome, ...(result !== undefined && { result }), ...(error !== undefined && { error }) };
}

const nothing = () => {};
const entries = { debug: nothing, info: nothing, warn: nothing, error: nothing };
/** A log that discards all entries, because the response contains the rule's faults. */
const silent: HubLog = { ...entries, child: () => entries };

/** Returns the edited version of the named rule in a plan. If the name is empty, returns the rule that the edit has added. */
export function editedRule(before: Plan, after: Plan, files: ReadonlySet<string>, name: string): RulePlan | undefined {
  const same = after.rules.filter((rule) => rule.name === name);
  const found = same.find(({ file }) => files.has(file)) ?? same[0];
  if (found !== undefined) return found;
  const [old, now] = [before, after].map(({ rules }) => new Set(rules.map((rule) => rule.name)));
  const added = after.rules.filter((rule) => !old!.has(rule.name));
  const gone = before.rules.filter((rule) => !now!.has(rule.name)).map((rule) => rule.name);
  return added[Math.max(0, gone.indexOf(name))];
}

/** Returns the addresses at which a change starts a rule. */
export function sourcesOf({ body }: RulePlan): readonly string[] {
  if ('stream' in body) return [];
  return 'any' in body.from ? body.from.any : Object.values(body.from.named);
}
