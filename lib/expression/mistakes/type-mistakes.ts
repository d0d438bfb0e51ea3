// Explains type errors in expressions to people who do not program: names, operators, functions and results, each with a correction.
import { nearestName } from '../../json5/nearest-name.ts';
import type { ValueType } from '../../model/value.ts';
import { functionTypes } from '../functions/functions.ts';
import { pointInTime, timeSpan } from '../functions/times.ts';
import { authorsName } from '../language.ts';
import { isPart, type Part, partsOf } from '../syntax-tree.ts';
import { aWordOf, ExpressionMistake, wordOf } from './failures.ts';

interface Checked {
  readonly code?: string;
  readonly summary?: string;
  readonly node?: unknown;
  readonly message: string;
}

/** Explains an error that the type check found. `hasParam` states whether the expression may look up other parameters. */
export function explainType(
  text: string,
  error: Checked,
  names: readonly string[],
  hasParam: boolean,
): ExpressionMistake {
  const { code = '', summary = error.message, node } = error;
  if (!isPart(node)) return new ExpressionMistake(`invalid expression: ${summary}`, 0);
  const source = (part: Part) => text.slice(part.start, part.end);
  const mistake = (message: string, at: Part = node) => new ExpressionMistake(message, at.start);
  switch (code) {
    case 'unknown_variable':
      return mistake(unknownVariable(text, node, names, hasParam));
    case 'no_such_overload':
      return 'left' in node ? binaryMistake(node as Binary, source) : mistake(unaryMistake(node, source));
    case 'invalid_logical_operand': {
      const { left, right } = node as Binary;
      const [wrong, other] = ['bool', 'dyn'].includes(typeOf(left)) ? [right, left] : [left, right];
      const use =
        wrong.op === 'value' && other.op === '=='
          ? `write ${source((other as Binary).left)} == ${source(wrong)}`
          : compared(source(wrong), typeOf(wrong));
      return mistake(`expected a condition on both sides of ${node.op}, got ${aWordOf(typeOf(wrong))}: ${use}`, wrong);
    }
    case 'invalid_condition_type':
      return mistake(`expected a condition, got ${aWordOf(typeOf(node))}: ${compared(source(node), typeOf(node))}`);
    case 'incompatible_ternary_branches': {
      const { left, right } = node as Binary;
      return mistake(
        `expected the same type on both sides of :, got ${wordOf(typeOf(left))} and ${wordOf(typeOf(right))}`,
        right,
      );
    }
    case 'heterogeneous_map_key':
    case 'heterogeneous_map_value':
    case 'heterogeneous_list_element':
      return mistake(
        `expected a single type for all items of a list or map, got ${aWordOf(typeOf(node))} among items of another type`,
      );
    case 'invalid_macro_argument':
      return mistake("expected has(map.key) with the name of a map, as in cel.bind(m, {'a': 1}, has(m.a))");
    case 'invalid_comprehension_range':
      return mistake(`expected a list to iterate over, got ${aWordOf(typeOf(node))}`);
    case 'cannot_index_type':
    case 'invalid_index_type':
      return mistake(fieldMistake(node, source));
    case 'no_matching_overload':
      return mistake(callMistake(summary));
    default:
      return mistake(summary.replace(/'(\w+)'/g, (_, type: string) => wordOf(type)));
  }
}

/**
 * Returns an error that explains an attempt to read a field of a value without fields, or undefined if there is no such attempt. CEL itself
 * detects such an attempt at load time only for certain types.
 */
export function explainField(text: string, part: Part): ExpressionMistake | undefined {
  if (part.op === '.') {
    const type = typeOf((part.args as [Part])[0]);
    if (type !== 'dyn' && !type.startsWith('map'))
      return new ExpressionMistake(
        fieldMistake(part, ({ start, end }) => text.slice(start, end)),
        part.start,
      );
  }
  for (const inner of partsOf(part)) {
    const found = explainField(text, inner);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Explains a result that cannot be written, or that does not have the expected type. */
export function explainResult(
  text: string,
  tree: Part,
  type: string,
  expects: ValueType | undefined,
): ExpressionMistake {
  const source = text.trim();
  const mistake = (message: string) => new ExpressionMistake(message, tree.start);
  if (type === 'null' || type.startsWith('list') || type.startsWith('map') || expects === undefined)
    return mistake(`expected text, a number or true/false as the result, got ${aWordOf(type)}`);
  if (expects === 'B' || expects === 'T')
    return mistake(`expected true/false as the result, got ${aWordOf(type)}: ${compared(source, type)}`);
  if (expects === 'S')
    return mistake(`expected text as the result, got ${aWordOf(type)}: use string(${short(source)})`);
  return mistake(`expected a number as the result, got ${aWordOf(type)}: use double(${short(source)})`);
}

/** Names that authors always mean as names and never as strings. */
const ownNames: ReadonlySet<string> = new Set(['value', 'previous', 'sum']);

interface Binary extends Part {
  readonly left: Part;
  readonly right: Part;
}

function typeOf({ checkedType }: Part): string {
  return checkedType?.name ?? 'dyn';
}

function binaryMistake({ op, left, right }: Binary, source: (part: Part) => string): ExpressionMistake {
  const [leftType, rightType] = [typeOf(left), typeOf(right)];
  const sides = `${wordOf(leftType)} ${op} ${wordOf(rightType)}`;
  const mistake = (message: string, at: Part) => new ExpressionMistake(message, at.start);
  if (op === 'in') {
    if (/^(list|map)/.test(rightType))
      return mistake(`expected a list of ${wordOf(leftType)} after "in", got ${aWordOf(rightType)}`, right);
    return mistake(`expected a list after "in", such as [1, 2], got ${aWordOf(rightType)}`, right);
  }
  const texts = [left, right].filter((part) => typeOf(part) === 'string');
  const others = [left, right].filter((part) => typeOf(part) !== 'string');
  const flags = [left, right].filter((part) => typeOf(part) === 'bool');
  if (op === '+' && texts.length === 1)
    return mistake(`${sides}: use string(${short(source(others[0]!))})`, others[0]!);
  if (op === '==' || op === '!=') {
    if (texts.length === 1) {
      const [text] = texts as [Part];
      const literal = typeof text.args === 'string' && text.op === 'value' ? text.args : undefined;
      if (typeOf(others[0]!) === 'bool')
        return mistake(`${sides}: expected true or false to compare with, got text`, text);
      if (literal !== undefined && literal.trim() !== '' && Number.isFinite(Number(literal)))
        return mistake(`${sides}: expected the number ${literal} without quotes`, text);
      return mistake(`${sides}: use string(${short(source(others[0]!))})`, others[0]!);
    }
    if (flags.length === 1)
      return mistake(
        `${sides}: write ${short(source(flags[0]!))} or !${short(source(flags[0]!))} alone`,
        others.find((part) => part !== flags[0])!,
      );
    return mistake(`${sides}: expected the same type on both sides`, right);
  }
  if (texts.length > 0) {
    const use = readers[typeOf(others[0] ?? texts[1]!)] ?? 'double';
    return mistake(`${sides}: use ${use}(${short(source(texts[0]!))})`, texts[0]!);
  }
  if (flags.length > 0) {
    const [flag] = flags as [Part];
    const use = ['<', '>', '<=', '>='].includes(op)
      ? `compare numbers, and join conditions with &&`
      : `use (${short(source(flag))} ? 1 : 0)`;
    return mistake(`${sides}: ${use}`, flag);
  }
  return mistake(`expected values that ${op} accepts, got ${sides}`, left);
}

/** The functions that convert a string to a type other than number, keyed by CEL type. */
const readers: Readonly<Record<string, string>> = { [pointInTime]: 'timestamp', [timeSpan]: 'duration' };

function unaryMistake({ op, args }: Part, source: (part: Part) => string): string {
  const part = args as Part;
  const type = typeOf(part);
  return op === '!_'
    ? `expected a condition after !, got ${aWordOf(type)}: ${compared(source(part), type, '==')}`
    : `expected a number after -, got ${aWordOf(type)}`;
}

/** Returns a suggestion for how to turn a value into a condition. */
function compared(source: string, type: string, operator = type === 'double' ? '>' : '=='): string {
  if (type === 'double') return `compare it, as in ${short(source)} ${operator} 0`;
  if (type === 'string') return `compare it, as in ${short(source)} ${operator} 'on'`;
  return 'compare it with ==';
}

function unknownVariable(text: string, node: Part, names: readonly string[], hasParam: boolean): string {
  const name = node.args as string;
  const small = name.toLowerCase();
  const nearest = small === 'true' || small === 'false' ? small : nearestName(name, names);
  if (nearest !== undefined) return `unknown name "${name}", did you mean "${nearest}"?`;
  const after = text.slice(node.end);
  const shown = names.filter((known) => known !== 'now');
  const known = shown.length > 0 && shown.length <= 20 ? `, the names are ${shown.join(', ')}` : '';
  const [address] = /^[\w-]+(?:\s*\/\s*[\w-]+)+/.exec(text.slice(node.start)) ?? [];
  if (/^\s*\./.test(after) && name === 'Math')
    return 'unknown name "Math": write functions without Math., as in round(value)';
  const type = functionTypes.get(name);
  if (type !== undefined) return `unknown name "${name}": write a function with brackets, as in ${type.usages[0]}`;
  if (address !== undefined && /^\s*[-/]/.test(after)) {
    const parameter = address.replace(/\s/g, '');
    return hasParam
      ? `unknown name "${name}": read a parameter with param('${parameter}')`
      : `unknown name "${name}": an expression here cannot read a parameter by its address (${parameter})${known}`;
  }
  const quotes = ownNames.has(name) ? '' : `; text needs quotes: '${name}'`;
  return `unknown name "${name}"${known}${quotes}`;
}

function fieldMistake(node: Part, source: (part: Part) => string): string {
  const [left, field] = node.args as [Part, string];
  if (node.op !== '.') return `expected a list before [ ], got ${aWordOf(typeOf(left))}`;
  const use = field === 'length' ? 'size' : field;
  const hint = functionTypes.has(use) ? `: use ${use}(${short(source(left))})` : '';
  return `${aWordOf(typeOf(left))} has no .${field}${hint}`;
}

/** Explains a call that no overload matches, given CEL's message `found no matching overload for 'string.fn_round(double)'`. */
function callMistake(summary: string): string {
  const [, receiver, name = '', list = ''] = /'(?:(.+)\.)?(\w+)\((.*)\)'$/.exec(summary) ?? [];
  const type = functionTypes.get(authorsName(name));
  const types = [
    ...(receiver === undefined ? [] : [receiver]),
    ...list.split(/, (?![^<]*>)/).filter((part) => part !== ''),
  ];
  if (type === undefined) {
    if (name !== 'fn_item')
      return `expected a function that takes ${types.map(wordOf).join(', ')}, got ${authorsName(name)}`;
    if (types[0] === 'string') return 'expected a list before [ ], got text: use substring(text, from, to)';
    return `expected a list and a number as in list[0], got ${types.map(wordOf).join(' and ')}`;
  }
  const given = types.slice(type.readsNow ? 1 : 0).map(wordOf);
  return `expected ${type.usages.join(' or ')}, got ${type.name}(${given.join(', ')})`;
}

function short(source: string): string {
  return source.length > 40 ? '…' : source;
}
