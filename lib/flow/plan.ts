// The plan: connections, rules and tests as the hub will run them, created from checked flow files. The check creates a plan and a hub runs
// it; neither part depends on the other.

import type { Observable, Subscription } from 'rxjs';
import type { AnyConnectionType, InputTypes } from '../connections/connection.ts';
import type { About, ParameterDeclaration } from '../model/parameter.ts';
import type { FileReport } from '../model/reports/reload-report.ts';
import type { RuleStatus } from '../model/reports/rule-status.ts';
import type { Value, ValueType } from '../model/value.ts';
import type { RuleExpression } from './rule-expression.ts';
import type { PreparedStep } from './steps/step.ts';
import type { TestPlan } from './test-plan.ts';

export interface Plan {
  /** The flow files and folders requested for loading. The default is `files`. */
  readonly paths?: readonly string[];
  /** Possible problems that do not prevent a start, one line each. The default is none. */
  readonly warnings?: readonly string[];
  /** Returns hints about settings that work but are probably not intended, one line each. Each call checks again. The default is none. */
  hints?(): readonly string[];
  /** Returns errors in files that connections read at run time, one line each. Each call checks again. The default is none. */
  furtherMistakes?(): readonly string[];
  /** The flow files, each with the number of connections and rules that it declares. */
  readonly files: readonly Omit<FileReport, 'mistakes'>[];
  readonly connections: readonly ConnectionPlan[];
  readonly rules: readonly RulePlan[];
  /**
   * Returns the location of a rule, such as `demo.json5:7:20`, or undefined for a rule in another plan. The first call reads the files
   * again.
   */
  readonly placeOf?: (rule: Pick<RulePlan, 'body'>) => string | undefined;
  /**
   * Returns the reason for a faulty connection as one line with its location, such as `demo.json5:7:20: connections.api.port: …`, or
   * undefined if the connection is not in a file. The first call reads the files again. Omitted if the plan was not created from files.
   */
  readonly lineAbout?: (connectionId: string, reason: string) => string | undefined;
  readonly tests: readonly TestPlan[];
  /** Metadata of parameters, keyed by address or glob; later entries take precedence. */
  readonly describes?: readonly Described[];
  /** The absolute paths of the templates that flow files use. */
  readonly templates: readonly string[];
  /** Files to watch together with the flow files, such as files named in settings. */
  readonly furtherFiles: readonly string[];
}

export interface Described {
  /** The address, or a glob that matches addresses. */
  readonly glob: string;
  readonly about: About;
}

/** The ID of the read-only boolean parameter that `statusParameter: true` adds to a connection. */
export const statusParameterId = '_status/connected';

/** The Connection ID of the hub itself. */
export const hubId = 'hub';
/** The Parameter ID of the hub's own trigger, which fires as soon as everything is running. */
export const startedId = 'started';
export const hubParameters: readonly ParameterDeclaration[] = [{ id: startedId, type: 'T', access: 'read-only' }];

/** A connection as the hub will run it. */
export interface ConnectionPlan extends ConnectionInputs {
  readonly id: string;
  /** The flow file that declares the connection. */
  readonly file: string;
  readonly type: AnyConnectionType;
  readonly settings: unknown;
  /** The strings in the settings that must not be shown in logs or errors. */
  readonly secrets: readonly string[];
  readonly enabled: boolean;
  readonly description: string;
  readonly parameters: readonly ParameterDeclaration[];
  /** The folder to which paths in the settings are relative. */
  readonly folder: string;
  /** Represents the source text of the connection. A reload keeps the connection running if the key has not changed. */
  readonly key: string;
}

/** The parameters to which a connection listens, and its position among the work that waits until a turn has settled. */
export interface ConnectionInputs {
  /** The addresses of the parameters to which the connection listens, keyed by input name. */
  readonly inputs: Readonly<Record<string, string>>;
  readonly inputTypes: InputTypes;
  /**
   * The position of the connection among all work that waits until a turn has settled: after the connections to which it listens. The
   * position is negative, so that connections precede all rules.
   */
  readonly settleOrder: number;
}

/** A rule as the hub will run it. */
export interface RulePlan {
  readonly name: string;
  readonly file: string;
  /** Identifies the flow file, or the instance of a template, that declares the rule. */
  readonly fileKey: string;
  /** The names of the folders that enclose the rule, outermost first. */
  readonly folder: readonly string[];
  /** false means that the rule runs only after it is enabled at run time. */
  readonly isEnabled: boolean;
  /** true means that the rule's writes are recorded instead of made. */
  readonly isShadow: boolean;
  readonly body: ExpressionBody | StreamBody;
  readonly to: readonly string[];
  /** Every parameter that the rule reads or writes. A reload that replaces any of these parameters restarts the rule. */
  readonly addresses: readonly string[];
  /** Further parameters that the rule may read: all addresses requested by its TypeScript flow file, in one list that its rules share. */
  readonly sharedAddresses: readonly string[];
  /** Represents the source text of the rule. A reload keeps the rule running if the key has not changed. */
  readonly key: string;
  /** The rule's position among the rules that wait until a turn has settled: after the rules whose results it reads. */
  readonly settleOrder: number;
}

/** The body of a rule that is data: expressions and steps, ready to run. */
export interface ExpressionBody {
  readonly from: Source;
  readonly when: RuleExpression | undefined;
  readonly map: RuleExpression | undefined;
  readonly pipe: readonly PreparedStep[];
  /** The type of the values that the steps emit. T stands for the firing of a trigger. Undefined if the type is not known in advance. */
  readonly result: ValueType | undefined;
  /** The expression for each destination, in the order of `to`. Undefined if all destinations receive the value that the steps emit. */
  readonly split: readonly RuleExpression[] | undefined;
  /** Whether a write that changes nothing also starts the rule. */
  readonly listensToWrites: boolean;
  /** Whether the rule runs once when it starts. */
  readonly runsAtStart: boolean;
  /** The settings of the rule as written, for display. */
  readonly written: WrittenRule;
}

export type WrittenRule = Pick<RuleStatus, 'when' | 'map' | 'pipe' | 'split'>;

/** What starts a rule: a change at any of the addresses, or a turn in which one of the named parameters changed. */
export type Source =
  | { readonly any: readonly string[] }
  | { readonly named: Readonly<Record<string, string>>; readonly requiresAll: boolean };

/** The body of a TypeScript rule: a stream of values. */
export interface StreamBody {
  readonly stream: Observable<unknown>;
  /** The addresses of the parameters from which the stream is derived. */
  readonly addresses: readonly string[];
  /** Connects the stream to the sources of its rule. Call this before subscribing to the stream. */
  connect(sources: Sources): void;
}

/** Receives the values that start a rule. The methods must not throw. */
export interface RuleListener {
  next(value: Value): void;
}

/** Lets a running rule observe and read its parameters. */
export interface Sources {
  /** Reports each change at any of the addresses; with `listensToWrites`, also writes that change nothing. */
  any(addresses: readonly string[], listener: RuleListener, listensToWrites?: boolean): Subscription;
  /** Calls back once per turn in which any of the parameters changed, with one consistent set of their values. */
  named(
    named: Readonly<Record<string, string>>,
    next: (values: NamedValues, isComplete: boolean) => void,
    listensToWrites?: boolean,
  ): Subscription;
  /**
   * Returns the current value of a parameter, or undefined if the value is unknown. Errors: `unknown-parameter`, `bad-flow` for a trigger.
   */
  peek(address: string): Value | undefined;
}

/**
 * The values of named sources, keyed by name. An unknown value is missing. A trigger is represented by a boolean, true if the trigger fired
 * in the turn.
 */
export type NamedValues = Record<string, Value>;

/** Returns whether two connections have the same source text, regardless of their files. */
export function haveSameSettings({ key }: Pick<ConnectionPlan, 'key'>, other: Pick<ConnectionPlan, 'key'>): boolean {
  return key.split(' ', 1)[0] === other.key.split(' ', 1)[0];
}

/**
 * Returns whether two rules have the same source text, regardless of their files. Streams are compared only by name, file and destinations.
 */
export function haveSameText(one: RulePlan, other: RulePlan): boolean {
  if (one.key === other.key) return true;
  if ('stream' in one.body || 'stream' in other.body)
    return one.name === other.name && one.fileKey === other.fileKey && `${one.to}` === `${other.to}`;
  return ruleTextOf(one) === ruleTextOf(other);
}

/** Returns the source text of a rule: its key without the file. */
function ruleTextOf({ key, file }: RulePlan): string {
  return key.slice(JSON.stringify([file]).length);
}

/** Returns the addresses at which a change starts a rule. */
export function sourcesOf({ body }: Pick<RulePlan, 'body'>): readonly string[] {
  if ('stream' in body) return body.addresses;
  return 'any' in body.from ? body.from.any : Object.values(body.from.named);
}
