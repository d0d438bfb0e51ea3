// The ceiling of a Virtual Core: turns of as many writes as it has outputs, in a graph with nothing else.

import { Graph } from '../../lib/graph/graph.ts';
import type { Origin } from '../../lib/model/parameter.ts';
import { runTask } from '../../spec/support/system/task.ts';
import { type TurnsTask, timeTurns } from '../load/writes/timed.ts';

const owner: Origin = { kind: 'connection', name: 'bare' };

await runTask((task: TurnsTask) => {
  const graph = new Graph();
  const ids = Array.from({ length: task.changing }, (_, index) => `o${index}`);
  graph.declare(
    owner,
    ids.map((id) => ({ id, type: 'F', access: 'read-only' })),
  );
  const nodes = ids.map((id) => graph.find(`bare/${id}`)!);
  const turn = (value: number) =>
    graph.turn(() => {
      for (const node of nodes) graph.writeTo(node, value, owner);
    });
  return timeTurns(task, turn, (turns) => {
    const value = nodes.at(-1)!.value;
    return value === turns ? undefined : `expected ${turns}, got ${value}`;
  });
});
