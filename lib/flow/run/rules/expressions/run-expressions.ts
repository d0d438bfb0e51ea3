// The body of a rule in JSON5: what its source says goes through `when`, then `map`, then the steps of `pipe`, and then through the
// expressions of its destinations, where they have some.

import { Subscription } from 'rxjs';
import type { Value } from '../../../../model/value.ts';
import type { ExpressionBody, Hearer } from '../../../plan.ts';
import type { RuleContext, RuleOutput } from '../rule-context.ts';
import { ExpressionLookup } from './expression-lookup.ts';
import { hearAny, hearNamed } from './hear.ts';

/** The body of a rule that runs. */
export interface RunningBody {
  readonly subscription: Subscription;
  /** Runs the rule with what is known, in its place of this turn; undefined: it does not run when it starts. */
  readonly begin?: (() => void) | undefined;
}

export function runExpressions(body: ExpressionBody, context: RuleContext): RunningBody {
  const { sources, trace } = context;
  const { copies } = trace;
  if (copies !== undefined) return { subscription: sources.any([copies.address], new Copier(context)) };

  const subscription = new Subscription();
  const lookup = new ExpressionLookup(context);
  const { from, runsAtStart } = body;
  const parts = { body, context, lookup, subscription };
  const begin = 'any' in from ? hearAny(from, parts) : hearNamed(from, parts);
  return { subscription, begin: runsAtStart ? begin : undefined };
}

/** A rule that only copies is traced when somebody has asked for it. */
class Copier implements Hearer {
  readonly #trace: RuleContext['trace'];
  readonly #output: RuleOutput;

  constructor({ trace, output }: RuleContext) {
    this.#trace = trace;
    this.#output = output;
  }

  next(value: Value): void {
    if (!this.#trace.isRecorded) {
      this.#output.write(value);
      return;
    }
    this.#trace.begin();
    this.#output.write(value);
    this.#trace.end();
  }
}
