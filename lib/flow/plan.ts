// What flow files come to once they are checked: connections and rules as they will run.

import type { Observable } from 'rxjs';
import type { AnyConnectionType } from '../connections/connection.ts';
import type { FileReport } from '../model/load-report.ts';
import type { ParameterDeclaration } from '../model/parameter.ts';
import type { CheckedInputs } from './check/inputs.ts';
import type { RuleExpression } from './rule-expression.ts';
import type { Ears } from './run/rules/rule-subscriptions.ts';
import type { PreparedStep } from './steps/steps.ts';
import type { TestPlan } from './test-plan.ts';

/** A connection as it will run. `folder` is what relative paths of its settings start from. */
export interface ConnectionPlan extends CheckedInputs {
  readonly id: string;
  /** The flow file that declares it. */
  readonly file: string;
  readonly type: AnyConnectionType;
  readonly settings: unknown;
  readonly enabled: boolean;
  readonly description: string;
  readonly parameters: readonly ParameterDeclaration[];
  readonly folder: string;
  /** What the connection was made of, as text: as long as it stays the same, a reload lets the connection run on. */
  readonly key: string;
}

/** What starts a rule: a change of any of the addresses, or a turn in which one of the named ones changed. */
export type Source =
  | { readonly any: readonly string[] }
  | { readonly named: Readonly<Record<string, string>>; readonly requiresAll: boolean };

/** A rule as it will run. */
export interface RulePlan {
  readonly name: string;
  readonly file: string;
  /** Names the content of the file; undefined: there is no file. */
  readonly fileVersion: string | undefined;
  /** The names of the folders that it is in, outermost first. */
  readonly folder: readonly string[];
  /** false: it is checked, and runs only once it is switched on. */
  readonly isEnabled: boolean;
  readonly body: ExpressionBody | StreamBody;
  readonly to: readonly string[];
  /** Every parameter that the rule reads or writes: when a reload replaces one of them, the rule starts anew. */
  readonly addresses: readonly string[];
  /** What the rule was made of, as text: as long as it stays the same, a reload lets the rule run on. */
  readonly key: string;
  /** Its place among the rules that wait until a turn has settled: after those whose results it reads. */
  readonly settleOrder: number;
}

/** The body of a rule in JSON5: source, condition, expression, steps. */
export interface ExpressionBody {
  readonly from: Source;
  readonly when: RuleExpression | undefined;
  readonly map: RuleExpression | undefined;
  readonly pipe: readonly PreparedStep[];
}

/** The body of a rule in TypeScript: a stream over parameters of the graph that it is connected to. */
export interface StreamBody {
  readonly stream: Observable<unknown>;
  /** The addresses that the stream listens to. */
  readonly addresses: readonly string[];
  /** Gives the stream the ears of its rule; called before it is subscribed to. */
  connect(ears: Ears): void;
}

export interface Plan {
  /** The flow files, each with how much it declares. */
  readonly files: readonly Omit<FileReport, 'mistakes'>[];
  readonly connections: readonly ConnectionPlan[];
  readonly rules: readonly RulePlan[];
  readonly tests: readonly TestPlan[];
  /** What the flow files lead to and is watched with them, such as the files that settings name. */
  readonly furtherFiles: readonly string[];
}

/** The addresses that a rule listens to. */
export function sourcesOf({ body }: Pick<RulePlan, 'body'>): readonly string[] {
  if ('stream' in body) return body.addresses;
  return 'any' in body.from ? body.from.any : Object.values(body.from.named);
}
