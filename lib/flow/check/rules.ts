// Checks the rules of flow files: addresses, expressions and steps, each against the types of what it reads; and orders
// the rules that wait until a turn has settled, so that each runs after those whose results it reads.

import { z } from 'zod';
import { isLanguageName } from '../../expression/expression.ts';
import { type MistakeList, type SettingPath, unknownName } from '../../json5/mistake.ts';
import { sortByDependency } from '../../model/dependency-order.ts';
import { messageOf } from '../../model/error.ts';
import type { ParameterDeclaration } from '../../model/parameter.ts';
import type { ValueType } from '../../model/value.ts';
import type { On } from '../define-flow.ts';
import type { FlowFile } from '../files/flow-file.ts';
import { type ConnectionPlan, type RulePlan, type Source, type Sources, sourcesOf } from '../plan.ts';
import { inFlow } from '../programs/flow-code.ts';
import type { RuleExpression } from '../rule-expression.ts';
import type { PreparedStep } from '../steps/step.ts';
import { stepTypes } from '../steps/steps.ts';
import { Streams } from '../streams.ts';
import { compileRuleExpression, type ExpressionTypes } from './compile-expression.ts';
import type { FindDeclaration } from './inputs.ts';
import { ruleKey } from './key.ts';
import { flowRuleSchema, folderSchema, ruleSchema } from './schema.ts';

type Variables = Readonly<Record<string, ValueType | undefined>>;

/** The folders that a rule is in. */
interface Folders {
  readonly names: readonly string[];
  readonly isEnabled: boolean;
}

const outside: Folders = { names: [], isEnabled: true };
const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;
const ownNames: ReadonlySet<string> = new Set(['value', 'previous', 'now', 'sum', 'param']);

export class RuleCheck {
  readonly #plans: Omit<RulePlan, 'settleOrder'>[] = [];
  readonly #find: FindDeclaration;
  readonly #mistakes: MistakeList;

  constructor(find: FindDeclaration, mistakes: MistakeList) {
    this.#find = find;
    this.#mistakes = mistakes;
  }

  /** Adds rules and folders top to bottom, depth first; what is switched off is checked all the same. */
  addAll(file: FlowFile, path: SettingPath, items: readonly unknown[], within: Folders = outside): void {
    items.forEach((item, index) => {
      const itemPath = [...path, index];
      if (typeof item === 'object' && item !== null && 'folder' in item) {
        const folder = this.#mistakes.parse(folderSchema, item, file, itemPath, true);
        if (folder === undefined) return;
        const isEnabled = within.isEnabled && folder.enabled;
        this.addAll(file, [...itemPath, 'rules'], folder.rules, { names: [...within.names, folder.folder], isEnabled });
      } else this.#addRule(file, itemPath, item, within);
    });
  }

  /** Adds the rules of a flow file in TypeScript. */
  addProgram(file: FlowFile, createRules: (on: On) => unknown): void {
    const streams = new Streams(file.name);
    let items: unknown;
    try {
      items = inFlow.run(file.name, () => createRules(streams.on));
    } catch (error) {
      this.#mistakes.add(file, ['rules'], `failed: ${messageOf(error)}`);
      return;
    }
    for (const { address, type } of streams.asked) {
      const declaration = this.#find(file, ['rules'], address);
      if (declaration !== undefined && type !== undefined && declaration.type !== type)
        this.#mistakes.add(file, ['rules'], `expected ${address} of type ${type}, it is of type ${declaration.type}`);
    }
    const rules = this.#mistakes.parse(z.array(z.unknown(), { error: 'a list of rules' }), items, file, ['rules']);
    rules?.forEach((item, index) => {
      const path = ['rules', index];
      const rule = this.#mistakes.parse(flowRuleSchema, item, file, path);
      if (rule === undefined) return;
      const to = this.#destinations(file, path, rule.to);
      const body = {
        stream: streams.own(rule.from),
        addresses: streams.addressesOf(rule.from),
        connect: (sources: Sources) => streams.connect(sources),
      };
      const addresses = [...streams.asked.map(({ address }) => address), ...to];
      this.#plans.push({
        name: rule.name ?? `→ ${to.join(', ')}`,
        file: file.name,
        fileVersion: file.version,
        folder: [],
        isEnabled: rule.enabled,
        body,
        to,
        addresses,
        key: ruleKey(file, [file.version, index]),
      });
    });
  }

  /** All rules, top to bottom, each with its place in the order of settling; for one that runs none that is off counts. */
  finish(connections: readonly ConnectionPlan[]): RulePlan[] {
    const writers = new Map<string, number[]>();
    this.#plans.forEach(({ to, isEnabled }, index) => {
      if (!isEnabled) return;
      for (const address of to) writers.set(address, [...(writers.get(address) ?? []), index]);
    });
    const inputsOf = new Map(connections.map(({ id, inputs }) => [id, Object.values(inputs)]));
    const dependencies = (node: number | string): (number | string)[] => {
      const addresses = typeof node === 'string' ? inputsOf.get(node)! : sourcesOf(this.#plans[node]!);
      return addresses.flatMap((address) => {
        const connection = address.slice(0, address.indexOf('/'));
        const rules = writers.get(address) ?? [];
        return (inputsOf.get(connection)?.length ?? 0) > 0 ? [...rules, connection] : rules;
      });
    };
    const { order } = sortByDependency<number | string>(this.#plans.keys(), dependencies);
    const place = new Map(order.map((node, index) => [node, index]));
    return this.#plans.map((plan, index) => ({ ...plan, settleOrder: place.get(index)! }));
  }

  #addRule(file: FlowFile, path: SettingPath, item: unknown, within: Folders): void {
    const rule = this.#mistakes.parse(ruleSchema, item, file, path);
    if (rule === undefined) return;
    const { from, variables } = this.#source(file, path, rule.from, rule.require);
    const lookedAt: string[] = [];
    const typeOf = (address: string) => {
      lookedAt.push(address);
      return this.#find(file, path, address)?.type;
    };
    const types: ExpressionTypes = { variables, typeOf };
    const to = this.#destinations(file, path, rule.to);
    const when = this.#expression(file, [...path, 'when'], rule.when, types, 'B');
    const map = this.#expression(file, [...path, 'map'], rule.map, types);
    if ('named' in from && rule.map === undefined)
      this.#mistakes.add(file, [...path, 'map'], 'expected an expression over the names of from, got nothing');
    const mapped = rule.map === undefined ? variables.value : map?.type;
    const pipe = this.#pipe(file, [...path, 'pipe'], rule.pipe, mapped, types);
    const body = { from, when, map, pipe };
    const sources = sourcesOf({ body });
    const name = rule.name ?? `${sources.join(', ')} → ${to.join(', ')}`;
    const addresses = [...sources, ...lookedAt, ...to];
    this.#plans.push({
      name,
      file: file.name,
      fileVersion: file.version,
      folder: within.names,
      isEnabled: within.isEnabled && rule.enabled,
      body,
      to,
      addresses,
      key: ruleKey(file, item),
    });
  }

  #source(
    file: FlowFile,
    path: SettingPath,
    from: string | string[] | Record<string, string>,
    require: 'all' | 'any' | undefined,
  ): { from: Source; variables: Variables } {
    const fromPath = [...path, 'from'];
    if (typeof from === 'string' || Array.isArray(from)) {
      if (require !== undefined)
        this.#mistakes.add(file, [...path, 'require'], 'expected only where from names its sources: { a: …, b: … }');
      const find = (address: string, at: SettingPath) => this.#find(file, at, address);
      const { addresses, declarations } = this.#addresses(fromPath, from, find);
      const types = new Set(declarations.map((declaration) => declaration?.type));
      const type = types.size === 1 ? declarations[0]?.type : undefined;
      return { from: { any: addresses }, variables: { value: type, previous: type } };
    }
    const variables: Record<string, ValueType | undefined> = {};
    for (const [name, address] of Object.entries(from)) {
      if (!variableName.test(name) || ownNames.has(name) || isLanguageName(name))
        this.#mistakes.add(
          file,
          [...fromPath, name],
          `expected a name for expressions, such as a or mic1, got "${name}"`,
        );
      const type = this.#find(file, [...fromPath, name], address)?.type;
      variables[name] = type === 'T' ? 'B' : type;
    }
    return { from: { named: from, requiresAll: require !== 'any' }, variables };
  }

  #destinations(file: FlowFile, path: SettingPath, to: string | string[]): string[] {
    const find = (address: string, at: SettingPath) => {
      const declaration = this.#find(file, at, address);
      if (declaration?.access === 'read-only')
        this.#mistakes.add(file, at, `expected a writable parameter, "${address}" is read-only`);
      return declaration;
    };
    return this.#addresses([...path, 'to'], to, find).addresses;
  }

  #addresses(
    path: SettingPath,
    given: string | string[],
    find: (address: string, path: SettingPath) => ParameterDeclaration | undefined,
  ): { addresses: string[]; declarations: (ParameterDeclaration | undefined)[] } {
    if (typeof given === 'string') return { addresses: [given], declarations: [find(given, path)] };
    return { addresses: given, declarations: given.map((address, index) => find(address, [...path, index])) };
  }

  #expression(
    file: FlowFile,
    path: SettingPath,
    text: string | undefined,
    types: ExpressionTypes,
    expects?: 'B',
  ): RuleExpression | undefined {
    if (text === undefined) return undefined;
    try {
      return compileRuleExpression(text, types, expects);
    } catch (error) {
      this.#mistakes.add(file, path, messageOf(error));
      return undefined;
    }
  }

  #pipe(
    file: FlowFile,
    path: SettingPath,
    items: readonly Readonly<Record<string, unknown>>[],
    type: ValueType | undefined,
    types: ExpressionTypes,
  ): PreparedStep[] {
    const steps: PreparedStep[] = [];
    let current = type;
    items.forEach((item, index) => {
      const step = this.#step(file, [...path, index], item, current, types);
      current = step?.type;
      if (step !== undefined) steps.push(step);
    });
    return steps;
  }

  #step(
    file: FlowFile,
    path: SettingPath,
    item: Readonly<Record<string, unknown>>,
    type: ValueType | undefined,
    types: ExpressionTypes,
  ): PreparedStep | undefined {
    const names = Object.keys(item);
    const [name = ''] = names;
    const stepType = stepTypes.get(name);
    if (names.length !== 1) {
      this.#mistakes.add(file, path, `expected one step, such as { debounceTime: 50 }, got ${names.length}`);
      return undefined;
    }
    if (stepType === undefined) {
      this.#mistakes.add(file, [...path, name], unknownName('step', name, [...stepTypes.keys()]));
      return undefined;
    }
    const setting = this.#mistakes.parse(stepType.setting, item[name], file, [...path, name]);
    if (setting === undefined) return undefined;
    try {
      return stepType.prepare(setting, {
        type,
        compile: (text, more, expects) =>
          compileRuleExpression(text, { ...types, variables: { value: type, ...more } }, expects),
      });
    } catch (error) {
      this.#mistakes.add(file, [...path, name], messageOf(error));
      return undefined;
    }
  }
}
