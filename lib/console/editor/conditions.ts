// Conditions as rows, and expressions as fixed values, which the rule sheet offers as an alternative to typing CEL. An expression that rows
// cannot represent stays an expression. An expression that was written from rows is read as the same rows again.

export type Literal = string | number | boolean;

export const comparisons = ['true', 'false', '==', '!=', '>', '>=', '<', '<=', 'between'] as const;
export type Comparison = (typeof comparisons)[number];

/** The words that users see for each comparison. */
export const comparisonNames: Readonly<Record<Comparison, string>> = {
  true: 'is on (true)',
  false: 'is off (false)',
  '==': 'is',
  '!=': 'is not',
  '>': 'is above',
  '>=': 'is at least',
  '<': 'is below',
  '<=': 'is at most',
  between: 'is between',
};

/** A condition as a row: `mic is true`, `level is between -40 and -3`. */
export interface Row {
  /** The left side: a name from the sources, or an address, which stands for the current value of another parameter. */
  readonly operand: string;
  readonly comparison: Comparison;
  /** The values with which the operand is compared: no values for true and false, two values for between, and otherwise one value. */
  readonly values: readonly Literal[];
}

export interface Rows {
  readonly join: 'all' | 'any';
  readonly rows: readonly Row[];
}

/** Reads an expression as rows of conditions. Returns undefined if the expression is too complex for rows. */
export function readRows(expression: string): Rows | undefined {
  const any = splitAt(expression, '||');
  const all = splitAt(expression, '&&');
  if (any === undefined || all === undefined) return undefined;
  if (any.length > 1) {
    const rows = any.map((part) => {
      const inner = /^\((.*)\)$/s.exec(part)?.[1];
      const between = inner === undefined ? undefined : readBetween(splitAt(inner, '&&') ?? []);
      return between ?? readRow(part);
    });
    return rows.every((row) => row !== undefined) ? { join: 'any', rows } : undefined;
  }
  const rows: Row[] = [];
  for (let index = 0; index < all.length; index++) {
    const between = readBetween(all.slice(index, index + 2));
    const row = between ?? readRow(all[index]!);
    if (row === undefined) return undefined;
    rows.push(row);
    if (between !== undefined) index++;
  }
  return { join: 'all', rows };
}

/** Writes rows as an expression. Without rows, the expression is empty. */
export function writeRows({ join, rows }: Rows): string {
  const isInParentheses = join === 'any' && rows.length > 1;
  return rows
    .map((row) => (row.comparison === 'between' && isInParentheses ? `(${writeRow(row)})` : writeRow(row)))
    .join(join === 'all' ? ' && ' : ' || ');
}

export function writeRow({ operand, comparison, values: [first = 0, second = 0] }: Row): string {
  const name = writeOperand(operand);
  if (comparison === 'true') return name;
  if (comparison === 'false') return `!${name}`;
  if (comparison === 'between') return `${name} >= ${writeLiteral(first)} && ${name} <= ${writeLiteral(second)}`;
  return `${name} ${comparison} ${writeLiteral(first)}`;
}

function writeOperand(operand: string): string {
  return operand.includes('/') ? `param(${writeLiteral(operand)})` : operand;
}

const operandText = String.raw`[A-Za-z_]\w*|param\(\s*(?:'[^'\\]*'|"[^"\\]*")\s*\)`;
const flagRow = new RegExp(`^(!?)\\s*(${operandText})$`);
const comparedRow = new RegExp(`^(${operandText})\\s*(==|!=|>=|<=|>|<)\\s*(.+)$`, 's');

function readRow(text: string): Row | undefined {
  const [, not, name] = flagRow.exec(text) ?? [];
  if (name !== undefined && !/^(?:true|false|null)$/.test(name))
    return { operand: readOperand(name), comparison: not === '!' ? 'false' : 'true', values: [] };
  const [, left, sign, right = ''] = comparedRow.exec(text) ?? [];
  const value = readLiteral(right);
  if (left === undefined || value === undefined) return undefined;
  return { operand: readOperand(left), comparison: sign as Comparison, values: [value] };
}

function readOperand(text: string): string {
  return /^param\(\s*(['"])(.*)\1\s*\)$/.exec(text)?.[2] ?? text;
}

/** Reads two conditions such as `a >= 1` and `a <= 2` as one row. Returns undefined for any other conditions. */
function readBetween([low, high, more]: readonly string[]): Row | undefined {
  if (low === undefined || high === undefined || more !== undefined) return undefined;
  const [one, other] = [readRow(low), readRow(high)];
  if (one?.comparison !== '>=' || other?.comparison !== '<=' || one.operand !== other.operand) return undefined;
  return { operand: one.operand, comparison: 'between', values: [one.values[0]!, other.values[0]!] };
}

/** Reads a literal: a number, a quoted string, true or false. Returns undefined for anything else. */
export function readLiteral(text: string): Literal | undefined {
  const trimmed = text.trim();
  if (trimmed === 'true' || trimmed === 'false') return trimmed === 'true';
  if (/^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(trimmed)) return Number(trimmed);
  return /^(['"])((?:(?!\1)[^\\\n])*)\1$/.exec(trimmed)?.[2];
}

export function writeLiteral(value: Literal): string {
  if (typeof value !== 'string') return String(value);
  if (!/['\\\n]/.test(value)) return `'${value}'`;
  return JSON.stringify(value);
}

/** Splits an expression at an operator outside quotes and brackets. Returns undefined if quotes or brackets do not match. */
function splitAt(expression: string, operator: '&&' | '||'): string[] | undefined {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  let quote: string | undefined;
  for (let at = 0; at < expression.length; at++) {
    const one = expression[at]!;
    if (quote !== undefined) {
      if (one === '\\') at++;
      else if (one === quote) quote = undefined;
    } else if (one === "'" || one === '"') quote = one;
    else if ('([{'.includes(one)) depth++;
    else if (')]}'.includes(one)) depth--;
    else if (depth === 0 && expression.startsWith(operator, at)) {
      parts.push(expression.slice(start, at).trim());
      start = at + 2;
      at++;
    }
  }
  parts.push(expression.slice(start).trim());
  return depth === 0 && quote === undefined ? parts : undefined;
}

/** Replaces a name in an expression with another name, but not within strings. */
export function renameIn(expression: string, from: string, to: string): string {
  return expression.replace(/'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|(?<![\w.])[A-Za-z_]\w*/g, (part) =>
    part === from ? to : part,
  );
}

const reserved = new Set([
  'value',
  'previous',
  'now',
  'sum',
  'param',
  'true',
  'false',
  'null',
  'in',
  'known',
  'fresh',
  'wanted',
]);

/** Returns a name for an address in expressions, such as `mic1` for `desk/mic1`, that differs from all names in `taken`. */
export function nameFor(address: string, taken: readonly string[]): string {
  const segments = address
    .split('/')
    .map((part) => part.replace(/[^A-Za-z0-9_]+(.)?/g, (_, next = '') => next.toUpperCase()));
  const isFree = (name: string) => /^[A-Za-z_]\w*$/.test(name) && !reserved.has(name) && !taken.includes(name);
  const own = segments.at(-1) ?? '';
  const longer = segments.slice(-2).join('_');
  for (const name of [own, longer]) if (isFree(name)) return name;
  for (let number = 1; ; number++) if (isFree(`input${number}`)) return `input${number}`;
}
