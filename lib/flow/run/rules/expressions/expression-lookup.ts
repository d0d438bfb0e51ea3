// What the expressions of one rule look up, and why they have no result.

import type { Parameter } from '../../../../model/parameter.ts';
import { explainFailure, missingName } from '../../../rule-expression.ts';
import type { RuleContext } from '../rule-context.ts';
import type { ExpressionRuntime } from './bind-expression.ts';

export class ExpressionLookup implements ExpressionRuntime {
  readonly #context: RuleContext;
  /** The addresses that were reported as unknown, each of them once. */
  #reported: Set<string> | undefined;
  /** The addresses by name while not all of them are known. */
  #incomplete: Readonly<Record<string, string>> | undefined;

  constructor(context: RuleContext) {
    this.#context = context;
  }

  /** Runs while not all names have a value: an expression that needs the others has no result, which is no fault. */
  whileIncomplete(named: Readonly<Record<string, string>>, run: () => void): void {
    this.#incomplete = named;
    run();
    this.#incomplete = undefined;
  }

  now(): number {
    return this.#context.runtime.graph.now();
  }

  parameterOf(address: string): Parameter {
    return this.#context.runtime.graph.get(address);
  }

  reportFault(error: unknown): void {
    const missing = this.#incomplete?.[missingName(error) ?? ''];
    if (missing === undefined) this.#context.output.fail(explainFailure(error));
    else this.reportUnknown(missing);
  }

  reportUnknown(address: string): void {
    const { plan, trace, runtime } = this.#context;
    const node = runtime.graph.get(address);
    const message = `waits for ${address}, which is unknown`;
    trace.wait(message);
    if (this.#reported?.has(address)) return;
    this.#reported ??= new Set();
    this.#reported.add(address);
    runtime.reports.waiting(plan, message, () => node.value === undefined);
  }
}
