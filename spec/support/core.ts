// Runs a Virtual Core in a graph, from a real flow file, and draws what it does over time as columns of 100 ms.

import type { ExecutionContext } from 'ava';
import { VirtualTimeScheduler } from 'rxjs';
import type { HubPort } from '../../lib/connections/hub-port.ts';
import type { Plan } from '../../lib/flow/plan.ts';
import { HubPersistence } from '../../lib/flow/run/connections/hub-persistence.ts';
import { Supervisor } from '../../lib/flow/run/connections/supervisor.ts';
import { Graph } from '../../lib/graph/graph.ts';
import { loadFlows } from '../../lib/hub/index.ts';
import { Journal } from '../../lib/hub/journal.ts';
import type { Change, Origin } from '../../lib/model/parameter.ts';
import type { Value } from '../../lib/model/value.ts';
import { createLogRecorder, type LogLine } from './connection.ts';
import { createFolder } from './folder.ts';

const columnMs = 100;
const client: Origin = { kind: 'client', name: 'spec' };

export interface RunningCore {
  readonly graph: Graph;
  readonly scheduler: VirtualTimeScheduler;
  /** Every change so far: `core/lamp=true`, those of triggers too. */
  readonly changes: string[];
  readonly lines: LogLine[];
  value(address: string): Value | undefined;
  /** Writes to parameters of the desk in one turn. */
  turn(values: Readonly<Record<string, unknown>>): void;
  /** Lets this much time pass. */
  pass(ms: number): void;
  /** Stops the connection `core` and starts it again. */
  restart(): Promise<void>;
}

/** Reads a flow. Errors: `bad-flow` with every mistake. */
export async function loadFlow(t: ExecutionContext, flow: object): Promise<Plan> {
  return loadFlows([await createFolder(t, { 'flow.json5': flow })]);
}

/** The mistakes of a flow, each without the name and line of the file. */
export async function mistakesOf(t: ExecutionContext, flow: object): Promise<string[]> {
  try {
    await loadFlow(t, flow);
    return [];
  } catch (error) {
    return (error as Error).message.split('\n').map((line) => line.replace(/^.*?json5:\d+:\d+: /, ''));
  }
}

/** Starts a desk with these parameters, the core over all of them, and more connections; all stop with the test. */
export async function startCore(
  t: ExecutionContext,
  desk: readonly string[],
  outputs: object,
  others: object = {},
): Promise<RunningCore> {
  const inputs = Object.fromEntries(desk.map((line) => line.split(',', 1)[0]!).map((id) => [id, `desk/${id}`]));
  const plan = await loadFlow(t, {
    connections: {
      desk: { type: 'dummy', parameters: desk },
      core: { type: 'virtual-core', inputs, outputs },
      ...others,
    },
  });
  const graph = new Graph();
  const scheduler = new VirtualTimeScheduler(undefined, 0);
  const recorder = createLogRecorder();
  const log = Journal.of(recorder);
  const persistence = new HubPersistence(graph, () => scheduler.now());
  const changes: string[] = [];
  graph.changes$.subscribe(({ parameter, value }: Change) => void changes.push(`${parameter.address}=${value}`));
  const owners = plan.connections.map(({ id }): Origin => ({ kind: 'connection', name: id }));
  plan.connections.forEach(({ parameters }, index) => void graph.declare(owners[index]!, parameters));
  const start = (index: number) => {
    const connection = plan.connections[index]!;
    const supervisor = new Supervisor({
      plan: connection,
      owner: owners[index]!,
      graph,
      hub: {} as HubPort,
      scheduler,
      persistence,
      log,
      resolvePath: (path) => path,
      endsHub: () => false,
    });
    supervisor.start();
    return supervisor;
  };
  const supervisors = plan.connections.map((_, index) => start(index));
  t.teardown(() => Promise.all(supervisors.map((supervisor) => supervisor.stop())));
  return {
    graph,
    scheduler,
    changes,
    lines: recorder.lines,
    value: (address) => graph.find(address)!.value,
    turn: (values) =>
      graph.turn(() => {
        for (const [id, value] of Object.entries(values)) graph.write(`desk/${id}`, value, client);
      }),
    pass(ms) {
      scheduler.maxFrames += ms;
      scheduler.flush();
      scheduler.frame = scheduler.maxFrames;
    },
    async restart() {
      const index = plan.connections.findIndex(({ id }) => id === 'core');
      await supervisors[index]!.stop();
      supervisors[index] = start(index);
    },
  };
}

/**
 * Draws a timing diagram and compares. A row is one parameter, a column 100 ms: `_` false, `#` true, `?` unknown, `^` a
 * trigger, a digit a number, or hundreds of milliseconds where the name ends in pt or elapsed. Rows of the desk drive,
 * all of a column in one turn; the others are what the core has to show in the middle of the column.
 */
export async function drawDiagram(
  t: ExecutionContext,
  desk: readonly string[],
  outputs: object,
  diagram: Readonly<Record<string, string>>,
): Promise<void> {
  const core = await startCore(t, desk, outputs);
  const drawn: Record<string, string> = Object.fromEntries(Object.keys(diagram).map((name) => [name, '']));
  const width = Math.max(...Object.values(diagram).map((row) => row.length));
  for (let column = 0; column < width; column++) {
    core.changes.length = 0;
    const driven = Object.keys(diagram).filter((name) => core.graph.find(`desk/${name}`));
    core.turn(
      Object.fromEntries(
        driven
          .map((name): [string, Value | undefined] => [name, read(name, diagram[name]![column]!)])
          .filter(([, value]) => value !== undefined),
      ),
    );
    core.pass(columnMs / 2);
    for (const name of Object.keys(diagram)) {
      const node = core.graph.find(`desk/${name}`) ?? core.graph.find(`core/${name}`)!;
      drawn[name] += node.type === 'T' ? drawFires(core.changes, node.address) : draw(name, core.value(node.address));
    }
    core.pass(columnMs / 2);
  }
  t.deepEqual(drawn, { ...diagram });
}

function read(name: string, drawn: string): Value | undefined {
  if (drawn === '#' || drawn === '^') return true;
  if (drawn === '?') return undefined;
  if (drawn === '_') return /trigger/.test(name) ? undefined : false;
  return Number(drawn) * unitOf(name);
}

function draw(name: string, value: Value | undefined): string {
  if (value === undefined) return '?';
  return typeof value === 'boolean' ? (value ? '#' : '_') : String((value as number) / unitOf(name));
}

function drawFires(changes: readonly string[], address: string): string {
  const count = changes.filter((change) => change === `${address}=1`).length;
  return count === 0 ? '_' : count === 1 ? '^' : String(count);
}

function unitOf(name: string): number {
  return /(pt|elapsed)$/.test(name) ? columnMs : 1;
}
