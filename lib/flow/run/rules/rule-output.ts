// Where the values of a rule go, and its faults.

import { resolve } from 'node:path';
import type { ParameterNode } from '../../../graph/parameter-node.ts';
import { messageOf } from '../../../model/error.ts';
import type { Origin } from '../../../model/parameter.ts';
import type { Value } from '../../../model/value.ts';
import type { RulePlan } from '../../plan.ts';
import { ownName } from '../../programs/flow-code.ts';
import { formatPlace, placeIn, stackOf, wordsOf } from '../../programs/stack.ts';
import type { RuleOutput, RuleRuntime } from './rule-context.ts';
import type { RuleTrace } from './trace.ts';

export function createOutput(
  plan: RulePlan,
  { graph, reportFault }: Pick<RuleRuntime, 'graph' | 'reportFault'>,
  trace: RuleTrace,
): RuleOutput {
  const origin: Origin = { kind: 'rule', name: plan.name, file: plan.file };
  const destinations = plan.to.map((address) => graph.get(address));
  const fail = (error: unknown, destination?: string) => {
    const message = 'stream' in plan.body && destination === undefined ? faultText(error, plan) : lineOf(error);
    trace.fail(message, destination);
    reportFault(plan, message);
  };
  const writeTo = (destination: ParameterNode, value: unknown) => {
    if (graph.mayAct !== undefined && !graph.mayAct()) return; // the rule has ended
    try {
      graph.writeTo(destination, value, origin);
    } catch (error) {
      fail(error, destination.address);
    }
  };
  const write = (value: unknown) => {
    if (trace.isRecorded) trace.result(value);
    for (const destination of destinations) writeTo(destination, value);
  };
  const writeEach = (values: readonly (Value | undefined)[]) => {
    trace.results(values);
    graph.turn(() => {
      for (const [index, value] of values.entries()) if (value !== undefined) writeTo(destinations[index]!, value);
    });
  };
  return { write: destinations.length > 1 ? (value) => graph.turn(() => write(value)) : write, writeEach, fail };
}

function lineOf(error: unknown): string {
  return messageOf(error).split('\n', 1)[0]!;
}

/** What a stream failed with, and where in the author's own files. */
function faultText(error: unknown, { file }: RulePlan): string {
  const flow = { path: resolve(file), name: file };
  const place = placeIn(stackOf(error), (path) => ownName(path, flow));
  return place === undefined ? wordsOf(error) : `${wordsOf(error)} (${formatPlace(place)})`;
}
