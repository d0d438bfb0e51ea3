// The parts of a hub, made for one another; nothing runs yet.

import type { SchedulerLike } from 'rxjs';
import type { HubPort } from '../connections/hub-port.ts';
import { hubId, startedId } from '../flow/plan.ts';
import { Keeping } from '../flow/run/connections/keeping.ts';
import { RunningConnections } from '../flow/run/connections/running-connections.ts';
import { RuleStates } from '../flow/run/rules/rule-states.ts';
import { RunningRules } from '../flow/run/rules/running-rules.ts';
import { createTraces } from '../flow/run/rules/trace.ts';
import { Graph } from '../graph/graph.ts';
import { formatAddress } from '../model/address.ts';
import { withTrace } from '../model/trace.ts';
import { HubDuty } from './duty.ts';
import type { Journal } from './journal.ts';
import { createPort, type Operation } from './port.ts';
import { createRuleReports } from './rule-reports.ts';
import { record } from './twin/record.ts';

export interface PartOptions {
  readonly log: Journal;
  readonly scheduler: SchedulerLike;
  /** Tells the time of changes in milliseconds since 1970; left out: the time of day. */
  readonly now: (() => number) | undefined;
  readonly files: HubPort['files'];
}

export interface Parts {
  readonly log: Journal;
  readonly graph: Graph;
  readonly port: HubPort;
  readonly keeping: Keeping;
  readonly connections: RunningConnections;
  readonly rules: RunningRules;
  readonly states: RuleStates;
  readonly duty: HubDuty;
}

export function createParts({ log, scheduler, now, files }: PartOptions): Parts {
  const graph = new Graph(now);
  const keeping = new Keeping(graph, () => scheduler.now(), now);
  const states = new RuleStates(() => scheduler.now());
  const reports = createRuleReports(log, states);
  const rules = new RunningRules({ graph, scheduler, traces: createTraces(graph), ...reports }, states);
  const duty = new HubDuty(
    () => ({ graph, keeping, connections, rules }),
    () => tellStarted(graph),
  );
  const port = createPort(graph, {
    connections: () => connections.statuses(),
    control: (id, action, by) => connections.control(id, action, by),
    ruleTotals: states.totals,
    rules: () => rules.statuses(),
    switchRule: createSwitch(rules, log, keeping),
    runsOf: (rule) => rules.runsOf(rule),
    files,
    log: (after, least) => log.read(after, least),
    earlierLog: () => log.earlier,
    logStatus: () => log.status(),
    keeping,
    record: (next) => record(next, { graph, scheduler, isExternal: (id) => connections.isExternal(id) }),
    isLocal: (id) => connections.isLocal(id),
    duty,
  });
  const logOf = (connection: string) => log.child({ connection });
  const connections = new RunningConnections({ graph, hub: port, scheduler, keeping, logOf });
  return { log, graph, port, keeping, connections, rules, states, duty };
}

/** Fires the hub's own trigger, where a flow file names it. */
function tellStarted(graph: Graph): void {
  const started = graph.find(formatAddress(hubId, startedId));
  if (started !== undefined) graph.writeTo(started, true, started.owner);
}

/** Switches a rule, and says so in the log and to the store. */
function createSwitch(rules: RunningRules, log: Journal, keeping: Keeping): Operation['switchRule'] {
  return (name, file, isEnabled, by) => {
    const status = rules.switch(name, file, isEnabled, by);
    const text = `rule "${name}" (${status.file}) was switched ${isEnabled ? 'on' : 'off'} by ${by.name}`;
    log.info({ rule: name, file: status.file }, withTrace(text, by));
    const after = isEnabled ? 'on' : 'off';
    keeping.note({
      kind: 'rule',
      user: by.name,
      address: name,
      after,
      cause: withTrace(`a rule of ${status.file}`, by),
    });
    return status;
  };
}
