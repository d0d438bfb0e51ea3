// Checks the rules of a flow file in TypeScript: the streams that it asks for, and what each rule writes to.

import { resolve } from 'node:path';
import { isObservable } from 'rxjs';
import { z } from 'zod';
import { isJsonObject } from '../../../model/json-object.ts';
import type { On } from '../../define-flow.ts';
import { keyOfFile } from '../../files/flow-file.ts';
import { inFlow } from '../../programs/flow-code.ts';
import { placeIn, stackOf, wordsOf } from '../../programs/stack.ts';
import { Streams } from '../../streams.ts';
import { flowRuleSchema } from '../schema.ts';
import { type FindDeclaration, ruleKey, type Spot } from '../spot.ts';
import type { CheckedRule, Folders } from './checked-rule.ts';
import { checkDestinations } from './expression-rule.ts';
import { withoutMisplaced } from './misplaced-settings.ts';

const methodOf = { S: 'text', B: 'flag', I: 'integer', F: 'float', T: 'trigger' } as const;
const aTypeOf = { S: 'a text', B: 'a flag', I: 'an integer', F: 'a float', T: 'a trigger' } as const;
const ruleList = z.array(z.unknown(), { error: 'a list of rules' });

/** The rules that a flow file in TypeScript has made, and the streams that they lead back to. */
export interface ProgramRules {
  readonly items: readonly unknown[];
  readonly streams: Streams;
}

/** Has a flow file make its rules, of which none is checked yet. `spot` is where the function is that makes them. */
export function makeProgramRules(
  spot: Spot,
  createRules: (on: On) => unknown,
  find: FindDeclaration,
): ProgramRules | undefined {
  const streams = new Streams(spot.file.name);
  const ownPath = resolve(spot.file.name);
  const placeOf = (stack: string) => placeIn(stack, (path) => (path === ownPath ? spot.file.name : undefined));
  let items: unknown;
  try {
    items = inFlow.run(spot.file.name, () => createRules(streams.on));
  } catch (error) {
    spot.placed(placeOf(stackOf(error))).add(`failed: ${wordsOf(error)}`);
    return undefined;
  }
  for (const { address, type, stack, hearsWrites } of streams.asked) {
    const at = spot.placed(placeOf(stack));
    const declaration = find(at, address, hearsWrites);
    if (declaration !== undefined && type !== undefined && declaration.type !== type)
      at.add(
        `${address} is ${aTypeOf[declaration.type]} (${declaration.type}): use on.${methodOf[declaration.type]}("${address}")`,
      );
  }
  if (items instanceof Promise) {
    items.catch(() => {}); // it is told here that nobody waits for it
    spot.add('expected rules without async: (on) => [ … ]');
    return undefined;
  }
  return { items: spot.parse(ruleList, items) ?? [], streams };
}

/** Whether a rule of such a file is data, as in JSON5, rather than a stream. */
export function isData(item: unknown): boolean {
  if (!isJsonObject(item) || isObservable(item.from)) return false;
  return typeof item.from === 'string' || Array.isArray(item.from) || isJsonObject(item.from);
}

/** Checks a rule of a stream; a list of one, and none where its shape is wrong. */
export function checkStreamRule(
  spot: Spot,
  index: number,
  item: unknown,
  within: Folders,
  streams: Streams,
  find: FindDeclaration,
): CheckedRule[] {
  const rule = spot.parse(flowRuleSchema, withoutMisplaced(spot, item, flowRuleSchema.shape, true));
  if (rule === undefined) return [];
  const to = checkDestinations(spot, rule.to, find);
  const { file } = spot;
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
