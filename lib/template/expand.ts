// Expands templates: replaces variables in strings and keys, and repeats items that have an `each`. The expansion depends on the structure
// of the data only where `each` is permitted: the lists of rules, tests and widgets, and the object of connections.
import { type CheckedFile, type MistakeList, type SettingPath, unreadable, type Written } from '../json5/mistake.ts';
import { groupDigits } from '../model/digits.ts';
import { messageOf } from '../model/error.ts';
import { isJsonObject } from '../model/json-object.ts';
import { mayHoldSecret } from '../model/secret.ts';
import { readEach } from './each.ts';
import { Scope, unknownVariable } from './scope.ts';
import { type Origin, Origins, type Part, partsOf, textOf, writtenOffset } from './text.ts';

/** The keys of the lists in a flow file or dashboard whose items may be repeated by `each`. */
const repeatable: ReadonlySet<string> = new Set(['rules', 'tests', 'widgets']);
const mayExpand = /\$\{|\beach\b/;
/** Matches the usual names of environment variables. */
const environmentName = /^[A-Z_][A-Z\d_]*$/;
const variableName = /^[A-Za-z_]\w*(?:\.[\w-]+)*$/;

/** The error for `${` in a secret. Because `${` may be part of the secret, the message does not show the following characters. */
const inSecret = 'expected a known variable in ${ }: write { env: … } for the environment, or $${ for a literal ${';

/** A variable without a value, with a function that reports an error where the file uses the variable. */
export interface Unknown {
  readonly name: string;
  report(message: string): void;
}

/** Options for expanding a file, or an instance of a template. */
interface ExpandOptions {
  readonly scope?: Scope;
  readonly budget?: Budget;
  /** The name of the instance, which becomes a prefix of rule and test names that do not contain it. */
  readonly instance?: string;
  /** Receives unknown variables. If omitted, unknown variables are reported as errors. */
  readonly onUnknown?: (unknown: Unknown) => void;
}

/** A file whose data has been expanded. The positions in its errors refer to the file as written. */
type Expanded = CheckedFile & { readonly data: unknown };

/** Expands the data in a file; `text` is the complete text of the file. */
export function expand(
  file: CheckedFile & { readonly data: unknown },
  text: string,
  mistakes: MistakeList,
  options: ExpandOptions = {},
): Expanded {
  return mayExpand.test(text) ? new Expansion(file, mistakes, options).run() : file;
}

class Expansion {
  readonly #file: CheckedFile & { readonly data: unknown };
  readonly #mistakes: MistakeList;
  readonly #options: ExpandOptions;
  readonly #scope: Scope;
  readonly #budget: Budget;
  readonly #origins = new Origins();

  constructor(file: CheckedFile & { readonly data: unknown }, mistakes: MistakeList, options: ExpandOptions) {
    this.#file = file;
    this.#mistakes = mistakes;
    this.#options = options;
    this.#scope = options.scope ?? Scope.none;
    this.#budget = options.budget ?? new Budget();
  }

  run(): Expanded {
    const { name, data: written, positionOf } = this.#file;
    const data = this.#value(written, [], this.#scope);
    const originOf = (path: SettingPath) => this.#origins.find(data, written, path, this.#scope);
    return {
      name,
      data,
      positionOf: (path, offset) => {
        const { path: at, value, scope } = originOf(path);
        if (offset === undefined || typeof value !== 'string') return positionOf(at, offset);
        return positionOf(at, writtenOffset(value, offset, scope));
      },
      writtenAt: (path): Written => {
        const { path: at, scope } = originOf(path);
        return { file: name, path: at, made: scope.title };
      },
    };
  }

  #value(value: unknown, path: SettingPath, scope: Scope, key = ''): unknown {
    if (typeof value === 'string') return this.#text(value, path, scope);
    if (Array.isArray(value))
      return repeatable.has(key) ? this.#list(value, path, scope, key) : this.#items(value, path, scope);
    if (!isJsonObject(value)) return value;
    return this.#object(value, path, scope, key === 'connections' && path.length === 1);
  }

  #text(text: string, path: SettingPath, scope: Scope): unknown {
    const parts = partsOf(text);
    if (parts === undefined) return text;
    const [first] = parts;
    if (parts.length === 1 && first!.variable !== undefined)
      return this.#variable(
        first!,
        path,
        scope,
        (scope === Scope.none ? environmentName : variableName).test(first!.variable),
      );
    const texts = parts.map((part) => this.#partText(part, path, scope));
    if (texts.includes(undefined)) return unreadable;
    const whole = texts.join('');
    this.#take(0, whole.length, path, scope);
    return whole;
  }

  /** Returns the string for a part of a string. If this fails, adds the error and returns undefined. */
  #partText(part: Part, path: SettingPath, scope: Scope): string | undefined {
    if (part.literal !== undefined) return part.literal;
    const value = this.#variable(part, path, scope);
    if (value === unreadable) return undefined;
    try {
      return textOf(part.variable!, value);
    } catch (error) {
      this.#report(path, messageOf(error), scope, part.offset);
      return undefined;
    }
  }

  /** Returns the value of the variable in a part of a string. If this fails, adds the error and returns `unreadable`. */
  #variable({ variable = '', offset }: Part, path: SettingPath, scope: Scope, isAlone = false): unknown {
    const found = scope.find(variable);
    if (found !== undefined && 'value' in found) return found.value;
    const [name = ''] = variable.split('.');
    const report = (message: string) => this.#report(path, message, scope, offset);
    if (mayHoldSecret(path) && !isAlone) report(inSecret);
    else if (scope === Scope.none)
      report(
        `expected no \${${variable}} outside a template: write { env: '${variable}' } for the environment, or $\${${variable}} for the literal text`,
      );
    else if (!variableName.test(variable))
      report(`expected the name of a variable in \${ }, such as \${${scope.names[0] ?? 'n'}}, got \${${variable}}`);
    else if (found !== undefined) report(found.mistake);
    else if (this.#options.onUnknown !== undefined) this.#options.onUnknown({ name, report });
    else report(unknownVariable(name, scope.names));
    return unreadable;
  }

  #items(items: readonly unknown[], path: SettingPath, scope: Scope): readonly unknown[] {
    const expanded = items.map((item, index) => this.#value(item, [...path, index], scope));
    return expanded.every((item, index) => item === items[index]) ? items : expanded;
  }

  #list(items: readonly unknown[], path: SettingPath, scope: Scope, key: string): readonly unknown[] {
    const made: unknown[] = [];
    const origins = new Map<number, Origin>();
    const add = (item: unknown, origin: Origin) => {
      origins.set(made.length, origin);
      made.push(item);
    };
    items.forEach((item, index) => {
      const at = [...path, index];
      if (!isJsonObject(item) || !('each' in item)) {
        add(this.#item(item, at, scope, key), { path: at, scope });
        return;
      }
      const { each, ...rest } = item;
      const list = Object.keys(rest).length === 1 ? rest[key] : undefined;
      this.#repeat(each, at, scope, (inner) => {
        if (!Array.isArray(list)) add(this.#item(rest, at, inner, key), { path: at, scope: inner });
        else {
          const within = this.#list(list, [...at, key], inner, key);
          const itsOrigins = this.#origins.ofList(within, [...at, key], inner);
          for (const [place, one] of within.entries()) add(one, itsOrigins[place]!);
        }
      });
    });
    if (made.length === items.length && made.every((item, index) => item === items[index])) return items;
    this.#origins.set(made, origins);
    return made;
  }

  #item(item: unknown, path: SettingPath, scope: Scope, key: string): unknown {
    this.#take(1, 0, path, scope);
    const made = this.#value(item, path, scope);
    const { instance } = this.#options;
    if (instance === undefined || key === 'widgets' || !isJsonObject(made)) return made;
    const { name } = made;
    return typeof name !== 'string' || name.includes(instance) ? made : { ...made, name: `${instance}: ${name}` };
  }

  #object(object: Readonly<Record<string, unknown>>, path: SettingPath, scope: Scope, areConnections: boolean): object {
    const made = new Map<string, unknown>();
    const origins = new Map<string, Origin>();
    let isSame = true;
    const add = (key: string, value: unknown, origin: Origin) => {
      const text = this.#text(key, origin.path, origin.scope);
      if (text === unreadable) return;
      const name = String(text);
      if (made.has(name))
        this.#report(origin.path, `expected each key once, but "${name}" already exists`, origin.scope);
      if (name !== key) isSame = false;
      made.set(name, value);
      origins.set(name, origin);
    };
    for (const [key, item] of Object.entries(object)) {
      const at = [...path, key];
      if (!areConnections || !isJsonObject(item) || !('each' in item)) {
        if (areConnections) this.#take(1, 0, at, scope);
        const value = this.#value(item, at, scope, key);
        if (value !== item) isSame = false;
        add(key, value, { path: at, scope });
        continue;
      }
      isSame = false;
      const { each, ...rest } = item;
      if (partsOf(key) === undefined) {
        this.#report(
          at,
          `expected a variable in the Connection ID, such as '${key}-\${n}', because each creates several connections`,
          scope,
        );
        continue;
      }
      this.#repeat(each, at, scope, (inner) => {
        this.#take(1, 0, at, inner);
        add(key, this.#value(rest, at, inner), { path: at, scope: inner });
      });
    }
    if (isSame) return object;
    const result = Object.fromEntries(made);
    if (areConnections) this.#origins.set(result, origins);
    return result;
  }

  /** Calls back for each combination of values in the `each` of the item at a path. */
  #repeat(each: unknown, path: SettingPath, scope: Scope, make: (inner: Scope) => void): void {
    const at = [...path, 'each'];
    const repetition = readEach(this.#value(each, at, scope), scope, (within, message) =>
      this.#report([...at, ...within], message, scope),
    );
    if (repetition === undefined) return;
    if (repetition.count > this.#budget.itemsLeft) this.#take(repetition.count, 0, at);
    for (const inner of repetition.scopes) {
      if (this.#budget.isSpent) return;
      make(inner);
    }
    for (const name of repetition.names)
      if (!repetition.used.has(name))
        this.#report([...at, name], `unused variable "${name}": nothing in this item uses \${${name}}`, scope);
  }

  /** Counts the items and characters that templates have created. If a limit is exceeded, adds a single error. */
  #take(items: number, characters: number, path: SettingPath, scope?: Scope): void {
    if (scope === Scope.none) return;
    const mistake = this.#budget.take(items, characters);
    if (mistake !== undefined) this.#report(path, mistake, Scope.none);
  }

  /** Adds an error at a path in the file as written. */
  #report(path: SettingPath, message: string, scope: Scope, offset?: number): void {
    const { name, positionOf } = this.#file;
    const writtenAt = (at: SettingPath): Written => ({ file: name, path: at, made: scope.title });
    this.#mistakes.add({ name, positionOf, writtenAt }, path, message, positionOf(path, offset));
  }
}

// Limits for the templates in one file.

/** The maximum number of rules, tests, connections, widgets and instances that the templates in one file may create. */
const maxItems = 100_000;
/** The maximum number of characters that the templates in one file may create. */
const maxCharacters = 64 * 1024 * 1024;

export class Budget {
  #items = maxItems;
  #characters = maxCharacters;
  #isReported = false;

  /** Takes items and characters from the budget. Returns the error the first time that the budget is exceeded, and undefined otherwise. */
  take(items: number, characters = 0): string | undefined {
    this.#items -= items;
    this.#characters -= characters;
    if (!this.isSpent || this.#isReported) return undefined;
    this.#isReported = true;
    return this.#items < 0
      ? `expected at most ${groupDigits(maxItems)} items from \`each\` and \`instances\` combined in one file, got more`
      : `expected at most ${maxCharacters / 1024 / 1024} MB of text from \`each\` and \`instances\` combined in one file, got more`;
  }

  get itemsLeft(): number {
    return this.#items;
  }

  get isSpent(): boolean {
    return this.#items < 0 || this.#characters < 0;
  }
}
