// Explains syntax errors in expressions to people who do not program: the syntax of other languages, curly quotes from word processors, and
// unclosed brackets or quotes.
import { ExpressionMistake } from './failures.ts';

/** The error that the CEL parser found, and where. */
interface Found {
  readonly code: string;
  readonly summary: string;
  readonly start: number;
}

interface Token {
  readonly text: string;
  readonly start: number;
}

const choice = 'condition ? value : other value';
/** Keywords from other languages, with the operators that replace them. */
const words: ReadonlyMap<string, string> = new Map([
  ['and', '&&'],
  ['or', '||'],
  ['not', '!'],
  ['xor', '!='],
  ['mod', '%'],
  ['is', '=='],
  ['equals', '=='],
  ['if', choice],
  ['then', choice],
  ['else', choice],
]);

/** Characters that are not part of expressions, with their replacements. */
const characters: Readonly<Record<string, string>> = {
  '&': '&& between two conditions that must both be true',
  '|': '|| between two conditions of which one must be true',
  '×': '*',
  '·': '*',
  '÷': '/',
  '≤': '<=',
  '≥': '>=',
  '≠': '!=',
  '–': '-',
  '−': '-',
  '^': 'pow(number, exponent)',
  ';': 'a single expression',
  $: 'a name without $',
  '#': "text in quotes, as in '#1'",
  '`': 'the quotes \' or "',
};
const curlyQuotes = /[“”„‟‘’‚‛«»]/;

/** Matches tokens. The end of the expression closes a string without a second quote, so that no part is read twice. */
const tokenPattern =
  /'(?:[^'\\]|\\.)*(?:'|\\?$)|"(?:[^"\\]|\\.)*(?:"|\\?$)|\/\/.*|[A-Za-z_]\w*|\d[\d.]*|[=!<>]=|&&|\|\||\S/gs;

const wholeText = /^(['"])(?:[^\\]|\\.)*\1$/s;

/** Explains a syntax error. `names` contains the names that the expression may read: a variable may be called `or`. */
export function explainSyntax(text: string, error: unknown, names: readonly string[]): ExpressionMistake {
  const found = readError(text, error);
  const tokens = Array.from(text.matchAll(tokenPattern), (match): Token => ({ text: match[0], start: match.index }));
  const { message, start } =
    wordMistake(tokens, names) ??
    signMistake(text, found, tokens) ??
    quoteMistake(tokens) ??
    bracketMistake(tokens) ??
    placeMistake(text, found, tokens);
  return new ExpressionMistake(message, start);
}

type Explained = { readonly message: string; readonly start: number };

function readError(text: string, error: unknown): Found {
  const {
    code = '',
    summary,
    message,
    range,
  } = error as Partial<Found> & {
    message: string;
    range?: { start: number };
  };
  return { code, summary: summary ?? message.split('\n', 1)[0]!, start: range?.start ?? text.length };
}

function wordMistake(tokens: readonly Token[], names: readonly string[]): Explained | undefined {
  for (const { text, start } of tokens) {
    const expected = names.includes(text) ? undefined : words.get(text.toLowerCase());
    if (expected !== undefined) return { message: `expected ${expected}, got ${text}`, start };
  }
  return undefined;
}

/** Explains a character that has a different meaning in expressions, or no meaning. */
function signMistake(text: string, { code, start }: Found, tokens: readonly Token[]): Explained | undefined {
  if (code.startsWith('unterminated') || code === 'newline_in_string')
    return { message: `expected a closing ${text[start]} at the end of the text, got none`, start };
  const char = text[start] ?? '';
  const before = text.slice(0, start).trimEnd().at(-1) ?? '';
  const next = text[start + 1] ?? '';
  if (char === '=') {
    if (before === '=') return { message: 'expected ==, got ===', start: start - 2 };
    if (next === '>' || next === '<') return { message: `expected ${next}=, got =${next}`, start };
    if ('+-*/%:'.includes(before) && text[start - 1] === before)
      return { message: `expected a value after ${before}, got =: an expression computes, it does not assign`, start };
    return { message: 'did you mean ==? A single = does not compare', start };
  }
  if (char === '>' && before === '<') return { message: 'expected !=, got <>', start: start - 1 };
  if (char === ',' && /\d$/.test(text.slice(0, start)) && /\d/.test(next))
    return {
      message: `expected a decimal point, got ${/\d+$/.exec(text.slice(0, start))![0]},${/^\d+/.exec(text.slice(start + 1))![0]}`,
      start,
    };
  if (char === ':' && next === '=') return { message: 'expected an expression without an assignment, got :=', start };
  const quote = tokens.find((token) => curlyQuotes.test(token.text[0]!));
  if (quote !== undefined) return { message: `expected the quotes ' or ", got ${quote.text[0]}`, start: quote.start };
  if (code === 'unexpected_character' && Object.hasOwn(characters, char) && next !== char)
    return { message: `expected ${characters[char]}, got ${char}`, start };
  const last = tokens.at(-1);
  if (last?.text === '%' && start >= last.start + 1)
    return {
      message: 'expected a value after %, the remainder of a division: write 50% as 0.5',
      start: last.start,
    };
  return undefined;
}

/** Explains a quote without its counterpart, if there is one. */
function quoteMistake(tokens: readonly Token[]): Explained | undefined {
  const { text, start } = tokens.at(-1) ?? { text: '', start: 0 };
  const quote = /^['"]/.exec(text)?.[0];
  if (quote === undefined || wholeText.test(text)) return undefined;
  return { message: `expected quotes before and after each text, one ${quote} is missing`, start };
}

/** Explains a bracket that is not closed, or that closes nothing. */
function bracketMistake(tokens: readonly Token[]): Explained | undefined {
  const closing: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };
  const open: Token[] = [];
  for (const token of tokens) {
    if (Object.hasOwn(closing, token.text)) open.push(token);
    else if (Object.values(closing).includes(token.text)) {
      const opened = open.pop();
      if (opened === undefined)
        return { message: `expected an opening bracket before ${token.text}, got none`, start: token.start };
      if (closing[opened.text] !== token.text)
        return {
          message: `expected ${closing[opened.text]} to close ${opened.text}, got ${token.text}`,
          start: token.start,
        };
    }
  }
  const opened = open.at(-1);
  return (
    opened && { message: `expected ${closing[opened.text]} to close ${opened.text}, got none`, start: opened.start }
  );
}

/** Explains what is missing where the parser stopped. */
function placeMistake(text: string, { code, summary, start }: Found, tokens: readonly Token[]): Explained {
  if (text.trim() === '') return { message: 'expected an expression, got empty text', start: 0 };
  if (code === 'limit_exceeded') return { message: `expected a shorter expression: ${limitOf(summary)}`, start: 0 };
  const index = tokens.findIndex((token) => token.start >= start);
  const at = tokens[index];
  const before = index < 0 ? tokens.at(-1) : tokens[index - 1];
  const got = at === undefined ? 'the end' : at.text;
  if (summary.startsWith('Expected COLON'))
    return { message: `expected : and a second value, as in ${choice}, got ${got}`, start };
  if (/^Invalid number/i.test(summary))
    return { message: `expected a number up to 1.8e308, got ${/^[\w.+-]*/.exec(text.slice(start))![0]}`, start };
  if (code === 'reserved_identifier')
    return { message: `expected a name other than ${got}, which is a reserved word`, start };
  if (code === 'unexpected_character' && at !== undefined && before !== undefined) {
    if (/^\d/.test(before.text) && before.start + before.text.length === start && /^[A-Za-z]/.test(got))
      return { message: `expected a number without a unit, got ${before.text}${got}`, start: before.start };
    if (/^[\w'"(]/.test(got))
      return { message: `expected an operator such as + or && between ${before.text} and ${got}`, start };
  }
  if (code === 'unexpected_token' || summary.startsWith('Expected')) {
    const after = before === undefined ? '' : ` after ${before.text}`;
    return {
      message: `expected a value${after}, got ${got}`,
      start: at === undefined ? Math.max(0, text.trimEnd().length - 1) : start,
    };
  }
  if (code === 'unexpected_character') {
    const char = [...text.slice(start)][0] ?? got;
    return { message: `expected a name of letters a-z, digits and _, or text in quotes, got ${char}`, start };
  }
  return { message: `invalid expression: ${summary[0]!.toLowerCase()}${summary.slice(1)}`, start };
}

function limitOf(summary: string): string {
  const [, limit = '', count = ''] = /(\w+) \((\d+)\)/.exec(summary) ?? [];
  const units: Readonly<Record<string, string>> = {
    maxAstNodes: 'names, values and operators',
    maxDepth: 'levels of brackets',
    maxListElements: 'items in a list',
    maxMapEntries: 'entries in a map',
    maxCallArguments: 'arguments',
  };
  return `at most ${count} ${units[limit] ?? 'parts'}`;
}
