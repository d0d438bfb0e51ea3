// POST /hub/evaluate: the current value of an expression. GET /hub/usages: the uses of a parameter. Both answers contain only data that the
// principal may read.

import { createContext, Script } from 'node:vm';
import { z } from 'zod';
import { compileExpression, ExpressionMistake, explainFailure, withTextsUpTo } from '../../../expression/expression.ts';
import { HubError, messageOf } from '../../../model/error.ts';
import type { Parameter } from '../../../model/parameter.ts';
import type { Value, ValueType } from '../../../model/value.ts';
import { type Evaluated, evaluated, evaluation, type Usages, usages } from '../../../wire/http/editing-shapes.ts';
import { text } from '../../../wire/http/shape.ts';
import type { Principal } from '../users/principal.ts';
import type { View } from '../users/view.ts';
import { action, type Context, page } from './endpoint.ts';

/**
 * How long an expression may block the hub, in milliseconds. Evaluating an expression in a rule takes microseconds, or up to a thousand
 * times as long on a busy machine.
 */
const limitMs = 100;
/** The maximum number of characters that one evaluation may produce. */
const mostCharacters = 16 * 1024 * 1024;

export const endpoints = [
  action({
    path: '/hub/evaluate',
    need: 'entry',
    id: 'evaluate',
    tag: 'editing',
    summary: 'The type and the current value of an expression; changes nothing',
    body: evaluation,
    answer: evaluated,
    answered: 'The value, or the reason why it has none',
    errors: { 400: 'The expression has an error, or takes too long', 404: 'Parameter not found' },
    act: (_, { expression, from }, { principal }) => oneByOne(() => evaluate(expression, from, principal.view)),
  }),
  page({
    path: '/hub/usages',
    need: 'entry',
    id: 'listUsages',
    tag: 'editing',
    summary: 'The rules, connections, dashboards and tests that use a parameter',
    query: z.object({ address: text.describe('Parameter address') }),
    answer: usages,
    errors: { 400: 'The address is missing', 404: 'Parameter not found' },
    read: (context, { query, principal }) => usagesOf(context, query, principal),
  }),
];

/** The maximum number of expressions that may wait to be evaluated. Together, they take 5 MB. */
const mostWaiting = 512;
let waiting = 0;
let last: Promise<unknown> = Promise.resolve();

/**
 * Runs at most one piece of work per round of the event loop, so that other clients wait for at most one expression. Resolves to the
 * result. Errors: `too-many-requests`; any error from the work.
 */
async function oneByOne<Result>(work: () => Result): Promise<Result> {
  if (waiting >= mostWaiting)
    throw new HubError(
      'too-many-requests',
      `expected at most ${mostWaiting} expressions waiting to be evaluated, got more: try again later`,
    );
  waiting++;
  const result = last.then(nextRound).then(work);
  last = result.catch(() => {});
  return result.finally(() => waiting--);
}

function nextRound(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 1); // lets the hub serve sockets between two expressions
  });
}

function evaluate(expression: string, from: z.output<typeof evaluation>['from'], view: View): Evaluated {
  const scope: Record<string, Value> = {};
  const types: Record<string, ValueType | undefined> = {};
  const unknown: string[] = [];
  const named = typeof from === 'string' ? { value: from } : Array.isArray(from) ? { value: from[0] } : (from ?? {});
  for (const [name, address] of Object.entries(named)) {
    if (address === undefined) continue; // the list of sources is empty
    const parameter = find(address, view);
    const isTrigger = parameter.type === 'T';
    types[name] = isTrigger ? 'B' : parameter.type;
    if (isTrigger) scope[name] = false;
    else if (parameter.value === undefined) unknown.push(address);
    else scope[name] = parameter.value;
  }
  if ('value' in types) types.previous = types.value;
  const compiled = compile(expression, { ...types, now: 'F' }, view);
  const { evaluate: run, type, lookedUp, names, loops } = compiled;
  if (loops > 1)
    throw new HubError(
      'bad-request',
      'expression: expected at most one call to `all`, `exists`, `map`, `filter` or `cel.bind` here',
    );
  for (const { name, address, asks } of lookedUp) {
    const { value, device, wanted } = find(address, view);
    const isKnown = value !== undefined;
    if (asks === 'known') scope[name] = isKnown;
    else if (asks === 'fresh') scope[name] = isKnown && device?.staleSince === undefined;
    else if (isKnown) scope[name] = asks === 'wanted' ? (wanted?.value ?? value) : value;
    else unknown.push(address);
  }
  const [missing] = unknown;
  const about = type === undefined ? {} : { type };
  if (missing !== undefined) return { value: null, ...about, reason: `${missing} is unknown` };
  if (names.includes('previous'))
    return { value: null, ...about, reason: 'previous has a value only while a rule runs' };
  scope.now = Date.now();
  try {
    const work = () => withTextsUpTo(mostCharacters, () => run(scope));
    const value = withinLimit(work) ?? withinLimit(work); // on a busy machine, even a short expression may have been interrupted
    if (value === undefined)
      throw new HubError('bad-request', `expected an expression that takes less than ${limitMs} ms to evaluate`);
    const isShown = typeof value !== 'number' || Number.isFinite(value);
    return { value: isShown ? value : null, ...about, reason: isShown ? '' : `the result is ${value}` };
  } catch (error) {
    return { value: null, ...about, reason: messageOf(explainFailure(error)) };
  }
}

/** Compiles an expression from a client. Errors: `bad-request`, which names the column; `unknown-parameter`. */
function compile(expression: string, types: Readonly<Record<string, ValueType | undefined>>, view: View) {
  try {
    return compileExpression(expression, types, undefined, (address) => find(address, view).type);
  } catch (error) {
    if (error instanceof ExpressionMistake)
      throw new HubError('bad-request', `expression: column ${(error.offset ?? 0) + 1}: ${error.message}`);
    throw error instanceof HubError ? error : new HubError('bad-request', `expression: ${messageOf(error)}`);
  }
}

const context = createContext({ work: () => {} });
const script = new Script('work()');

/**
 * Runs work and returns its result; returns undefined if the work took longer than `limitMs` and was interrupted. Errors: any error from
 * the work.
 */
function withinLimit<Result>(work: () => Result): Result | undefined {
  let result: Result | undefined;
  context.work = () => {
    result = work();
  };
  try {
    script.runInContext(context, { timeout: limitMs });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined;
    throw error;
  } finally {
    context.work = () => {};
  }
  return result;
}

/** Returns the parameter at an address. Errors: `unknown-parameter`, also for a parameter that the principal may not read. */
function find(address: string, view: View): Parameter {
  const parameter = view.find(address);
  if (parameter !== undefined) return parameter;
  throw new HubError('unknown-parameter', `${address.slice(0, 300)}: no parameter has this address`);
}

/**
 * Returns the rules, connections, dashboards and tests that use a parameter. A principal without `manage` sees only those in files that the
 * principal may edit, and dashboards that the principal may open.
 */
async function usagesOf({ hub, dashboards }: Context, query: string, principal: Principal): Promise<Usages> {
  const [address, ...more] = new URLSearchParams(query).getAll('address');
  if (address === undefined || more.length > 0)
    throw new HubError(
      'bad-request',
      `query: expected address=<address> once, got ${more.length > 0 ? 'several' : 'none'}`,
    );
  find(address, principal.view);
  const { rights } = principal;
  const isShown = (file: string) =>
    rights === undefined || rights.settings.manage || rights.mayEdit(hub.editing?.namesOf(file) ?? [file]);
  const { rules, connections, tests } = hub.usagesOf(address);
  const names: string[] = [];
  const isUsedBy = async (name: string) => {
    try {
      return (await dashboards.read(name, principal)).text.includes(JSON.stringify(address));
    } catch {
      return false; // the dashboard file has errors
    }
  };
  for (const name of (await dashboards.list(principal)).dashboards) if (await isUsedBy(name)) names.push(name);
  return {
    address,
    rules: rules.filter(({ file }) => isShown(file)),
    connections: connections.filter(({ file }) => isShown(file)).map(({ id, type, as }) => ({ id, type, as: [...as] })),
    dashboards: names,
    tests: tests.filter(({ file }) => isShown(file)),
  };
}
