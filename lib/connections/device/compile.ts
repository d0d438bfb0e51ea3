// Compiles a device description from JSON5 to the form that a session runs. All mistakes are reported together, each with its file, line,
// column and path. If a name is misspelt, the message suggests the nearest known name, as it does for flow files.

import { maxFrameBytes } from '../../device/frames.ts';
import { MatcherIndex, TextMatcher } from '../../device/message.ts';
import type { Pattern } from '../../device/pattern.ts';
import { type CheckedFile, type Mistake, MistakeList, type SettingPath } from '../../json5/mistake.ts';
import { unknownName } from '../../json5/nearest-name.ts';
import { Json5Error, readJson5 } from '../../json5/read-json5.ts';
import { parameterIdMistake } from '../../model/address.ts';
import { messageOf } from '../../model/error.ts';
import { isJsonObject } from '../../model/json-object.ts';
import { convert, toText, type Value } from '../../model/value.ts';
import { compileFraming } from './compile-framing.ts';
import { type DescribedAnswer, MessageCompiler, namesIn } from './compile-messages.ts';
import {
  type Ask,
  type Compiled,
  Family,
  type Group,
  type IdPart,
  maxParameters,
  type PlainRead,
  type Read,
  type Unasked,
} from './compiled.ts';
import { type DescribedRead, type Description, descriptionSchema } from './description.ts';

/** The variables and secrets that a connection's settings provide for a description. */
export interface Given {
  readonly variables: Readonly<Record<string, Value>>;
  readonly secrets: Readonly<Record<string, string>>;
}

/** The result of compiling a description: the compiled description or the mistakes. */
export interface Compilation {
  readonly compiled: Compiled | undefined;
  readonly mistakes: readonly Mistake[];
}

/** Compiles the text of a description. `file` is the name of the description in messages about mistakes. */
export function compileDescription(file: string, text: string, given: Given): Compilation {
  const mistakes = new MistakeList();
  const compiled = read(file, text, given, mistakes);
  return { compiled: mistakes.items.length > 0 ? undefined : compiled, mistakes: mistakes.items };
}

function read(name: string, text: string, given: Given, mistakes: MistakeList): Compiled | undefined {
  try {
    const { data, duplicates, positionOf } = readJson5(text);
    const written = new Map<string, string>();
    const file: CheckedFile = {
      name,
      positionOf: (path, offset) =>
        positionOf(
          path.map((part) => written.get(String(part)) ?? part),
          offset,
        ),
    };
    for (const { path, message, position } of duplicates) mistakes.add(file, path, message, position);
    const variables = variablesOf(data, given);
    const expanded = expand(data, variables, written, (path, message) => mistakes.add(file, path, message));
    const found = mistakes.parse(descriptionSchema, expanded, file, []);
    return found === undefined ? undefined : new Compiler(file, found, variables, given, mistakes).compile();
  } catch (error) {
    if (!(error instanceof Json5Error)) throw error;
    mistakes.addFile(name, error.message, error.position);
    return undefined;
  }
}

/** Returns the values of a description's variables: the values that the connection sets, and the defaults of all other variables. */
function variablesOf(data: unknown, given: Given): Record<string, Value> {
  const own = isJsonObject(data) && isJsonObject(data.variables) ? data.variables : {};
  const values = Object.entries({ ...own, ...given.variables }).filter(([name]) => Object.hasOwn(own, name));
  return Object.fromEntries(values) as Record<string, Value>;
}

/**
 * Replaces `${name}`, `${name - 1}` and `${name + 1}` with the variables' values. Adds each key that changes to `written`, with its
 * original form.
 */
function expand(
  data: unknown,
  variables: Readonly<Record<string, Value>>,
  written: Map<string, string>,
  report: (path: SettingPath, message: string) => void,
  path: SettingPath = [],
): unknown {
  if (typeof data === 'string') {
    const only = /^\$\{\s*(\w+)\s*\}$/.exec(data);
    if (only !== null && Object.hasOwn(variables, only[1]!)) return variables[only[1]!];
    const replace = (written: string, name: string, sign: string | undefined, step: string | undefined) => {
      if (!Object.hasOwn(variables, name)) {
        report(path, unknownName('variable', name, Object.keys(variables)));
        return written;
      }
      const value = variables[name]!;
      return sign === undefined ? toText(value) : String(Number(value) + (sign === '-' ? -1 : 1) * Number(step));
    };
    return data.replace(/\$\{\s*(\w+)\s*(?:([-+])\s*(\d+)\s*)?\}/g, replace);
  }
  if (Array.isArray(data)) return data.map((item, index) => expand(item, variables, written, report, [...path, index]));
  if (!isJsonObject(data)) return data;
  return Object.fromEntries(
    Object.entries(data).map(([key, item]) => {
      const expanded = String(expand(key, variables, written, report, [...path, key]));
      if (expanded !== key) written.set(expanded, key);
      return [expanded, expand(item, variables, written, report, [...path, key])];
    }),
  );
}

class Compiler {
  readonly #found: Description;
  readonly #variables: Readonly<Record<string, Value>>;
  readonly #mistakes: MistakeList;
  readonly #messages: MessageCompiler;

  constructor(
    file: CheckedFile,
    found: Description,
    variables: Readonly<Record<string, Value>>,
    given: Given,
    mistakes: MistakeList,
  ) {
    this.#found = found;
    this.#variables = variables;
    this.#mistakes = mistakes;
    this.#messages = new MessageCompiler(file, found, variables, given.secrets, mistakes);
  }

  compile(): Compiled {
    const found = this.#found;
    const { isHttp, isOfBytes } = this.#messages;
    const { timeout: timeoutMs = 2000 } = found;
    const families = this.#families();
    const groups = this.#groups(families);
    const heads = [...groups.values()].filter(({ head }) => head !== undefined);
    const unasked = [...this.#reads(families), ...this.#groupEvents(groups), ...this.#events(families, groups)];
    for (const family of families) this.#completeFamily(family, groups);
    const keepAlive = found.keepAlive;
    this.#checkIdleTimeout(families, groups);
    this.#checkHttp();
    return {
      about: found.about,
      transports: found.transports ?? ['tcp'],
      port: found.port,
      subprotocol: found.subprotocol ?? [],
      serial: found.serial ?? {},
      isHttp,
      format: found.format ?? (isHttp ? 'json' : 'text'),
      encoding: isOfBytes || found.encoding === 'latin1' ? 'latin1' : 'utf8',
      framing: compileFraming(found.frame, isOfBytes, (path, message) => this.#add(path, message)),
      isTelnet: found.frame?.telnet === true,
      maxFrameBytes: found.frame?.max ?? maxFrameBytes,
      codec: found.codec,
      isPerRequest: found.connect === 'per-request',
      connectTimeoutMs: found.connectTimeout ?? 5000,
      idleTimeoutMs: found.idleTimeout,
      timeoutMs,
      window: found.connect === 'per-request' ? 1 : (found.window ?? (isHttp ? 2 : 8)),
      spacingMs: found.spacing ?? 0,
      greet: (found.greet ?? []).flatMap((step, index, all) => {
        const path = ['greet', index];
        const isAlternative = (one: typeof step | undefined) =>
          one?.or !== undefined && one.reply === undefined && one.send === undefined && one.path === undefined;
        if (index > 0 && isAlternative(step)) return []; // an alternative to the previous step
        const next = isAlternative(all[index + 1]) ? all[index + 1] : undefined;
        return {
          send: step.send === undefined && step.path === undefined && !isHttp ? [] : this.#messages.sent(path, step),
          reply: this.#messages.optional([...path, 'reply'], step.reply),
          or: [
            ...this.#messages.matchers([...path, 'or'], step.or ?? []),
            ...this.#messages.matchers(['greet', index + 1, 'or'], next?.or ?? []),
          ],
          saves: step.save === true,
          first: this.#messages.optional([...path, 'first'], step.first),
        };
      }),
      ready: this.#messages.matchers(['ready'], found.ready ?? []),
      keepAlive:
        keepAlive === undefined
          ? undefined
          : {
              name: 'keepAlive',
              send: this.#messages.sent(['keepAlive'], {
                ...keepAlive,
                send: keepAlive.send === undefined ? undefined : [keepAlive.send],
              }),
              replies: this.#messages.matchers(
                ['keepAlive', 'reply'],
                keepAlive.reply === undefined ? [] : [keepAlive.reply],
              ),
              until: undefined,
              everyMs: keepAlive.every,
              reads: [],
              fail: [],
              retryIf: [],
              timeoutMs,
              retry: 0,
              retryBusy: 0,
            },
      events: found.events === undefined ? undefined : this.#messages.stream(found.events),
      families,
      groups,
      heads,
      unasked: new MatcherIndex(unasked),
      faults: (found.faults ?? []).map(({ pattern, close, reason }, index) => ({
        matcher: this.#messages.optional(['faults', index, 'pattern'], pattern),
        close,
        reason,
      })),
      constants: new Map([
        ...this.#messages.savedNames().map((name): [string, Value] => [name, '']),
        ...Object.entries(this.#variables),
      ]),
      variables: this.#variables,
      secretNames: found.secrets ?? [],
    };
  }

  #add(path: SettingPath, message: string): void {
    this.#messages.add(path, message);
  }

  /** Reports an `idleTimeout` that is shorter than the interval between two questions. Even a healthy device would then time out. */
  #checkIdleTimeout(families: readonly Family[], groups: ReadonlyMap<string, Group>): void {
    const { idleTimeout, keepAlive, connect } = this.#found;
    if (idleTimeout === undefined || connect === 'per-request') return;
    const asks = [...families.map(({ ask }) => ask), ...[...groups.values()].map(({ ask }) => ask)];
    const periods = [keepAlive?.every, ...asks.map((ask) => ask?.everyMs)].filter((ms) => ms !== undefined);
    if (periods.length > 0 && Math.min(...periods) >= idleTimeout)
      this.#add(
        ['idleTimeout'],
        `expected more than ${Math.min(...periods)} ms, the shortest interval between two requests, got ${idleTimeout} ms`,
      );
  }

  /** Reports keys that are not allowed over HTTP, or are allowed only over HTTP. */
  #checkHttp(): void {
    const { transports = [], format, events, headers, ...found } = this.#found;
    if (!this.#messages.isHttp) {
      for (const [key, written] of Object.entries({ events, headers }))
        if (written !== undefined) this.#add([key], "allowed only with transports: ['http']");
      return;
    }
    if (transports.length > 1)
      this.#add(['transports'], `expected http as the only transport, got ${transports.join(', ')}`);
    if (format === 'hex') this.#add(['format'], 'expected text, json or xml over HTTP, got "hex"');
    for (const key of ['frame', 'codec', 'connect', 'subprotocol', 'serial', 'port', 'ready'] as const)
      if (found[key] !== undefined) this.#add([key], 'expected none over HTTP');
    for (const [index, { first }] of (found.greet ?? []).entries())
      if (first !== undefined) this.#add(['greet', index, 'first'], 'expected none over HTTP');
    for (const [name, { head, until }] of Object.entries(found.groups ?? {}))
      for (const [key, written] of Object.entries({ head, until }))
        if (written !== undefined) this.#add(['groups', name, key], 'expected none over HTTP');
    for (const [name, { ask, write }] of Object.entries(found.parameters)) {
      if (ask?.until !== undefined) this.#add(['parameters', name, 'ask', 'until'], 'expected none over HTTP');
      if (write?.batch !== undefined) this.#add(['parameters', name, 'write', 'batch'], 'expected none over HTTP');
    }
  }

  #families(): Family[] {
    let count = 0;
    const ids = new Set<string>();
    return Object.entries(this.#found.parameters).flatMap(([name, described]) => {
      const path = ['parameters', name];
      const parts = this.#idParts(path, name);
      if (parts === undefined) return [];
      count += parts.reduce((all, part) => all * (typeof part === 'string' ? 1 : (part.values?.length ?? 1)), 1);
      if (count > maxParameters) {
        this.#add(path, `expected at most ${maxParameters} parameters, got ${count}`);
        return [];
      }
      const family = new Family(name, parts, described);
      for (const { id } of family.instances) {
        const mistake =
          parameterIdMistake(id) ?? (ids.has(id) ? `expected each parameter once, got "${id}" twice` : undefined);
        ids.add(id);
        if (mistake === undefined) continue;
        this.#add(path, mistake);
        break;
      }
      if (!family.isRead && family.write === undefined && described.write === undefined)
        this.#add(path, 'expected at least one of `on`, `of`, `ask` and `write`');
      return [family];
    });
  }

  #idParts(path: SettingPath, name: string): IdPart[] | undefined {
    const parts: IdPart[] = [];
    for (const [piece] of name.matchAll(/\{[^}]*\}?|[^{]+/g)) {
      if (!piece.startsWith('{')) {
        parts.push(piece);
        continue;
      }
      const range = /^\{([A-Za-z_]\w*)(?::(?:(-?\d+)\.\.(-?\d+)|([^}]+)))?\}$/.exec(piece);
      if (range === null) {
        this.#add(path, `expected a variable such as {n:0..39}, {side:L|R} or {name}, got "${piece}"`);
        return undefined;
      }
      const [, variable, first, last, words] = range;
      if (parts.some((part) => typeof part !== 'string' && part.name === variable)) {
        this.#add(path, `expected each variable once, got {${variable}} twice`);
        return undefined;
      }
      const [low, high] = [Number(first), Number(last)];
      if (first !== undefined && !(high >= low && high - low < maxParameters)) {
        this.#add(path, `expected an ascending range of at most ${maxParameters} numbers, got ${first}..${last}`);
        return undefined;
      }
      const values =
        first !== undefined ? Array.from({ length: high - low + 1 }, (_, index) => low + index) : words?.split('|');
      parts.push({ name: variable!, values });
    }
    return parts;
  }

  #groups(families: readonly Family[]): Map<string, Group> {
    const reads = new Map<string, Read[]>();
    const described = this.#found.groups ?? {};
    for (const family of families)
      for (const [name, written] of Object.entries(family.described.of ?? {})) {
        const path = ['parameters', family.name, 'of', name];
        if (!Object.hasOwn(described, name)) this.#add(path, unknownName('group', name, Object.keys(described)));
        const of = reads.get(name) ?? [];
        reads.set(name, of);
        for (const [index, one] of written.entries())
          of.push(...this.#read(family, one, written.length > 1 ? [...path, index] : path, this.#namesOfGroup(name)));
      }
    return new Map(
      Object.entries(described).map(([name, group]): [string, Group] => {
        const path = ['groups', name];
        const isAsked = group.send !== undefined || group.path !== undefined;
        if (!isAsked && group.head === undefined && group.on === undefined)
          this.#add(path, this.#messages.isHttp ? 'expected `path` or `on`' : 'expected `send`, `on` or `head`');
        const ask: Ask | undefined = !isAsked
          ? undefined
          : {
              name,
              send: this.#messages.sent(path, group),
              ...this.#messages.answers(
                path,
                { ...group, reply: group.reply === undefined ? undefined : [group.reply] },
                this.#found.retry ?? 1,
              ),
              until: this.#messages.optional([...path, 'until'], group.until),
              everyMs: group.every ?? this.#found.poll,
              reads: [],
            };
        const own = reads.get(name) ?? [];
        return [
          name,
          {
            name,
            ask,
            head: group.head,
            each: group.each,
            saves: group.save === true,
            index: new MatcherIndex(own),
            families: [...new Set(own.map(({ family }) => family))],
          },
        ];
      }),
    );
  }

  /** Compiles the `on` keys of all parameters. */
  #reads(families: readonly Family[]): Unasked[] {
    return families.flatMap((family) => {
      const written = family.described.on ?? [];
      const path = ['parameters', family.name, 'on'];
      return written
        .flatMap((one, index) => this.#read(family, one, written.length > 1 ? [...path, index] : path))
        .map((read) => ({ matcher: read.matcher, read }));
    });
  }

  #groupEvents(groups: ReadonlyMap<string, Group>): Unasked[] {
    return [...groups.values()].flatMap((group) =>
      this.#messages
        .matchers(['groups', group.name, 'on'], this.#found.groups?.[group.name]?.on ?? [])
        .map((matcher) => ({
          matcher,
          group,
        })),
    );
  }

  #events(families: readonly Family[], groups: ReadonlyMap<string, Group>): Unasked[] {
    return (this.#found.on ?? []).flatMap(({ pattern, ask = [], withdraw }, index) => {
      const path = ['on', index];
      const matcher = this.#messages.matcher([...path, 'pattern'], pattern);
      this.#checkAsked([...path, 'ask'], ask, groups);
      const withdrawn = families.filter((family) => family.isDiscovered && isAbout(family, withdraw));
      if (withdraw !== undefined && withdrawn.length === 0) {
        const known = families.filter((family) => family.isDiscovered).map(({ name }) => name);
        this.#add([...path, 'withdraw'], unknownName('discovered parameter', withdraw, known));
      }
      if (matcher === undefined) return [];
      return [{ matcher, asks: ask, withdraws: withdrawn.map((family) => ({ family })) }];
    });
  }

  #checkAsked(
    path: SettingPath,
    wanted: readonly string[],
    groups: ReadonlyMap<string, Group>,
    further: readonly string[] = [],
  ): void {
    const known = [...[...groups].filter(([, { ask }]) => ask !== undefined).map(([name]) => name), ...further];
    for (const name of wanted) if (!known.includes(name)) this.#add(path, unknownName('group', name, known));
  }

  /** Compiles a read for a family. If there are mistakes, reports them and returns an empty list. */
  #read(family: Family, written: DescribedRead, path: SettingPath, ofGroup?: readonly string[]): Read[] {
    const isObject = isJsonObject(written) && 'pattern' in written;
    const {
      value,
      where = {},
      ...answer
    } = (isObject ? written : { pattern: written }) as DescribedAnswer & {
      value?: string;
      where?: Record<string, string>;
    };
    const before = this.#mistakes.count;
    const patternPath = isObject ? [...path, 'pattern'] : path;
    if (isObject) this.#messages.checkReadKeys(path, written);
    const matcher = this.#messages.answerMatcher(path, patternPath, answer);
    if (matcher === undefined) return [];
    const computed = value === undefined ? undefined : this.#messages.expression([...path, 'value'], value);
    const found = Object.entries(where).map(([name, text]) => {
      if (!family.variables.includes(name))
        this.#add([...path, 'where', name], unknownName('variable', name, family.variables));
      const computedHere = Object.keys(where).filter((one) => !matcher.names.has(one));
      return [name, this.#messages.expression([...path, 'where', name], text, computedHere) ?? (() => 0)] as const;
    });
    const known = [...matcher.names];
    for (const name of family.variables)
      if (!matcher.names.has(name) && !Object.hasOwn(where, name) && !ofGroup?.includes(name))
        this.#add(
          patternPath,
          `expected {${name}} of ${family.name} in the pattern, or where: { ${name}: … }, got {${known.join('}, {')}}`,
        );
    const isFinding =
      ofGroup !== undefined && family.isDiscovered && value === undefined && !matcher.names.has('value');
    if (isFinding && family.described.ask === undefined)
      this.#add(patternPath, 'expected {value} in the pattern, or `ask` as well');
    if (!isFinding && value === undefined && family.type !== 'T' && !matcher.names.has('value')) {
      const got = known.filter((name) => !family.variables.includes(name));
      this.#add(
        patternPath,
        got.length === 1
          ? unknownName('name', got[0]!, ['value'])
          : 'expected {value} in the pattern, or value: an expression',
      );
    }
    if (this.#mistakes.count > before) return [];
    const isPlain = matcher instanceof TextMatcher && computed === undefined && found.length === 0;
    const plain = isPlain ? plainRead(matcher.pattern, family) : undefined;
    return [{ matcher, family, value: computed, where: found, isFinding, plain }];
  }

  /** Returns the names that a group's patterns read. The reads for the group's items may use these names. */
  #namesOfGroup(name: string): readonly string[] {
    const group = this.#found.groups?.[name];
    return [...namesIn(group?.on), ...namesIn(group?.reply)];
  }

  #completeFamily(family: Family, groups: ReadonlyMap<string, Group>): void {
    const { ask, write, on, unknownIf, choices, min, max } = family.described;
    const path = ['parameters', family.name];
    if (unknownIf !== undefined) {
      family.isUnknown = this.#messages.expression([...path, 'unknownIf'], unknownIf);
      family.isUnknownByValue = /\bvalue\b/.test(unknownIf);
    }
    for (const [name, choice] of Object.entries(choices ?? {}))
      try {
        convert(family.type, choice);
      } catch (error) {
        this.#add([...path, 'choices', name], messageOf(error));
      }
    if (min !== undefined && max !== undefined && min > max)
      this.#add([...path, 'max'], `expected at least min (${min}), got ${max}`);
    if (ask !== undefined) {
      if (ask.reply === undefined && on === undefined)
        this.#add([...path, 'ask'], 'expected reply, because on is missing');
      const { reply: _, ...others } = ask;
      const written = ask.reply ?? on ?? [];
      const base = ask.reply === undefined ? [...path, 'on'] : [...path, 'ask', 'reply'];
      const reads = written.flatMap((one, index) =>
        this.#askedRead(family, one, written.length > 1 ? [...base, index] : base),
      );
      family.ask = {
        name: family.name,
        send: this.#messages.sent([...path, 'ask'], ask, family),
        ...this.#messages.answers([...path, 'ask'], { ...others, reply: undefined }, this.#found.retry ?? 1),
        replies: reads.map(({ matcher }) => matcher),
        until: this.#messages.optional([...path, 'ask', 'until'], ask.until),
        everyMs: ask.every ?? this.#found.poll,
        reads,
      };
    }
    if (write === undefined) return;
    const at = [...path, 'write'];
    this.#checkAsked([...at, 'then'], write.then ?? [], groups, ask === undefined ? [] : ['ask']);
    const { start = '', join = '', end = '', most = 100 } = write.batch ?? {};
    family.write = {
      send: this.#messages.sent(at, write, family),
      value: write.value === undefined ? undefined : this.#messages.expression([...at, 'value'], write.value),
      ...this.#messages.answers(at, write, 0),
      asksThen: write.then ?? [],
      batch: write.batch === undefined ? undefined : { start, join, end, most },
      replays: write.replay === true,
    };
    for (const key of ['fail', 'retryIf'] as const)
      if (write[key] !== undefined && write.reply === undefined && !this.#messages.isHttp)
        this.#add([...at, key], 'expected `reply` as well: without it the hub does not wait for an answer');
    if (write.batch !== undefined && (write.send ?? []).length > 1)
      this.#add([...at, 'batch'], 'expected a single string in send, got several');
  }

  /**
   * Like `#read`, but for an answer to a question. The answer's reads may use the variables in the ID, because the question contains them.
   */
  #askedRead(family: Family, written: DescribedRead, path: SettingPath): Read[] {
    const isObject = isJsonObject(written) && 'pattern' in written;
    const { value, ...answer } = (isObject ? written : { pattern: written }) as DescribedAnswer & { value?: string };
    const patternPath = isObject ? [...path, 'pattern'] : path;
    if (isObject) this.#messages.checkReadKeys(path, written);
    const matcher = this.#messages.answerMatcher(path, patternPath, answer);
    if (matcher === undefined) return [];
    if (value === undefined && family.type !== 'T' && !matcher.names.has('value'))
      this.#add(patternPath, 'expected {value} in the pattern, or value: an expression');
    const computed = value === undefined ? undefined : this.#messages.expression([...path, 'value'], value);
    return [{ matcher, family, value: computed, where: [], isFinding: false, plain: undefined }];
  }
}

/**
 * Returns the plain read for a pattern without expressions. Returns undefined if the family's parameters are discovered or may be unknown.
 */
function plainRead(pattern: Pattern, family: Family): PlainRead | undefined {
  const places = [...pattern.names];
  const value = places.indexOf('value');
  const { isDiscovered, type, described, variables } = family;
  if (isDiscovered || described.unknownIf !== undefined || (value < 0 && type !== 'T')) return undefined;
  return { pattern, family, value, variables: variables.map((name) => places.indexOf(name)) };
}

/** Returns whether a family is what `written` names: a group or a parameter, such as `input/{name}` or `input/{name}/muted`. */
function isAbout(family: Family, written: string | undefined): boolean {
  return written !== undefined && (family.name === written || family.name.startsWith(`${written}/`));
}
