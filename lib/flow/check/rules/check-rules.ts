// Checks the rules of all flow files, and orders the rules that wait until a turn has settled.

import { resolve } from 'node:path';
import { isObservable } from 'rxjs';
import { z } from 'zod';
import { isJsonObject } from '../../../model/json-object.ts';
import type { On } from '../../define-flow.ts';
import { keyOfFile } from '../../files/flow-file.ts';
import { type ConnectionPlan, hubId, type Plan, type RulePlan } from '../../plan.ts';
import { inFlow } from '../../programs/flow-code.ts';
import { describeThrown, placeIn, stackOf } from '../../programs/stack.ts';
import { Streams } from '../../streams.ts';
import { flowRuleSchema, folderSchema } from '../schema.ts';
import { type FindDeclaration, ruleKey, type SourceLocation } from '../source-location.ts';
import { checkDestinations, checkExpressionRule } from './expression-rule.ts';
import type { CheckedRule, Folders } from './known-rules.ts';
import { KnownRules } from './known-rules.ts';
import { withoutMisplaced } from './misplaced-settings.ts';

export class RuleCheck {
  readonly #rules: CheckedRule[] = [];
  readonly #lists: RuleList[] = [];
  readonly #find: FindDeclaration;
  readonly #known: KnownRules;

  /** `known` contains the rules from an earlier check against the same declarations; unchanged rules are reused. */
  constructor(find: FindDeclaration, known = new KnownRules()) {
    this.#find = find;
    this.#known = known;
  }

  /** The checked rules, for reuse in a later check. */
  get known(): KnownRules {
    return this.#known;
  }

  /** Whether any rule reads a parameter of the hub itself. */
  get namesHub(): boolean {
    return this.#rules.some(({ addresses }) => addresses.some((address) => address.startsWith(`${hubId}/`)));
  }

  /**
   * Adds rules and folders from top to bottom, depth first. Disabled rules are checked too. `streams` belongs to a TypeScript flow file,
   * whose rules do not have to be data.
   */
  addAll(location: SourceLocation, items: readonly unknown[], within: Folders, streams?: Streams): void {
    this.#lists.push({ location, items, isMade: streams !== undefined });
    this.#addItems(location, items, within, streams);
  }

  #addItems(location: SourceLocation, items: readonly unknown[], within: Folders, streams: Streams | undefined): void {
    items.forEach((item, index) => {
      const known = this.#known.find(item, location.file, within);
      if (known !== undefined) {
        this.#rules.push(known);
        return;
      }
      const at = location.at(index);
      if (isFolder(item)) this.#addFolder(at, item, within, streams);
      else if (streams === undefined || isData(item)) this.#addExpressionRule(at, item, within);
      else this.#rules.push(...checkStreamRule(at, index, item, within, streams, this.#find));
    });
  }

  /** Adds the rules that the function in a TypeScript flow file creates. */
  addProgram(location: SourceLocation, createRules: (on: On) => unknown, isShadow: boolean): void {
    const made = makeProgramRules(location, createRules, this.#find);
    const within = { names: [], isEnabled: true, isShadow };
    if (made !== undefined) this.addAll(location.made(made.items), made.items, within, made.streams);
  }

  /** Returns all rules from top to bottom, each with its position in the settle order. */
  finish(connections: readonly ConnectionPlan[]): RulePlan[] {
    return this.#known.settle(this.#rules, connections);
  }

  /** Returns a function that finds the locations of the rules returned by `finish`. The function is valid only if there were no errors. */
  placesOf(rules: readonly RulePlan[]): Plan['placeOf'] & {} {
    return createPlaceOf(this.#lists, rules, (item) =>
      isFolder(item) ? (item as { rules: unknown[] }).rules : undefined,
    );
  }

  #addExpressionRule(location: SourceLocation, item: unknown, within: Folders): void {
    const countBefore = location.mistakeCount;
    const checked = checkExpressionRule(location, item, within, this.#find);
    this.#rules.push(...checked);
    if (location.mistakeCount === countBefore) this.#known.add(item, within, checked[0]!);
  }

  #addFolder(location: SourceLocation, item: object, within: Folders, streams: Streams | undefined): void {
    const folder = location.parse(folderSchema, item, true);
    if (folder === undefined) return;
    const isEnabled = within.isEnabled && folder.enabled;
    const inside = { ...within, names: [...within.names, folder.folder], isEnabled };
    this.#addItems(location.at('rules'), folder.rules, inside, streams);
  }
}

/** Returns whether an item in a list of rules is a folder, even without a name. */
function isFolder(item: unknown): item is object {
  return isJsonObject(item) && ('folder' in item || ('rules' in item && !('from' in item)));
}

// The locations of rules in their files. The locations are found on demand, because finding them requires reading the texts again. They
// refer to the current texts: text added above a rule moves the rule without changing it.

/** A list of rules and folders as written, with its location. */
interface RuleList {
  readonly location: SourceLocation;
  readonly items: readonly unknown[];
  /** Whether the list was created by a function in a TypeScript flow file. */
  readonly isMade: boolean;
}

type Body = RulePlan['body'];

/**
 * Returns a function that finds a rule's location, such as `demo.json5:7:20`. `rules` contains the rules in `lists`, from top to bottom.
 */
function createPlaceOf(
  lists: readonly RuleList[],
  rules: readonly Pick<RulePlan, 'body'>[],
  rulesOf: (item: unknown) => readonly unknown[] | undefined,
): (rule: Pick<RulePlan, 'body'>) => string | undefined {
  let places: Map<Body, string> | undefined;
  const find = () => {
    const found = new Map<Body, string>();
    let index = 0;
    const visit = ({ location, items, isMade }: RuleList) => {
      for (const [place, item] of items.entries()) {
        const at = location.at(place);
        const within = rulesOf(item);
        if (within !== undefined) visit({ location: at.at('rules'), items: within, isMade });
        else found.set(rules[index++]!.body, (isMade ? at.at(keyOf(item)) : at).place());
      }
    };
    for (const list of lists) visit(list);
    return found;
  };
  return ({ body }) => {
    places ??= find();
    return places.get(body);
  };
}

/**
 * Returns the setting by which a rule can be found in the source code of a TypeScript flow file: `name`, or `from` if the rule has no name.
 */
function keyOf(item: unknown): string {
  return (item as { name?: unknown }).name === undefined ? 'from' : 'name';
}

// Checks the rules in a TypeScript flow file: the streams that the file requests, and the destinations of each rule.

const methodOf = { S: 'text', B: 'flag', I: 'integer', F: 'float', T: 'trigger' } as const;
const aTypeOf = { S: 'text', B: 'a flag', I: 'an integer', F: 'a float', T: 'a trigger' } as const;
const ruleList = z.array(z.unknown(), { error: 'a list of rules' });

/** The rules created by a TypeScript flow file, not checked yet, and the streams that the file has requested. */
interface ProgramRules {
  readonly items: readonly unknown[];
  readonly streams: Streams;
}

/** Calls the function at `location`, which creates the rules in a TypeScript flow file. The rules are not checked yet. */
function makeProgramRules(
  location: SourceLocation,
  createRules: (on: On) => unknown,
  find: FindDeclaration,
): ProgramRules | undefined {
  const streams = new Streams(location.file.name);
  const ownPath = resolve(location.file.name);
  const placeOf = (stack: string) => placeIn(stack, (path) => (path === ownPath ? location.file.name : undefined));
  let items: unknown;
  try {
    items = inFlow.run(location.file.name, () => createRules(streams.on));
  } catch (error) {
    location.placed(placeOf(stackOf(error))).add(`failed: ${describeThrown(error)}`);
    return undefined;
  }
  for (const { address, type, stack, listensToWrites } of streams.asked) {
    const at = location.placed(placeOf(stack));
    const declaration = find(at, address, listensToWrites);
    if (declaration !== undefined && type !== undefined && declaration.type !== type)
      at.add(
        `${address} is ${aTypeOf[declaration.type]} (${declaration.type}): use on.${methodOf[declaration.type]}("${address}")`,
      );
  }
  if (items instanceof Promise) {
    items.catch(() => {}); // the error below reports that nothing awaits the promise
    location.add('expected rules without async: (on) => [ … ]');
    return undefined;
  }
  return { items: location.parse(ruleList, items) ?? [], streams };
}

/** Returns whether a rule in a TypeScript flow file is data, as in JSON5, instead of a stream. */
function isData(item: unknown): boolean {
  if (!isJsonObject(item) || isObservable(item.from)) return false;
  return typeof item.from === 'string' || Array.isArray(item.from) || isJsonObject(item.from);
}

/** Checks a rule whose source is a stream. Returns a list with one rule, or an empty list if the shape of the rule is wrong. */
function checkStreamRule(
  location: SourceLocation,
  index: number,
  item: unknown,
  within: Folders,
  streams: Streams,
  find: FindDeclaration,
): CheckedRule[] {
  const rule = location.parse(flowRuleSchema, withoutMisplaced(location, item, flowRuleSchema.shape, true));
  if (rule === undefined) return [];
  const to = checkDestinations(location, rule.to, find);
  const { file } = location;
  const checked: CheckedRule = {
    name: rule.name ?? `→ ${to.join(', ')}`,
    file: file.name,
    fileKey: keyOfFile(file),
    folder: within.names,
    isEnabled: within.isEnabled && rule.enabled,
    isShadow: within.isShadow || rule.shadow,
    body: {
      stream: streams.own(rule.from),
      addresses: streams.addressesOf(rule.from),
      connect: (sources) => streams.connect(sources),
    },
    to,
    addresses: to,
    sharedAddresses: streams.addresses,
    key: ruleKey(file, [file.version, index]),
  };
  return [checked];
}
