// Compiles a device description from JSON5 to the form that a session runs. All mistakes are reported together, each with its file, line,
// column and path. If a name is misspelt, the message suggests the nearest known name, as it does for flow files.

import { type Framing, type LengthRule, maxFrameBytes } from '../../device/frames.ts';
import { AnswerPattern, type DescribedRequest, RequestMistake, RequestPattern } from '../../device/http-message.ts';
import { type Matcher, MatcherIndex, parseMatcher, TextMatcher } from '../../device/message.ts';
import { type Pattern, PatternError } from '../../device/pattern.ts';
import { compileExpression, ExpressionMistake } from '../../expression/expression.ts';
import { type CheckedFile, type Mistake, MistakeList, type SettingPath } from '../../json5/mistake.ts';
import { unknownName } from '../../json5/nearest-name.ts';
import { Json5Error, readJson5 } from '../../json5/read-json5.ts';
import { parameterIdMistake } from '../../model/address.ts';
import { describe, messageOf } from '../../model/error.ts';
import { isJsonObject } from '../../model/json-object.ts';
import { convert, toText, type Value, type ValueType } from '../../model/value.ts';
import {
  type Answers,
  type Ask,
  type Compiled,
  type Compute,
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

/** Compiles the text of a description. Messages about mistakes call the description `file`. */
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

/** The keys that describe an HTTP request. */
const requestKeys = ['method', 'path', 'query', 'headers', 'body', 'form'] as const;
type Sent = { readonly send?: readonly unknown[] | undefined; readonly path?: string | undefined } & Omit<
  DescribedRequest,
  'path'
>;

/** The names that every expression in a description may use. */
const ownNames = ['value', 'index', 'id', 'secret'];

class Compiler {
  readonly #file: CheckedFile;
  readonly #found: Description;
  readonly #variables: Readonly<Record<string, Value>>;
  readonly #mistakes: MistakeList;
  readonly #isOfBytes: boolean;
  readonly #isHttp: boolean;
  /** The headers that every HTTP request contains. */
  #commonHeaders: Readonly<Record<string, string>> = {};
  /** All names that occur in the description's patterns and IDs. */
  readonly #names: readonly string[];
  readonly #constants: Record<string, unknown>;

  constructor(
    file: CheckedFile,
    found: Description,
    variables: Readonly<Record<string, Value>>,
    given: Given,
    mistakes: MistakeList,
  ) {
    this.#file = file;
    this.#found = found;
    this.#variables = variables;
    this.#mistakes = mistakes;
    this.#isOfBytes = found.format === 'hex';
    this.#isHttp = found.transports?.includes('http') === true;
    this.#names = [...new Set([...ownNames, ...Object.keys(variables), ...namesIn(found)])];
    this.#constants = {
      ...variables,
      secret: { ...Object.fromEntries((found.secrets ?? []).map((one) => [one, ''])), ...given.secrets },
    };
  }

  compile(): Compiled {
    const found = this.#found;
    const { timeout: timeoutMs = 2000 } = found;
    this.#commonHeaders = this.#checkedHeaders();
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
      isHttp: this.#isHttp,
      format: found.format ?? (this.#isHttp ? 'json' : 'text'),
      encoding: this.#isOfBytes || found.encoding === 'latin1' ? 'latin1' : 'utf8',
      framing: this.#framing(),
      isTelnet: found.frame?.telnet === true,
      maxFrameBytes: found.frame?.max ?? maxFrameBytes,
      codec: found.codec,
      isPerRequest: found.connect === 'per-request',
      connectTimeoutMs: found.connectTimeout ?? 5000,
      idleTimeoutMs: found.idleTimeout,
      timeoutMs,
      window: found.connect === 'per-request' ? 1 : (found.window ?? (this.#isHttp ? 2 : 8)),
      spacingMs: found.spacing ?? 0,
      greet: (found.greet ?? []).flatMap((step, index, all) => {
        const path = ['greet', index];
        const isAlternative = (one: typeof step | undefined) =>
          one?.or !== undefined && one.reply === undefined && one.send === undefined && one.path === undefined;
        if (index > 0 && isAlternative(step)) return []; // an alternative to the previous step
        const next = isAlternative(all[index + 1]) ? all[index + 1] : undefined;
        return {
          send: step.send === undefined && step.path === undefined && !this.#isHttp ? [] : this.#sent(path, step),
          reply: this.#optional([...path, 'reply'], step.reply),
          or: [
            ...this.#matchers([...path, 'or'], step.or ?? []),
            ...this.#matchers(['greet', index + 1, 'or'], next?.or ?? []),
          ],
          saves: step.save === true,
          first: this.#optional([...path, 'first'], step.first),
        };
      }),
      ready: this.#matchers(['ready'], found.ready ?? []),
      keepAlive:
        keepAlive === undefined
          ? undefined
          : {
              name: 'keepAlive',
              send: this.#sent(['keepAlive'], {
                ...keepAlive,
                send: keepAlive.send === undefined ? undefined : [keepAlive.send],
              }),
              replies: this.#matchers(['keepAlive', 'reply'], keepAlive.reply === undefined ? [] : [keepAlive.reply]),
              until: undefined,
              everyMs: keepAlive.every,
              reads: [],
              fail: [],
              retryIf: [],
              timeoutMs,
              retry: 0,
              retryBusy: 0,
            },
      events: found.events === undefined ? undefined : this.#stream(found.events),
      families,
      groups,
      heads,
      unasked: new MatcherIndex(unasked),
      faults: (found.faults ?? []).map(({ pattern, close, reason }, index) => ({
        matcher: this.#optional(['faults', index, 'pattern'], pattern),
        close,
        reason,
      })),
      constants: new Map([
        ...this.#savedNames().map((name): [string, Value] => [name, '']),
        ...Object.entries(this.#variables),
      ]),
      variables: this.#variables,
      secretNames: found.secrets ?? [],
    };
  }

  #add(path: SettingPath, message: string, offset?: number): void {
    this.#mistakes.add(this.#file, path, message, this.#file.positionOf(path, offset));
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

  /** Reports keys that are not allowed over HTTP, or only allowed over HTTP. */
  #checkHttp(): void {
    const { transports = [], format, events, headers, ...found } = this.#found;
    if (!this.#isHttp) {
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

  #stream({ path, query, headers }: NonNullable<Description['events']>): Matcher | undefined {
    return this.#sent(['events'], { path, query, headers: { ...headers, accept: 'text/event-stream' } })[0];
  }

  /**
   * Compiles messages to send: the key `send`, or an HTTP request. If `family` is given, the messages may use only names that are valid for
   * this family.
   */
  #sent(path: SettingPath, written: Sent, family?: Family): Matcher[] {
    const given = requestKeys.filter((key) => written[key] !== undefined);
    if (!this.#isHttp) {
      for (const key of given) this.#add([...path, key], "expected send; requests need transports: ['http']");
      if (written.send === undefined && given.length === 0) this.#add(path, 'expected send, got none');
      return this.#matchers([...path, 'send'], written.send ?? [], family);
    }
    if (written.send !== undefined)
      this.#add([...path, 'send'], 'expected `path` over HTTP, with `method`, `query` and `body` if needed');
    const { path: own, body, form, method } = written;
    if (own === undefined) {
      if (written.send === undefined) this.#add(path, 'expected path, got none');
      return [];
    }
    if (body !== undefined && form !== undefined)
      this.#add([...path, 'form'], 'expected either `body` or `form`, got both');
    if ((body ?? form) !== undefined && (method === 'GET' || method === 'HEAD'))
      this.#add([...path, 'method'], `expected POST, PUT, PATCH or DELETE with a body, got "${method}"`);
    const matcher = this.#request(path, { ...written, path: own });
    if (family !== undefined) this.#checkNames(path, matcher, family);
    return [matcher];
  }

  /** Compiles an HTTP request. Omits parts that contain mistakes. */
  #request(path: SettingPath, written: DescribedRequest): RequestPattern {
    try {
      const format = this.#found.format === 'xml' ? 'xml' : 'json';
      return new RequestPattern(written, this.#commonHeaders, format, (text) => this.#compute(text));
    } catch (error) {
      if (!(error instanceof RequestMistake)) throw error;
      const [key, name] = error.path as [keyof DescribedRequest, string | undefined];
      this.#add([...path, ...error.path], error.message, error.offset);
      const { [name ?? '']: _, ...others } = (written[key] ?? {}) as Record<string, string>;
      const part = key === 'path' ? '/' : name === undefined ? undefined : others;
      return this.#request(path, { ...written, [key]: part });
    }
  }

  /** Returns the headers that every request contains. Reports and omits invalid headers. */
  #checkedHeaders(): Readonly<Record<string, string>> {
    if (!this.#isHttp) return {};
    const right = Object.entries(this.#found.headers ?? {}).filter(([name, text]) => {
      const matcher = this.#matcher(['headers', name], text);
      return matcher !== undefined;
    });
    return Object.fromEntries(right);
  }

  #framing(): Framing | undefined {
    const { frame } = this.#found;
    if (frame === undefined) return undefined;
    const marks = (key: string, written: readonly string[]) =>
      written.map((mark, index) => this.#mark(['frame', key, ...(written.length > 1 ? [index] : [])], mark));
    if (frame.start !== undefined && frame.end !== undefined) {
      const escapeByte = frame.escape === undefined ? undefined : Number.parseInt(frame.escape, 16);
      if (frame.escape !== undefined && !/^[\da-f]{2}$/i.test(frame.escape))
        this.#add(['frame', 'escape'], `expected two hexadecimal digits, got ${describe(frame.escape)}`);
      return {
        kind: 'enclosed',
        start: marks('start', [frame.start])[0]!,
        end: marks('end', frame.end)[0]!,
        escapeByte,
      };
    }
    if (frame.end !== undefined) {
      const ends = marks('end', frame.end);
      const prompts = marks('prompt', frame.prompt ?? []);
      return { kind: 'end', ends, sendEnd: ends[0]!, isBlock: frame.block === true, prompts };
    }
    if (frame.bytes !== undefined) return { kind: 'bytes', bytes: frame.bytes };
    if (frame.length !== undefined) {
      const { at, bytes, endian, adds = 0 } = frame.length;
      return { kind: 'length', at, bytes, isLittle: endian === 'little', adds };
    }
    if (frame.lengthBy !== undefined) return this.#lengthBy(frame.lengthBy);
    return { kind: 'idle', idleMs: frame.idle! };
  }

  #lengthBy({ at = 0, lengths, running }: NonNullable<NonNullable<Description['frame']>['lengthBy']>): Framing {
    const path = ['frame', 'lengthBy'];
    const ranges: { readonly low: number; readonly high: number; readonly rule: LengthRule }[] = [];
    if (running === true && at > 0) this.#add([...path, 'at'], `expected 0 with \`running\`, got ${at}`);
    for (const [written, length] of Object.entries(lengths)) {
      const here = [...path, 'lengths', written];
      const [, first, last = first] = /^([\da-f]{2})(?:\.\.([\da-f]{2}))?$/i.exec(written) ?? [];
      const [low, high] = [Number.parseInt(first ?? '', 16), Number.parseInt(last ?? '', 16)];
      if (low > high)
        this.#add(here, `expected the lower byte of the range first, got "${written}": write ${last}..${first}`);
      else if (!(low <= high))
        this.#add(here, `expected a byte or a range in hexadecimal digits, such as 90 or 80..8F, got "${written}"`);
      else if (running === true && low < 0x80)
        this.#add(here, `expected bytes from 80 upwards with \`running\`, got "${written}"`);
      if (typeof length === 'string' && !/^[\da-f]{2}$/i.test(length))
        this.#add(
          here,
          `expected a length, or the byte that ends the frame in hexadecimal digits, got ${describe(length)}`,
        );
      if (typeof length === 'number' && length <= at)
        this.#add(here, `expected a length greater than \`at\` (${at}), got ${length}`);
      const rule = typeof length === 'number' ? length : { end: Number.parseInt(length, 16) };
      ranges.push({ low, high, rule });
    }
    const rules: (LengthRule | undefined)[] = [];
    for (const { low, high, rule } of ranges.sort((a, b) => a.high - a.low - (b.high - b.low))) // narrow ranges first
      for (let byte = low; byte <= high; byte++) rules[byte] ??= rule;
    return { kind: 'lengthBy', at, rules, isRunning: running === true };
  }

  /** Returns the bytes of a mark that begins or ends a frame. */
  #mark(path: SettingPath, written: string): Buffer {
    if (!this.#isOfBytes) return Buffer.from(written);
    const digits = written.replaceAll(/\s/g, '');
    if (digits.length % 2 !== 0 || !/^[\da-f]+$/i.test(digits))
      this.#add(path, `expected pairs of hexadecimal digits, got ${describe(written)}`);
    return Buffer.from(digits, 'hex');
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
          this.#add(path, this.#isHttp ? 'expected `path` or `on`' : 'expected `send`, `on` or `head`');
        const ask: Ask | undefined = !isAsked
          ? undefined
          : {
              name,
              send: this.#sent(path, group),
              ...this.#answers(
                path,
                { ...group, reply: group.reply === undefined ? undefined : [group.reply] },
                this.#found.retry ?? 1,
              ),
              until: this.#optional([...path, 'until'], group.until),
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
      this.#matchers(['groups', group.name, 'on'], this.#found.groups?.[group.name]?.on ?? []).map((matcher) => ({
        matcher,
        group,
      })),
    );
  }

  #events(families: readonly Family[], groups: ReadonlyMap<string, Group>): Unasked[] {
    return (this.#found.on ?? []).flatMap(({ pattern, ask = [], withdraw }, index) => {
      const path = ['on', index];
      const matcher = this.#matcher([...path, 'pattern'], pattern);
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
    if (isObject) this.#checkReadKeys(path, written);
    const matcher = this.#answerMatcher(path, patternPath, answer);
    if (matcher === undefined) return [];
    const computed = value === undefined ? undefined : this.#expression([...path, 'value'], value);
    const found = Object.entries(where).map(([name, text]) => {
      if (!family.variables.includes(name))
        this.#add([...path, 'where', name], unknownName('variable', name, family.variables));
      const computedHere = Object.keys(where).filter((one) => !matcher.names.has(one));
      return [name, this.#expression([...path, 'where', name], text, computedHere) ?? (() => 0)] as const;
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

  /**
   * Reports keys that are not allowed in `{ pattern, value, where }`. The schema does not find such mistakes, because an object with other
   * keys is a message example.
   */
  #checkReadKeys(path: SettingPath, written: object): void {
    const known = ['pattern', 'value', 'where', ...(this.#isHttp ? ['status', 'headers', 'event'] : [])];
    for (const key of Object.keys(written))
      if (!known.includes(key)) this.#add([...path, key], unknownName('setting', key, known));
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
      family.isUnknown = this.#expression([...path, 'unknownIf'], unknownIf);
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
        send: this.#sent([...path, 'ask'], ask, family),
        ...this.#answers([...path, 'ask'], { ...others, reply: undefined }, this.#found.retry ?? 1),
        replies: reads.map(({ matcher }) => matcher),
        until: this.#optional([...path, 'ask', 'until'], ask.until),
        everyMs: ask.every ?? this.#found.poll,
        reads,
      };
    }
    if (write === undefined) return;
    const at = [...path, 'write'];
    this.#checkAsked([...at, 'then'], write.then ?? [], groups, ask === undefined ? [] : ['ask']);
    const { start = '', join = '', end = '', most = 100 } = write.batch ?? {};
    family.write = {
      send: this.#sent(at, write, family),
      value: write.value === undefined ? undefined : this.#expression([...at, 'value'], write.value),
      ...this.#answers(at, write, 0),
      asksThen: write.then ?? [],
      batch: write.batch === undefined ? undefined : { start, join, end, most },
      replays: write.replay === true,
    };
    for (const key of ['fail', 'retryIf'] as const)
      if (write[key] !== undefined && write.reply === undefined && !this.#isHttp)
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
    if (isObject) this.#checkReadKeys(path, written);
    const matcher = this.#answerMatcher(path, patternPath, answer);
    if (matcher === undefined) return [];
    if (value === undefined && family.type !== 'T' && !matcher.names.has('value'))
      this.#add(patternPath, 'expected {value} in the pattern, or value: an expression');
    const computed = value === undefined ? undefined : this.#expression([...path, 'value'], value);
    return [{ matcher, family, value: computed, where: [], isFinding: false, plain: undefined }];
  }

  #answers(
    path: SettingPath,
    written: {
      readonly reply?: readonly unknown[] | undefined;
      readonly fail?: readonly unknown[] | undefined;
      readonly retryIf?: readonly unknown[] | undefined;
      readonly until?: unknown;
      readonly timeout?: number | undefined;
      readonly retry?: number | undefined;
    },
    retry: number,
  ): Answers {
    if (written.until === undefined) this.#expectCharacters([...path, 'reply'], written.reply);
    for (const key of ['fail', 'retryIf'] as const) this.#expectCharacters([...path, key], written[key]);
    if (written.until === '') this.#expectCharacters([...path, 'until'], [written.until]);
    return {
      replies: this.#matchers([...path, 'reply'], written.reply ?? []),
      fail: this.#matchers([...path, 'fail'], written.fail ?? []),
      retryIf: this.#matchers([...path, 'retryIf'], written.retryIf ?? []),
      timeoutMs: written.timeout ?? this.#found.timeout ?? 2000,
      retry: written.retry ?? retry,
      retryBusy: written.retry ?? Math.max(retry, 3),
    };
  }

  /** Reports an empty pattern if messages have an end mark. Such a pattern never matches, because the hub drops empty messages. */
  #expectCharacters(path: SettingPath, written: readonly unknown[] = []): void {
    if (this.#found.frame?.end === undefined) return;
    for (const [index, one] of written.entries())
      if (one === '')
        this.#add(
          written.length > 1 ? [...path, index] : path,
          'expected at least one character, because the hub drops empty messages',
        );
  }

  /** Compiles patterns. If `family` is given, the patterns may use only names that are valid for this family. */
  #matchers(path: SettingPath, written: readonly unknown[], family?: Family): Matcher[] {
    return written.flatMap((one, index) => {
      const at = written.length > 1 ? [...path, index] : path;
      const matcher = this.#matcher(at, one);
      if (matcher === undefined) return [];
      if (family !== undefined) this.#checkNames(at, matcher, family);
      return [matcher];
    });
  }

  #checkNames(path: SettingPath, matcher: Matcher, family: Family): void {
    const known = [...family.variables, 'value', 'id', ...Object.keys(this.#variables), ...this.#savedNames()];
    for (const name of matcher.names) if (!known.includes(name)) this.#add(path, unknownName('name', name, known));
  }

  /** Returns the names whose values are saved by `greet` and by groups. */
  #savedNames(): string[] {
    const { greet = [], groups = {} } = this.#found;
    return [...greet, ...Object.values(groups)]
      .filter(({ save }) => save === true)
      .flatMap(({ reply }) => namesIn(reply));
  }

  #optional(path: SettingPath, written: unknown): Matcher | undefined {
    return written === undefined ? undefined : this.#matcher(path, written);
  }

  /** Compiles the pattern for an answer or an event. Over HTTP, the pattern may also check the status and the headers. */
  #answerMatcher(
    path: SettingPath,
    patternPath: SettingPath,
    { pattern, status, headers, event }: DescribedAnswer,
  ): Matcher | undefined {
    const others = Object.entries({ status, headers, event }).filter(([, one]) => one !== undefined);
    if (status !== undefined && !isStatus(status))
      this.#add([...path, 'status'], `expected a status 100..599, got ${describe(status)}`);
    if (typeof pattern === 'number' && this.#isHttp)
      return this.#answerPattern(path, undefined, { headers, event, status: pattern });
    const body = this.#matcher(patternPath, pattern);
    return body === undefined || others.length === 0 || !this.#isHttp
      ? body
      : this.#answerPattern(path, body, { headers, event, status });
  }

  #answerPattern(
    path: SettingPath,
    body: Matcher | undefined,
    written: Omit<DescribedAnswer, 'pattern'>,
  ): Matcher | undefined {
    try {
      return new AnswerPattern(body, written, (text) => this.#compute(text));
    } catch (error) {
      this.#add([...path, 'headers'], messageOf(error));
      return undefined;
    }
  }

  #matcher(path: SettingPath, written: unknown): Matcher | undefined {
    const { format = this.#isHttp ? 'json' : 'text' } = this.#found;
    if (this.#isHttp && (typeof written === 'number' || isAnswer(written)))
      return isJsonObject(written)
        ? this.#answerMatcher(path, [...path, 'pattern'], written as unknown as DescribedAnswer)
        : this.#answerMatcher(path, path, { pattern: written });
    if (typeof written === 'number') {
      this.#add(path, `expected text, got ${describe(written)}; a status needs transports: ['http']`);
      return undefined;
    }
    if (typeof written !== 'string' && format !== 'json' && format !== 'xml') {
      this.#add(path, `expected text, because format is neither json nor xml, got ${describe(written)}`);
      return undefined;
    }
    try {
      return parseMatcher(written, this.#isOfBytes, (text) => this.#compute(text));
    } catch (error) {
      const offset = error instanceof PatternError && typeof written === 'string' ? error.offset : undefined;
      this.#add(path, messageOf(error), offset);
      return undefined;
    }
  }

  /** Compiles an expression, which may not use the names in `later`. If there is a mistake, reports it and returns undefined. */
  #expression(path: SettingPath, text: string, later: readonly string[] = []): Compute | undefined {
    try {
      return this.#compute(text, later);
    } catch (error) {
      this.#add(path, messageOf(error), error instanceof ExpressionMistake ? error.offset : undefined);
      return undefined;
    }
  }

  /** Compiles an expression. Errors: any error from `compileExpression`, and an error for an unknown secret. */
  #compute(text: string, later: readonly string[] = []): Compute {
    const secrets = this.#found.secrets ?? [];
    for (const { 1: name, index } of text.matchAll(/\bsecret\.(\w+)/g))
      if (!secrets.includes(name!))
        throw new ExpressionMistake(unknownName('secret', name!, secrets), index + 'secret.'.length);
    const types = Object.fromEntries(this.#names.map((name): [string, ValueType | undefined] => [name, undefined]));
    const { evaluate, names } = compileExpression(text, types);
    const tooEarly = names.find((name) => later.includes(name));
    if (tooEarly !== undefined)
      throw new ExpressionMistake(
        `expected only names from the pattern, got "${tooEarly}", which \`where\` itself computes`,
        text.search(new RegExp(`\\b${tooEarly}\\b`)),
      );
    const constants = this.#constants;
    return (values) => {
      const scope: Record<string, unknown> = {};
      for (const name of names) scope[name] = values.get(name) ?? constants[name];
      return evaluate(scope as Record<string, Value>);
    };
  }
}

function isStatus(written: unknown): boolean {
  return typeof written === 'number' && Number.isInteger(written) && written >= 100 && written <= 599;
}

interface DescribedAnswer {
  readonly pattern: unknown;
  readonly status?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly event?: string | undefined;
}

/** Returns whether a pattern has the form `{ pattern, status, headers }`, which describes the body and other parts of an answer. */
function isAnswer(written: unknown): boolean {
  const keys = ['pattern', 'status', 'headers', 'event'];
  return isJsonObject(written) && 'pattern' in written && Object.keys(written).every((key) => keys.includes(key));
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

/** Returns all names in all patterns in the data. */
function namesIn(data: unknown): string[] {
  if (typeof data === 'string') return [...data.matchAll(/\{\s*([A-Za-z_]\w*)/g)].map(([, name]) => name!);
  if (Array.isArray(data)) return data.flatMap(namesIn);
  if (!isJsonObject(data)) return [];
  return Object.entries(data).flatMap(([key, item]) => [...namesIn(key), ...namesIn(item)]);
}

/** Returns whether a family is what `written` names: a group or a parameter, such as `input/{name}` or `input/{name}/muted`. */
function isAbout(family: Family, written: string | undefined): boolean {
  return written !== undefined && (family.name === written || family.name.startsWith(`${written}/`));
}
