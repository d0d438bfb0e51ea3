// Compiles the templates in discovery documents from a subset of Jinja to the hub's expressions. The hub never runs Jinja. Everything
// outside the subset is refused with a reason: loops, macros, most filters, and access to anything but the message.

import { partAt } from '../../device/message.ts';
import { compileExpression, missingName } from '../../expression/expression.ts';
import { messageOf } from '../../model/error.ts';
import { KeptResults } from '../../model/kept-results.ts';
import type { Value } from '../../model/value.ts';

/** The maximum length of a template in characters, the maximum number of tokens in an expression, and the maximum nesting depth. */
const maxLength = 4000;
const maxTokens = 400;
const maxDepth = 20;
/** The maximum number of compiled templates in the cache. Many devices use the same templates. */
const keptTemplates = 5000;

/** The error for a template outside the supported subset. The message gives the reason. */
export class TemplateError extends Error {}

/** The values that are available to a template. */
export interface Source {
  /**
   * The value of the name `value`: the payload as a string if the template reads a payload, or the value to write if the template formats a
   * command.
   */
  readonly text: Value;
  /** The value of the name `value_json`: the payload as JSON. */
  readonly json: unknown;
  /** The values of further names with which the template was compiled. Names without a value are undefined. */
  readonly names?: Readonly<Record<string, Value | undefined>>;
}

export interface Template {
  /** The compiled expression as text, for logs and tests. */
  readonly expression: string;
  /** Evaluates the template. Returns undefined if the message lacks a part that the template needs. Errors: any expression error. */
  evaluate(source: Source): Value | undefined;
}

const compiled = new KeptResults<Template | TemplateError>(keptTemplates);

/** Compiles a template that may use `value`, `value_json` and the names in `names`. Errors: `TemplateError`. */
export function compileTemplate(text: string, names: readonly string[] = []): Template {
  const key = names.length === 0 ? text : `${names.join()}\n${text}`;
  let known = compiled.get(key);
  if (known === undefined) {
    try {
      known = compile(text, names);
    } catch (error) {
      known =
        error instanceof TemplateError
          ? error
          : new TemplateError(`the template is not an expression: ${messageOf(error)}`);
    }
    compiled.keep(key, known);
  }
  if (known instanceof TemplateError) throw known;
  return known;
}

/** The origin of a name's value: `value`, `value_json`, or one of the further names. */
type From = 'value' | 'value_json' | (string & {});

/** A variable in the compiled expression and the part of the message that determines its value. */
interface Read {
  readonly name: string;
  readonly asks: 'value' | 'defined' | 'none' | 'true' | 'isTrue' | 'isFalse' | 'number';
  readonly from: From;
  readonly path: readonly string[];
}

function compile(text: string, names: readonly string[]): Template {
  if (text.length > maxLength) throw new TemplateError(`the template is longer than ${maxLength} characters`);
  const reads = new Map<string, Read>();
  const expression = new Statements(text, { reads, names, variables: new Map() }).compile();
  const { evaluate } = compileExpression(
    expression,
    Object.fromEntries([...reads.values()].map(({ name, asks }) => [name, asks === 'value' ? undefined : 'B'])),
  );
  const all = [...reads.values()];
  return {
    expression,
    evaluate(source) {
      const scope: Record<string, Value> = {};
      for (const { name, asks, from, path } of all) {
        const part = partOf(source, from, path);
        if (asks === 'defined') scope[name] = part !== undefined;
        else if (asks === 'none') scope[name] = part === null;
        else if (asks === 'isTrue') scope[name] = part === true;
        else if (asks === 'isFalse') scope[name] = part === false;
        else if (asks === 'true') scope[name] = isTrue(part);
        else if (asks === 'number') scope[name] = isNumber(part);
        else if (part === null) scope[name] = noneText;
        else if (part !== undefined) scope[name] = typeof part === 'object' ? JSON.stringify(part) : (part as Value);
      }
      try {
        const result = evaluate(scope);
        return typeof result === 'string' ? result.trim() : result;
      } catch (error) {
        if (missingName(error) !== undefined) return undefined;
        throw error;
      }
    },
  };
}

/** The string that a template prints for an unknown value. */
export const noneText = 'None';

function partOf({ text, json, names }: Source, from: From, path: readonly string[]): unknown {
  if (from === 'value') return text;
  if (from === 'value_json') return partAt(json, path);
  return names !== undefined && Object.hasOwn(names, from) ? names[from] : undefined;
}

function isTrue(part: unknown): boolean {
  if (typeof part === 'string') return part !== '';
  if (typeof part === 'object' && part !== null) return Object.keys(part).length > 0;
  return Boolean(part);
}

function isNumber(part: unknown): boolean {
  if (typeof part === 'string') return part.trim() !== '' && Number.isFinite(Number(part));
  return typeof part === 'number' || typeof part === 'boolean';
}

/** A term in a template expression: a value, a list or map, or a compiled expression. */
type Term =
  | { readonly from: From; readonly path: readonly string[] }
  | { readonly map: Entries }
  | { readonly list: readonly string[] }
  /** The value for a key in a map, which may lack the key. */
  | { readonly chosen: Entries; readonly key: string }
  | { readonly text: string; readonly isTest?: boolean };

type Entries = readonly (readonly [key: string, value: string])[];

/** The state that all expressions in a template share. */
interface Scope {
  readonly reads: Map<string, Read>;
  /** The further names that the template may use. */
  readonly names: readonly string[];
  /** The variables that `{% set name = … %}` has defined, keyed by name. */
  readonly variables: Map<string, Term>;
}

/** Compiles a template's text and statements: `{{ … }}`, `{% if … %}`, `{% elif … %}`, `{% else %}`, `{% endif %}`, `{% set … %}`. */
class Statements {
  readonly #parts: readonly string[];
  readonly #scope: Scope;
  #at = 0;

  constructor(text: string, scope: Scope) {
    this.#parts = text
      .split(/(\{\{[\s\S]*?\}\}|\{%[\s\S]*?%\}|\{#[\s\S]*?#\})/)
      .filter((part) => part !== '' && !part.startsWith('{#'));
    this.#scope = scope;
  }

  compile(): string {
    const expression = this.#block(0);
    if (this.#at < this.#parts.length) throw new TemplateError(`${this.#parts[this.#at]} has no matching {% if %}`);
    return expression;
  }

  /** Compiles the template up to its end or up to the next `elif`, `else` or `endif`. */
  #block(depth: number): string {
    if (depth > maxDepth) throw new TemplateError(`the template is nested more than ${maxDepth} levels deep`);
    const found: { readonly text: string; readonly isLiteral: boolean }[] = [];
    for (; this.#at < this.#parts.length; this.#at++) {
      const part = this.#parts[this.#at]!;
      if (part.startsWith('{{')) found.push({ text: this.#expression(part.slice(2, -2)), isLiteral: false });
      else if (part.startsWith('{%')) {
        const [, word, rest = ''] = /^-?\s*(\w+)\s*([\s\S]*?)\s*-?$/.exec(part.slice(2, -2)) ?? [];
        if (word === 'if') found.push({ text: this.#if(rest, depth), isLiteral: false });
        else if (word === 'set') this.#set(rest, depth);
        else if (['elif', 'else', 'endif'].includes(word ?? '')) break;
        else throw new TemplateError(`the template uses the unsupported statement {% ${word ?? ''} %}`);
      } else if (part.trim() !== '' || (found.length > 0 && !/\n/.test(part)))
        found.push({ text: quote(part), isLiteral: true });
    }
    while (found.at(-1)?.isLiteral === true && /^"\s*"$/.test(found.at(-1)!.text)) found.pop();
    if (found.length === 0) return '""';
    if (found.length === 1) return found[0]!.text;
    return found.map(({ text, isLiteral }) => (isLiteral ? text : `string(${text})`)).join(' + ');
  }

  #if(condition: string, depth: number): string {
    const test = new Expressions(condition, this.#scope).condition();
    this.#at++;
    const then = this.#block(depth + 1);
    const part = this.#parts[this.#at] ?? '';
    const [, word, rest = ''] = /^\{%-?\s*(\w+)\s*([\s\S]*?)\s*-?%\}$/.exec(part) ?? [];
    if (word === 'elif') return `(${test} ? ${then} : ${this.#if(rest, depth + 1)})`;
    let other = '""';
    if (word === 'else') {
      this.#at++;
      other = this.#block(depth + 1);
    }
    if (!/^\{%-?\s*endif\s*-?%\}$/.test(this.#parts[this.#at] ?? ''))
      throw new TemplateError('an {% if %} has no matching {% endif %}');
    return `(${test} ? ${then} : ${other})`;
  }

  #set(text: string, depth: number): void {
    const [, name, rest] = /^(\w+)\s*=(?!=)\s*([\s\S]*)$/.exec(text) ?? [];
    if (name === undefined) throw new TemplateError(`the template uses the unsupported statement {% set ${text} %}`);
    // in Jinja, the variable would keep its value after {% endif %}
    if (depth > 0) throw new TemplateError('the template sets a variable inside an {% if %}');
    this.#scope.variables.set(name, new Expressions(rest!, this.#scope).term());
  }

  #expression(text: string): string {
    return new Expressions(text.replace(/^-|-$/g, ''), this.#scope).whole();
  }
}

/** The tests that may follow `is`, such as `defined`. */
const tests: Readonly<Record<string, Read['asks']>> = {
  defined: 'defined',
  undefined: 'defined',
  none: 'none',
  true: 'isTrue',
  false: 'isFalse',
};

const token =
  /\s+|(?<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|(?<number>\d+(?:\.\d+)?)|(?<name>[A-Za-z_]\w*)|(?<sign>==|!=|<=|>=|\/\/|\*\*|[-+*/%<>()[\]{}.,:|~])/gy;

class Expressions {
  readonly #tokens: string[] = [];
  readonly #scope: Scope;
  #at = 0;
  #depth = 0;

  constructor(text: string, scope: Scope) {
    this.#scope = scope;
    let end = 0;
    for (const { 0: word, index } of text.matchAll(token)) {
      end = index + word.length;
      if (word.trim() !== '') this.#tokens.push(word);
    }
    if (end < text.length)
      throw new TemplateError(`the template contains the unexpected character ${JSON.stringify(text[end])}`);
    if (this.#tokens.length > maxTokens)
      throw new TemplateError(`the template contains an expression of more than ${maxTokens} tokens`);
  }

  whole(): string {
    return this.#ended(this.#textOf(this.#ternary()));
  }

  condition(): string {
    return this.#ended(this.#testOf(this.#ternary()));
  }

  term(): Term {
    const term = this.#ternary();
    this.#ended('');
    return term;
  }

  #ended(text: string): string {
    if (this.#at < this.#tokens.length)
      throw new TemplateError(`the template contains the unexpected token "${this.#tokens[this.#at]}"`);
    return text;
  }

  #is(...words: readonly string[]): boolean {
    return words.includes(this.#tokens[this.#at] ?? '');
  }

  #take(...words: readonly string[]): boolean {
    if (!this.#is(...words)) return false;
    this.#at++;
    return true;
  }

  #expect(word: string): void {
    if (!this.#take(word)) throw new TemplateError(`the template lacks "${word}"`);
  }

  #name({ from, path }: Extract<Term, { from: unknown }>, asks: Read['asks']): string {
    const { reads } = this.#scope;
    const key = JSON.stringify([from, path, asks]);
    const known = reads.get(key);
    if (known !== undefined) return known.name;
    const name = `v${reads.size}`;
    reads.set(key, { name, asks, from, path });
    return name;
  }

  #textOf(term: Term): string {
    if ('text' in term) return term.text;
    if ('from' in term) return this.#name(term, 'value');
    if ('chosen' in term) return chosen(term.chosen, term.key, '""');
    throw new TemplateError(`the template's result is a ${'map' in term ? 'map' : 'list'}`);
  }

  #testOf(term: Term): string {
    if ('from' in term) return this.#name(term, 'true');
    if ('text' in term && term.isTest === true) return term.text;
    throw new TemplateError('the template contains a condition that is not a comparison');
  }

  #ternary(): Term {
    if (++this.#depth > maxDepth) throw new TemplateError(`the template is nested more than ${maxDepth} levels deep`);
    const term = this.#or();
    if (this.#take('if')) {
      const test = this.#testOf(this.#or());
      const other = this.#take('else') ? this.#textOf(this.#ternary()) : '""';
      this.#depth--;
      return { text: `(${test} ? ${this.#textOf(term)} : ${other})` };
    }
    this.#depth--;
    return term;
  }

  #or(): Term {
    let term = this.#and();
    while (this.#take('or')) term = { text: `(${this.#testOf(term)} || ${this.#testOf(this.#and())})`, isTest: true };
    return term;
  }

  #and(): Term {
    let term = this.#not();
    while (this.#take('and')) term = { text: `(${this.#testOf(term)} && ${this.#testOf(this.#not())})`, isTest: true };
    return term;
  }

  #not(): Term {
    return this.#take('not') ? { text: `!(${this.#testOf(this.#not())})`, isTest: true } : this.#compared();
  }

  #compared(): Term {
    const left = this.#sum();
    const sign = this.#tokens[this.#at];
    if (this.#take('==', '!=', '<', '<=', '>', '>='))
      return { text: `(${this.#textOf(left)} ${sign} ${this.#textOf(this.#sum())})`, isTest: true };
    if (this.#take('is')) {
      const isNot = this.#take('not');
      const test = this.#tokens[this.#at++] ?? '';
      const asks = Object.hasOwn(tests, test) ? tests[test] : undefined;
      if (asks === undefined || !('from' in left))
        throw new TemplateError(`the template uses the unsupported test "is ${test}"`);
      return { text: `${isNot === (test !== 'undefined') ? '!' : ''}${this.#name(left, asks)}`, isTest: true };
    }
    const isNot = this.#is('not') && this.#tokens[this.#at + 1] === 'in';
    if (isNot) this.#at++;
    if (!this.#take('in')) return left;
    return { text: `${isNot ? '!' : ''}${this.#contained(left, this.#sum())}`, isTest: true };
  }

  /** Compiles `value in ['a', 'b']`, `value in names` or `"state" in value_json`. */
  #contained(left: Term, right: Term): string {
    const items = 'list' in right ? right.list : 'map' in right ? right.map.map(([key]) => key) : undefined;
    if (items !== undefined) {
      const value = this.#textOf(left);
      return `(${items.map((item) => `${value} == ${item}`).join(' || ') || 'false'})`;
    }
    const key = 'text' in left ? plainText(left.text) : undefined;
    if ('from' in right && right.from === 'value_json' && key !== undefined)
      return this.#name({ from: right.from, path: [...right.path, key] }, 'defined');
    return `string(${this.#textOf(right)}).contains(string(${this.#textOf(left)}))`;
  }

  #sum(): Term {
    let term = this.#product();
    for (;;) {
      if (this.#take('~'))
        term = { text: `(string(${this.#textOf(term)}) + string(${this.#textOf(this.#product())}))` };
      else if (this.#is('+', '-')) {
        const sign = this.#tokens[this.#at++];
        term = { text: `(${this.#textOf(term)} ${sign} ${this.#textOf(this.#product())})` };
      } else return term;
    }
  }

  #product(): Term {
    let term = this.#signed();
    for (;;) {
      if (this.#take('//')) term = { text: `floor(${this.#textOf(term)} / ${this.#textOf(this.#signed())})` };
      else if (this.#is('*', '/', '%')) {
        const sign = this.#tokens[this.#at++];
        term = { text: `(${this.#textOf(term)} ${sign} ${this.#textOf(this.#signed())})` };
      } else return term;
    }
  }

  #signed(): Term {
    return this.#take('-') ? { text: `-(${this.#textOf(this.#signed())})` } : this.#filtered();
  }

  #filtered(): Term {
    let term = this.#primary();
    for (;;) {
      if (this.#take('.')) {
        const name = this.#tokens[this.#at++] ?? '';
        if (name === 'get' && this.#is('(')) term = this.#got(term);
        else if (name === 'keys' && 'map' in term && this.#take('(')) this.#expect(')');
        else term = this.#item(term, name);
      } else if (this.#take('[')) {
        const key = this.#ternary();
        this.#expect(']');
        if ('map' in term) term = { chosen: term.map, key: this.#textOf(key) };
        else {
          const text = 'text' in key ? key.text : '';
          term = this.#item(term, plainText(text) ?? (/^\d+$/.test(text) ? text : undefined));
        }
      } else if (this.#take('|')) term = this.#filter(term);
      else return term;
    }
  }

  #item(term: Term, name: string | undefined): Term {
    if (!('from' in term) || term.from !== 'value_json' || name === undefined || name === '')
      throw new TemplateError('the template reads a part of a value other than value_json');
    if (name.startsWith('__')) throw new TemplateError(`the template reads the forbidden name ${name}`);
    return { from: term.from, path: [...term.path, name] };
  }

  /** Compiles the methods `.get(key)` and `.get(key, other)` of maps and of `value_json`. */
  #got(term: Term): Term {
    this.#expect('(');
    const key = this.#textOf(this.#ternary());
    const other = this.#take(',') ? this.#textOf(this.#ternary()) : undefined;
    this.#expect(')');
    if ('map' in term) return other === undefined ? { chosen: term.map, key } : { text: chosen(term.map, key, other) };
    const found = this.#item(term, plainText(key));
    return other === undefined ? found : this.#orOther(found, 'defined', other);
  }

  #orOther(term: Term, asks: 'defined' | 'true' | 'number', other: string): Term {
    if ('chosen' in term) return { text: chosen(term.chosen, term.key, other) };
    if (!('from' in term)) return term; // a term that is always defined
    return { text: `(${this.#name(term, asks)} ? ${this.#name(term, 'value')} : ${other})` };
  }

  #filter(term: Term): Term {
    const name = this.#tokens[this.#at++] ?? '';
    const values: string[] = [];
    if (this.#take('('))
      while (!this.#take(')')) {
        if (this.#tokens[this.#at + 1] === '=' && this.#tokens[this.#at] !== 'default')
          throw new TemplateError(`the template passes a named argument to the filter ${name}`);
        if (this.#tokens[this.#at + 1] === '=') this.#at += 2;
        values.push(this.#textOf(this.#ternary()));
        if (!this.#is(')')) this.#expect(',');
      }
    const [first, second] = values;
    if ((name === 'default' || name === 'd') && first !== undefined)
      return this.#orOther(term, second === 'true' ? 'true' : 'defined', first);
    if (name === 'is_defined' && 'from' in term) return term;
    if ((name === 'float' || name === 'int') && first !== undefined && 'from' in term) {
      const value = `double(${this.#name(term, 'value')})`;
      return { text: `(${this.#name(term, 'number')} ? ${name === 'int' ? `int(${value})` : value} : ${first})` };
    }
    const text = this.#textOf(term);
    const number = `double(${text})`;
    switch (name) {
      case 'float':
        return { text: number };
      case 'int':
        return { text: `int(${number})` };
      case 'round':
        return { text: first === undefined ? `round(${number})` : `round(${number}, ${first})` };
      case 'abs':
        return { text: `abs(${number})` };
      case 'multiply':
        return { text: `(${number} * ${first ?? '1'})` };
      case 'add':
        return { text: `(${number} + ${first ?? '0'})` };
      case 'string':
        return { text: `string(${text})` };
      case 'lower':
        return { text: `string(${text}).lowerAscii()` };
      case 'upper':
        return { text: `string(${text}).upperAscii()` };
      case 'trim':
        return { text: `string(${text}).trim()` };
      case 'truncate':
        if (first === undefined || !/^\d+$/.test(first)) break;
        return {
          text: `(size(string(${text})) > ${first} ? substring(string(${text}), 0, ${first}) : string(${text}))`,
        };
      case 'replace':
        if (values.length !== 2) break;
        return { text: `string(${text}).replace(${values.join(', ')})` };
    }
    throw new TemplateError(`the template uses the unsupported filter ${name}`);
  }

  #primary(): Term {
    const word = this.#tokens[this.#at++];
    if (word === undefined) throw new TemplateError('the template contains an incomplete expression');
    if (word === '(') {
      const term = this.#ternary();
      this.#expect(')');
      return 'text' in term ? { ...term, text: `(${term.text})` } : term;
    }
    if (word === '{') return { map: this.#entries() };
    if (word === '[') return { list: this.#items() };
    if (/^['"]/.test(word)) return { text: quote(word.slice(1, -1).replace(/\\(.)/g, '$1')) };
    if (/^\d/.test(word)) return { text: word };
    if (/^(?:true|false)$/i.test(word)) return { text: word.toLowerCase(), isTest: true };
    if (/^none$/i.test(word)) return { text: quote(noneText) };
    const variable = this.#scope.variables.get(word);
    if (variable !== undefined) return variable;
    if (word === 'value' || word === 'value_json' || this.#scope.names.includes(word)) return { from: word, path: [] };
    throw new TemplateError(
      /^\w+$/.test(word)
        ? `the template uses the unsupported name ${word}`
        : `the template contains the unexpected token "${word}"`,
    );
  }

  #entries(): Entries {
    const entries: (readonly [string, string])[] = [];
    while (!this.#take('}')) {
      const key = this.#textOf(this.#primary());
      this.#expect(':');
      entries.push([key, this.#textOf(this.#ternary())]);
      if (!this.#is('}')) this.#expect(',');
    }
    return entries;
  }

  #items(): readonly string[] {
    const items: string[] = [];
    while (!this.#take(']')) {
      items.push(this.#textOf(this.#ternary()));
      if (!this.#is(']')) this.#expect(',');
    }
    return items;
  }
}

/** Returns an expression that selects the value for a key in a map. For all other keys, its result is `other`. */
function chosen(map: Entries, key: string, other: string): string {
  const isText = [...map.map(([, value]) => value), other].some((value) => plainText(value) !== undefined);
  const shown = (value: string) => (isText ? `string(${value})` : value); // both sides of `?` need the same type
  return `(${map.map(([one, value]) => `string(${key}) == string(${one}) ? ${shown(value)} : `).join('')}${shown(other)})`;
}

/** Returns the content of an expression that is a single string literal, or undefined for any other expression. */
function plainText(expression: string): string | undefined {
  return /^"(?:[^"\\]|\\.)*"$/.test(expression) ? (JSON.parse(expression) as string) : undefined;
}

function quote(text: string): string {
  return JSON.stringify(text);
}
