// What the expressions of one rule look up, and why they have no result.

import type { Value } from '../../../model/value.ts';
import type { ExpressionRuntime } from './bind-expression.ts';
import type { RuleContext } from './rule-context.ts';

export class ExpressionLookup implements ExpressionRuntime {
  /** Whether all names of the rule have a value; else an expression that needs the others has no result, which is no fault. */
  isComplete = true;
  readonly #context: RuleContext;
  /** The addresses that were reported as unknown, each of them once. */
  readonly #reported = new Set<string>();

  constructor(context: RuleContext) {
    this.#context = context;
  }

  now(): number {
    return this.#context.runtime.graph.now();
  }

  valueOf(address: string): Value | undefined {
    return this.#context.runtime.graph.get(address).value;
  }

  reportFault(error: unknown): void {
    if (this.isComplete) this.#context.output.fail(error);
  }

  reportUnknown(address: string): void {
    const { plan, trace, runtime } = this.#context;
    const node = runtime.graph.get(address);
    const message = `waits for ${address}, which is ${node.type === 'T' ? 'a trigger and has no value' : 'unknown'}`;
    trace.wait(message);
    if (this.#reported.has(address)) return;
    this.#reported.add(address);
    runtime.reportWaiting(plan, message, () => node.value === undefined);
  }
}
