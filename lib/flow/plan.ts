// What flow files come to once they are checked: connections, rules and tests as they will run. The check makes a plan, a
// hub runs it, and neither knows the other.

import type { Observable, Subscription } from 'rxjs';
import type { AnyConnectionType, InputTypes } from '../connections/connection.ts';
import type { ParameterDeclaration } from '../model/parameter.ts';
import type { FileReport } from '../model/reports/reload-report.ts';
import type { Value, ValueType } from '../model/value.ts';
import type { RuleExpression } from './rule-expression.ts';
import type { PreparedStep } from './steps/step.ts';
import type { TestPlan } from './test-plan.ts';

export interface Plan {
  /** What was asked to be loaded: flow files, and folders of them; left out: the files. */
  readonly paths?: readonly string[];
  /** What may be wrong, and keeps nothing from running; a line each. Left out: nothing. */
  readonly warnings?: readonly string[];
  /** What works and is probably not meant, a line each; it is looked for at each call. Left out: nothing. */
  hints?(): readonly string[];
  /** What is wrong in files that connections read while they run, a line each; it is looked for at each call. Left out: nothing. */
  furtherMistakes?(): readonly string[];
  /** The flow files, each with how much it declares. */
  readonly files: readonly Omit<FileReport, 'mistakes'>[];
  readonly connections: readonly ConnectionPlan[];
  readonly rules: readonly RulePlan[];
  /** Where a rule stands, as `demo.json5:7:20`; undefined: it is of another plan. It reads the texts of the files when it is asked first. */
  readonly placeOf?: (rule: Pick<RulePlan, 'body'>) => string | undefined;
  /**
   * What is wrong with a connection as a line with its place, `demo.json5:7:20: connections.api.port: …`, where the reason begins with a
   * setting; undefined: the connection is of no file. It reads the texts of the files when it is asked first. Left out: there are no files.
   */
  readonly lineAbout?: (connectionId: string, reason: string) => string | undefined;
  readonly tests: readonly TestPlan[];
  /** The full paths of the templates that flow files name. */
  readonly templates: readonly string[];
  /** Files that are watched together with the flow files, such as those that settings name. */
  readonly furtherFiles: readonly string[];
}

/** The read-only boolean parameter that `statusParameter: true` adds to a connection. */
export const statusParameterId = '_status/connected';

/** The Connection ID of the hub itself, and its trigger that fires once all runs. */
export const hubId = 'hub';
export const startedId = 'started';
export const hubParameters: readonly ParameterDeclaration[] = [{ id: startedId, type: 'T', access: 'read-only' }];

/** A connection as it will run. */
export interface ConnectionPlan extends ConnectionInputs {
  readonly id: string;
  /** The flow file that declares it. */
  readonly file: string;
  readonly type: AnyConnectionType;
  readonly settings: unknown;
  /** The texts among the settings that nobody may read. */
  readonly secrets: readonly string[];
  readonly enabled: boolean;
  readonly description: string;
  readonly parameters: readonly ParameterDeclaration[];
  /** The folder that relative paths of the settings start from. */
  readonly folder: string;
  /** What the connection was made of, as text. A reload that leaves it as it is lets the connection run on. */
  readonly key: string;
}

/** The parameters that a connection listens to. */
export interface ConnectionInputs {
  /** Address by name. */
  readonly inputs: Readonly<Record<string, string>>;
  readonly inputTypes: InputTypes;
  /**
   * The place of the connection among all that wait until a turn has settled: behind the connections that it listens to, and,
   * since it is negative, before all rules.
   */
  readonly settleOrder: number;
}

/** A rule as it will run. */
export interface RulePlan {
  readonly name: string;
  readonly file: string;
  /** Names the file, or the instance of a template, that it is of. */
  readonly fileKey: string;
  /** The names of the folders that it is in, outermost first. */
  readonly folder: readonly string[];
  /** false: the rule runs only once it is switched on. */
  readonly isEnabled: boolean;
  /** true: what the rule would write is noted, and not written. */
  readonly isShadow: boolean;
  readonly body: ExpressionBody | StreamBody;
  readonly to: readonly string[];
  /** Every parameter that the rule reads or writes. A reload that replaces one of them starts the rule anew. */
  readonly addresses: readonly string[];
  /** What the rule may read besides, as any rule of its flow file in TypeScript may: one list for all of them. */
  readonly sharedAddresses: readonly string[];
  /** What the rule was made of, as text. A reload that leaves it as it is lets the rule run on. */
  readonly key: string;
  /** Its place among the rules that wait until a turn has settled: behind those whose results it reads. */
  readonly settleOrder: number;
}

/** The body of a rule in JSON5. */
export interface ExpressionBody {
  readonly from: Source;
  readonly when: RuleExpression | undefined;
  readonly map: RuleExpression | undefined;
  readonly pipe: readonly PreparedStep[];
  /** The type of what comes out of the steps. T: it is still the fire of a trigger; undefined: not known before it comes. */
  readonly result: ValueType | undefined;
  /** What each destination gets, in the order of `to`; undefined: all of them get what comes out of the steps. */
  readonly split: readonly RuleExpression[] | undefined;
  /** Whether a write that changes nothing starts the rule too. */
  readonly listensToWrites: boolean;
  /** Whether the rule runs once when it starts. */
  readonly runsAtStart: boolean;
}

/** What starts a rule: a change of any of the addresses, or a turn in which one of the named ones changed. */
export type Source =
  | { readonly any: readonly string[] }
  | { readonly named: Readonly<Record<string, string>>; readonly requiresAll: boolean };

/** The body of a rule in TypeScript. */
export interface StreamBody {
  readonly stream: Observable<unknown>;
  /** The addresses that the stream leads back to. */
  readonly addresses: readonly string[];
  /** Gives the stream the sources of its rule; to be called before the stream is subscribed to. */
  connect(sources: Sources): void;
}

/** Is told what its rule hears. It must not throw. */
export interface RuleListener {
  next(value: Value): void;
}

/** What a rule can subscribe to while it runs. */
export interface Sources {
  /** Tells each change of any of the addresses; `hearsWrites`: also writes that change nothing. */
  any(addresses: readonly string[], listener: RuleListener, listensToWrites?: boolean): Subscription;
  /** Calls back once per turn in which one of the parameters changed, with one consistent set of their values. */
  named(
    named: Readonly<Record<string, string>>,
    next: (values: NamedValues, isComplete: boolean) => void,
    listensToWrites?: boolean,
  ): Subscription;
  /** The value of a parameter at this moment; undefined: unknown. Errors: `unknown-parameter`, `bad-flow` for a trigger. */
  peek(address: string): Value | undefined;
}

/** The values of named sources. A name whose value is unknown is missing; a trigger is whether it fired in the turn. */
export type NamedValues = Record<string, Value>;

/** Whether two connections have the same text, wherever their files are. */
export function haveSameSettings({ key }: Pick<ConnectionPlan, 'key'>, other: Pick<ConnectionPlan, 'key'>): boolean {
  return key.split(' ', 1)[0] === other.key.split(' ', 1)[0];
}

/** Whether two rules have the same text, wherever they stand. Of a stream nothing but its name, file and destinations can be seen. */
export function haveSameText(one: RulePlan, other: RulePlan): boolean {
  if (one.key === other.key) return true;
  if ('stream' in one.body || 'stream' in other.body)
    return one.name === other.name && one.fileKey === other.fileKey && `${one.to}` === `${other.to}`;
  return ruleTextOf(one) === ruleTextOf(other);
}

/** What a flow file says of a rule: the key without the file. */
function ruleTextOf({ key, file }: RulePlan): string {
  return key.slice(JSON.stringify([file]).length);
}

/** The addresses whose changes start a rule. */
export function sourcesOf({ body }: Pick<RulePlan, 'body'>): readonly string[] {
  if ('stream' in body) return body.addresses;
  return 'any' in body.from ? body.from.any : Object.values(body.from.named);
}
