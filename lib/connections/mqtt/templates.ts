// Templates of discovery documents, a subset of Jinja: compiled to expressions of the hub. Nothing of Jinja is ever run. What is outside of the
// subset is refused with the reason: loops, macros, most filters, and whatever can reach beyond the message.

import { partAt } from '../../device/message.ts';
import { compileExpression, missingName } from '../../expression/expression.ts';
import { messageOf } from '../../model/error.ts';
import { KeptResults } from '../../model/kept-results.ts';
import type { Value } from '../../model/value.ts';

/** The longest template in characters, the most words of an expression, and the deepest nesting. */
const maxLength = 4000;
const maxTokens = 400;
const maxDepth = 20;
/** How many compiled templates are cached: many devices have the same. */
const keptTemplates = 5000;

/** A template that is outside of the subset; the message says why. */
export class TemplateError extends Error {}

/** What a template can read. */
export interface Source {
  readonly text: string;
  readonly json: unknown;
}

export interface Template {
  /** The expression that it became, for people. */
  readonly expression: string;
  /** Computes the result; undefined: the message lacks what it needs. Errors: those of expressions. */
  evaluate(source: Source): Value | undefined;
}

const compiled = new KeptResults<Template | TemplateError>(keptTemplates);

/** Errors: `TemplateError`. */
export function compileTemplate(text: string): Template {
  let known = compiled.get(text);
  if (known === undefined) {
    try {
      known = compile(text);
    } catch (error) {
      known =
        error instanceof TemplateError ? error : new TemplateError(`it is not an expression: ${messageOf(error)}`);
    }
    compiled.keep(text, known);
  }
  if (known instanceof TemplateError) throw known;
  return known;
}

/** A name of the expression, and what it stands for. */
interface Read {
  readonly name: string;
  readonly asks: 'value' | 'defined' | 'true';
  /** undefined: the whole payload. */
  readonly path: readonly string[] | undefined;
}

function compile(text: string): Template {
  if (text.length > maxLength) throw new TemplateError(`it is longer than ${maxLength} characters`);
  const reads = new Map<string, Read>();
  const expression = new Statements(text, reads).compile();
  const { evaluate } = compileExpression(
    expression,
    Object.fromEntries([...reads.values()].map(({ name, asks }) => [name, asks === 'value' ? undefined : 'B'])),
  );
  const all = [...reads.values()];
  return {
    expression,
    evaluate(source) {
      const scope: Record<string, Value> = {};
      for (const { name, asks, path } of all) {
        const part = path === undefined ? plainOf(source.text) : partAt(source.json, path);
        if (asks === 'defined') scope[name] = part !== undefined && part !== null;
        else if (asks === 'true') scope[name] = isTrue(part);
        else if (part !== undefined && part !== null)
          scope[name] = typeof part === 'object' ? JSON.stringify(part) : (part as Value);
      }
      try {
        return evaluate(scope);
      } catch (error) {
        if (missingName(error) !== undefined) return undefined;
        throw error;
      }
    },
  };
}

/** A payload that is a number counts as one where a template compares or computes. */
function plainOf(text: string): Value {
  return /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
}

function isTrue(part: unknown): boolean {
  if (typeof part === 'string') return part !== '';
  if (typeof part === 'object' && part !== null) return Object.keys(part).length > 0;
  return Boolean(part);
}

/** Reads the text around expressions: `{{ … }}`, `{% if … %}`, `{% elif … %}`, `{% else %}`, `{% endif %}`, `{% set name = { … } %}`. */
class Statements {
  readonly #parts: readonly string[];
  readonly #reads: Map<string, Read>;
  readonly #maps = new Map<string, readonly (readonly [string, string])[]>();
  #at = 0;

  constructor(text: string, reads: Map<string, Read>) {
    this.#parts = text
      .split(/(\{\{[\s\S]*?\}\}|\{%[\s\S]*?%\}|\{#[\s\S]*?#\})/)
      .filter((part) => part !== '' && !part.startsWith('{#'));
    this.#reads = reads;
  }

  compile(): string {
    const expression = this.#block(0);
    if (this.#at < this.#parts.length) throw new TemplateError(`${this.#parts[this.#at]} has no beginning`);
    return expression;
  }

  /** Reads up to the end, or to an `elif`, `else` or `endif`. */
  #block(depth: number): string {
    if (depth > maxDepth) throw new TemplateError(`it is nested deeper than ${maxDepth} levels`);
    const found: { readonly text: string; readonly isLiteral: boolean }[] = [];
    for (; this.#at < this.#parts.length; this.#at++) {
      const part = this.#parts[this.#at]!;
      if (part.startsWith('{{')) found.push({ text: this.#expression(part.slice(2, -2)), isLiteral: false });
      else if (part.startsWith('{%')) {
        const [, word, rest = ''] = /^-?\s*(\w+)\s*([\s\S]*?)\s*-?$/.exec(part.slice(2, -2)) ?? [];
        if (word === 'if') found.push({ text: this.#if(rest, depth), isLiteral: false });
        else if (word === 'set') this.#set(rest);
        else if (['elif', 'else', 'endif'].includes(word ?? '')) break;
        else throw new TemplateError(`it has {% ${word ?? ''} %}`);
      } else if (part.trim() !== '' || (found.length > 0 && !/\n/.test(part)))
        found.push({ text: quote(part), isLiteral: true });
    }
    while (found.at(-1)?.isLiteral === true && /^"\s*"$/.test(found.at(-1)!.text)) found.pop();
    if (found.length === 0) return '""';
    if (found.length === 1) return found[0]!.text;
    return found.map(({ text, isLiteral }) => (isLiteral ? text : `string(${text})`)).join(' + ');
  }

  #if(condition: string, depth: number): string {
    const test = new Expressions(condition, this.#reads, this.#maps).condition();
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
      throw new TemplateError('an {% if %} has no {% endif %}');
    return `(${test} ? ${then} : ${other})`;
  }

  #set(text: string): void {
    const [, name, rest] = /^(\w+)\s*=\s*([\s\S]*)$/.exec(text) ?? [];
    if (name === undefined) throw new TemplateError('it sets something that is not a map');
    this.#maps.set(name, new Expressions(rest!, this.#reads, this.#maps).map());
  }

  #expression(text: string): string {
    return new Expressions(text.replace(/^-|-$/g, ''), this.#reads, this.#maps).whole();
  }
}

const token =
  /\s+|(?<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|(?<number>\d+(?:\.\d+)?)|(?<name>[A-Za-z_]\w*)|(?<sign>==|!=|<=|>=|\/\/|\*\*|[-+*/%<>()[\]{}.,:|~])/gy;

/** What a template may name: the path of a value, or an expression. */
type Term =
  | { readonly path: readonly string[] | undefined }
  | { readonly map: readonly (readonly [string, string])[] }
  | { readonly text: string; readonly isTest?: boolean };

class Expressions {
  readonly #tokens: string[] = [];
  readonly #reads: Map<string, Read>;
  readonly #maps: ReadonlyMap<string, readonly (readonly [string, string])[]>;
  #at = 0;
  #depth = 0;

  constructor(
    text: string,
    reads: Map<string, Read>,
    maps: ReadonlyMap<string, readonly (readonly [string, string])[]>,
  ) {
    this.#reads = reads;
    this.#maps = maps;
    let end = 0;
    for (const { 0: word, index } of text.matchAll(token)) {
      end = index + word.length;
      if (word.trim() !== '') this.#tokens.push(word);
    }
    if (end < text.length) throw new TemplateError(`it has the character ${JSON.stringify(text[end])}`);
    if (this.#tokens.length > maxTokens)
      throw new TemplateError(`it has an expression of more than ${maxTokens} words`);
  }

  whole(): string {
    return this.#ended(this.#textOf(this.#ternary()));
  }

  condition(): string {
    return this.#ended(this.#testOf(this.#ternary()));
  }

  map(): readonly (readonly [string, string])[] {
    const term = this.#primary();
    if (!('map' in term)) throw new TemplateError('it sets something that is not a map');
    this.#ended('');
    return term.map;
  }

  #ended(text: string): string {
    if (this.#at < this.#tokens.length) throw new TemplateError(`"${this.#tokens[this.#at]}" is not understood`);
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
    if (!this.#take(word)) throw new TemplateError(`"${word}" is missing`);
  }

  #name(term: Read['path'], asks: Read['asks']): string {
    const key = JSON.stringify([term ?? null, asks]);
    const known = this.#reads.get(key);
    if (known !== undefined) return known.name;
    const name = `v${this.#reads.size}`;
    this.#reads.set(key, { name, asks, path: term });
    return name;
  }

  #textOf(term: Term): string {
    if ('text' in term) return term.text;
    if ('map' in term) throw new TemplateError('it has a map as its result');
    return this.#name(term.path, 'value');
  }

  #testOf(term: Term): string {
    if ('path' in term) return this.#name(term.path, 'true');
    if ('text' in term && term.isTest === true) return term.text;
    throw new TemplateError('it has a condition that is not a comparison');
  }

  #ternary(): Term {
    if (++this.#depth > maxDepth) throw new TemplateError(`it is nested deeper than ${maxDepth} levels`);
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
      if (!this.#take('defined') || !('path' in left)) throw new TemplateError('it has a test other than "is defined"');
      return { text: `${isNot ? '!' : ''}${this.#name(left.path, 'defined')}`, isTest: true };
    }
    const isNot = this.#is('not') && this.#tokens[this.#at + 1] === 'in';
    if (isNot) this.#at++;
    if (!this.#take('in')) return left;
    this.#expect('[');
    const items: string[] = [];
    while (!this.#take(']')) {
      items.push(this.#textOf(this.#sum()));
      if (!this.#is(']')) this.#expect(',');
    }
    const value = this.#textOf(left);
    return {
      text: `${isNot ? '!' : ''}(${items.map((item) => `${value} == ${item}`).join(' || ') || 'false'})`,
      isTest: true,
    };
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
        term = name === 'get' && this.#is('(') ? this.#got(term) : this.#item(term, name);
      } else if (this.#take('[')) {
        const key = this.#ternary();
        this.#expect(']');
        if ('map' in term) term = { text: chosen(term.map, this.#textOf(key), undefined) };
        else {
          const [, plain] = /^"(.*)"$/.exec('text' in key ? key.text : '') ?? [
            '',
            'text' in key && /^\d+$/.test(key.text) ? key.text : undefined,
          ];
          term = this.#item(term, plain);
        }
      } else if (this.#take('|')) term = this.#filter(term);
      else return term;
    }
  }

  #item(term: Term, name: string | undefined): Term {
    if (!('path' in term) || term.path === undefined || name === undefined || !/^[\w -]+$/.test(name))
      throw new TemplateError('it reads a part of something other than value_json');
    if (name.startsWith('__')) throw new TemplateError(`it reads ${name}`);
    return { path: [...term.path, name] };
  }

  /** `.get(key)` and `.get(key, other)`. */
  #got(term: Term): Term {
    this.#expect('(');
    const key = this.#textOf(this.#ternary());
    const other = this.#take(',') ? this.#textOf(this.#ternary()) : undefined;
    this.#expect(')');
    if ('map' in term) return { text: chosen(term.map, key, other ?? '""') };
    const found = this.#item(term, /^"(.*)"$/.exec(key)?.[1]) as { readonly path: readonly string[] };
    return other === undefined
      ? found
      : { text: `(${this.#name(found.path, 'defined')} ? ${this.#name(found.path, 'value')} : ${other})` };
  }

  #filter(term: Term): Term {
    const name = this.#tokens[this.#at++] ?? '';
    const values: string[] = [];
    if (this.#take('('))
      while (!this.#take(')')) {
        if (this.#tokens[this.#at + 1] === '=')
          throw new TemplateError(`it has a named argument of the filter ${name}`);
        values.push(this.#textOf(this.#ternary()));
        if (!this.#is(')')) this.#expect(',');
      }
    const [first] = values;
    if ((name === 'default' || name === 'd') && 'path' in term && first !== undefined)
      return { text: `(${this.#name(term.path, 'defined')} ? ${this.#name(term.path, 'value')} : ${first})` };
    if (name === 'is_defined' && 'path' in term) return term;
    const text = this.#textOf(term);
    const number = `double(${text})`;
    switch (name) {
      case 'float':
        return { text: number };
      case 'int':
        return { text: `(${number} < 0.0 ? ceil(${number}) : floor(${number}))` };
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
      case 'replace':
        if (values.length !== 2) break;
        return { text: `string(${text}).replace(${values.join(', ')})` };
    }
    throw new TemplateError(`it has the filter ${name}`);
  }

  #primary(): Term {
    const word = this.#tokens[this.#at++];
    if (word === undefined) throw new TemplateError('it has an expression that ends early');
    if (word === '(') {
      const term = this.#ternary();
      this.#expect(')');
      return 'text' in term ? { ...term, text: `(${term.text})` } : term;
    }
    if (word === '{') return { map: this.#entries() };
    if (/^['"]/.test(word)) return { text: quote(word.slice(1, -1).replace(/\\(.)/g, '$1')) };
    if (/^\d/.test(word)) return { text: word };
    if (/^(?:true|false)$/i.test(word)) return { text: word.toLowerCase(), isTest: true };
    if (word === 'value') return { path: undefined };
    if (word === 'value_json') return { path: [] };
    const map = this.#maps.get(word);
    if (map !== undefined) return { map };
    throw new TemplateError(/^\w+$/.test(word) ? `it uses ${word}` : `"${word}" is not understood`);
  }

  #entries(): readonly (readonly [string, string])[] {
    const entries: (readonly [string, string])[] = [];
    while (!this.#take('}')) {
      const key = this.#textOf(this.#primary());
      this.#expect(':');
      entries.push([key, this.#textOf(this.#ternary())]);
      if (!this.#is('}')) this.#expect(',');
    }
    return entries;
  }
}

/** Chooses the value of a key; without a value for others, the last one stands for them. */
function chosen(map: readonly (readonly [string, string])[], key: string, other: string | undefined): string {
  return `(${map.map(([one, value]) => `string(${key}) == string(${one}) ? ${value} : `).join('')}${other ?? '""'})`;
}

function quote(text: string): string {
  return JSON.stringify(text);
}
