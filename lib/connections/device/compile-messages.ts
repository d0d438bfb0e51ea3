// Compiles the messages of a device description: what is sent, the patterns of what is received, and expressions. Mistakes are reported, and
// the rest of the description is still compiled.

import { AnswerPattern, type DescribedRequest, RequestMistake, RequestPattern } from '../../device/http-message.ts';
import { type Matcher, parseMatcher } from '../../device/message.ts';
import { PatternError } from '../../device/pattern.ts';
import { compileExpression, ExpressionMistake } from '../../expression/expression.ts';
import type { CheckedFile, MistakeList, SettingPath } from '../../json5/mistake.ts';
import { unknownName } from '../../json5/nearest-name.ts';
import { describe, messageOf } from '../../model/error.ts';
import { isJsonObject } from '../../model/json-object.ts';
import type { Value, ValueType } from '../../model/value.ts';
import type { Answers, Compute, Family } from './compiled.ts';
import type { Description } from './description.ts';

/** The keys that describe an HTTP request. */
const requestKeys = ['method', 'path', 'query', 'headers', 'body', 'form'] as const;
type Sent = { readonly send?: readonly unknown[] | undefined; readonly path?: string | undefined } & Omit<
  DescribedRequest,
  'path'
>;

/** The names that every expression in a description may use. */
const ownNames = ['value', 'index', 'id', 'secret'];

/**
 * The pattern for an answer or an event, as written. Over HTTP, the pattern may also check the status, the headers and the name of the
 * event.
 */
export interface DescribedAnswer {
  readonly pattern: unknown;
  readonly status?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly event?: string | undefined;
}

export class MessageCompiler {
  /** Whether messages are bytes, which the description writes in hexadecimal digits. */
  readonly isOfBytes: boolean;
  /** Whether messages are HTTP requests and their answers. */
  readonly isHttp: boolean;
  readonly #file: CheckedFile;
  readonly #found: Description;
  readonly #variables: Readonly<Record<string, Value>>;
  readonly #mistakes: MistakeList;
  /** All names that occur in the description's patterns and IDs. */
  readonly #names: readonly string[];
  readonly #constants: Record<string, unknown>;
  /** The headers that every HTTP request contains. */
  readonly #commonHeaders: Readonly<Record<string, string>>;

  constructor(
    file: CheckedFile,
    found: Description,
    variables: Readonly<Record<string, Value>>,
    secrets: Readonly<Record<string, string>>,
    mistakes: MistakeList,
  ) {
    this.#file = file;
    this.#found = found;
    this.#variables = variables;
    this.#mistakes = mistakes;
    this.isOfBytes = found.format === 'hex';
    this.isHttp = found.transports?.includes('http') === true;
    this.#names = [...new Set([...ownNames, ...Object.keys(variables), ...namesIn(found)])];
    this.#constants = {
      ...variables,
      secret: { ...Object.fromEntries((found.secrets ?? []).map((one) => [one, ''])), ...secrets },
    };
    this.#commonHeaders = this.#checkedHeaders();
  }

  /** Reports a mistake. `offset` is the position in the text of the setting, in characters. */
  add(path: SettingPath, message: string, offset?: number): void {
    this.#mistakes.add(this.#file, path, message, this.#file.positionOf(path, offset));
  }

  /** Compiles patterns. If `family` is given, the patterns may use only names that are valid for this family. */
  matchers(path: SettingPath, written: readonly unknown[], family?: Family): Matcher[] {
    return written.flatMap((one, index) => {
      const at = written.length > 1 ? [...path, index] : path;
      const matcher = this.matcher(at, one);
      if (matcher === undefined) return [];
      if (family !== undefined) this.#checkNames(at, matcher, family);
      return [matcher];
    });
  }

  optional(path: SettingPath, written: unknown): Matcher | undefined {
    return written === undefined ? undefined : this.matcher(path, written);
  }

  matcher(path: SettingPath, written: unknown): Matcher | undefined {
    const { format = this.isHttp ? 'json' : 'text' } = this.#found;
    if (this.isHttp && (typeof written === 'number' || isAnswer(written)))
      return isJsonObject(written)
        ? this.answerMatcher(path, [...path, 'pattern'], written as unknown as DescribedAnswer)
        : this.answerMatcher(path, path, { pattern: written });
    if (typeof written === 'number') {
      this.add(path, `expected text, got ${describe(written)}; a status needs transports: ['http']`);
      return undefined;
    }
    if (typeof written !== 'string' && format !== 'json' && format !== 'xml') {
      this.add(path, `expected text, because format is neither json nor xml, got ${describe(written)}`);
      return undefined;
    }
    try {
      return parseMatcher(written, this.isOfBytes, (text) => this.#compute(text));
    } catch (error) {
      const offset = error instanceof PatternError && typeof written === 'string' ? error.offset : undefined;
      this.add(path, messageOf(error), offset);
      return undefined;
    }
  }

  /** Compiles the pattern for an answer or an event. Over HTTP, the pattern may also check the status and the headers. */
  answerMatcher(
    path: SettingPath,
    patternPath: SettingPath,
    { pattern, status, headers, event }: DescribedAnswer,
  ): Matcher | undefined {
    const others = Object.entries({ status, headers, event }).filter(([, one]) => one !== undefined);
    if (status !== undefined && !isStatus(status))
      this.add([...path, 'status'], `expected a status 100..599, got ${describe(status)}`);
    if (typeof pattern === 'number' && this.isHttp)
      return this.#answerPattern(path, undefined, { headers, event, status: pattern });
    const body = this.matcher(patternPath, pattern);
    return body === undefined || others.length === 0 || !this.isHttp
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
      this.add([...path, 'headers'], messageOf(error));
      return undefined;
    }
  }

  /** Compiles an expression, which may not use the names in `later`. If there is a mistake, reports it and returns undefined. */
  expression(path: SettingPath, text: string, later: readonly string[] = []): Compute | undefined {
    try {
      return this.#compute(text, later);
    } catch (error) {
      this.add(path, messageOf(error), error instanceof ExpressionMistake ? error.offset : undefined);
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

  stream({ path, query, headers }: NonNullable<Description['events']>): Matcher | undefined {
    return this.sent(['events'], { path, query, headers: { ...headers, accept: 'text/event-stream' } })[0];
  }

  /**
   * Compiles messages to send: the key `send`, or an HTTP request. If `family` is given, the messages may use only names that are valid for
   * this family.
   */
  sent(path: SettingPath, written: Sent, family?: Family): Matcher[] {
    const given = requestKeys.filter((key) => written[key] !== undefined);
    if (!this.isHttp) {
      for (const key of given) this.add([...path, key], "expected send; requests need transports: ['http']");
      if (written.send === undefined && given.length === 0) this.add(path, 'expected send, got none');
      return this.matchers([...path, 'send'], written.send ?? [], family);
    }
    if (written.send !== undefined)
      this.add([...path, 'send'], 'expected `path` over HTTP, with `method`, `query` and `body` if needed');
    const { path: own, body, form, method } = written;
    if (own === undefined) {
      if (written.send === undefined) this.add(path, 'expected path, got none');
      return [];
    }
    if (body !== undefined && form !== undefined)
      this.add([...path, 'form'], 'expected either `body` or `form`, got both');
    if ((body ?? form) !== undefined && (method === 'GET' || method === 'HEAD'))
      this.add([...path, 'method'], `expected POST, PUT, PATCH or DELETE with a body, got "${method}"`);
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
      this.add([...path, ...error.path], error.message, error.offset);
      const { [name ?? '']: _, ...others } = (written[key] ?? {}) as Record<string, string>;
      const part = key === 'path' ? '/' : name === undefined ? undefined : others;
      return this.#request(path, { ...written, [key]: part });
    }
  }

  /** Returns the headers that every request contains. Reports and omits invalid headers. */
  #checkedHeaders(): Readonly<Record<string, string>> {
    if (!this.isHttp) return {};
    const right = Object.entries(this.#found.headers ?? {}).filter(([name, text]) => {
      const matcher = this.matcher(['headers', name], text);
      return matcher !== undefined;
    });
    return Object.fromEntries(right);
  }

  answers(
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
      replies: this.matchers([...path, 'reply'], written.reply ?? []),
      fail: this.matchers([...path, 'fail'], written.fail ?? []),
      retryIf: this.matchers([...path, 'retryIf'], written.retryIf ?? []),
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
        this.add(
          written.length > 1 ? [...path, index] : path,
          'expected at least one character, because the hub drops empty messages',
        );
  }

  /**
   * Reports keys that are not allowed in `{ pattern, value, where }`. The schema does not find such mistakes, because an object with other
   * keys is a message example.
   */
  checkReadKeys(path: SettingPath, written: object): void {
    const known = ['pattern', 'value', 'where', ...(this.isHttp ? ['status', 'headers', 'event'] : [])];
    for (const key of Object.keys(written))
      if (!known.includes(key)) this.add([...path, key], unknownName('setting', key, known));
  }

  #checkNames(path: SettingPath, matcher: Matcher, family: Family): void {
    const known = [...family.variables, 'value', 'id', ...Object.keys(this.#variables), ...this.savedNames()];
    for (const name of matcher.names) if (!known.includes(name)) this.add(path, unknownName('name', name, known));
  }

  /** Returns the names whose values are saved by `greet` and by groups. */
  savedNames(): string[] {
    const { greet = [], groups = {} } = this.#found;
    return [...greet, ...Object.values(groups)]
      .filter(({ save }) => save === true)
      .flatMap(({ reply }) => namesIn(reply));
  }
}

function isStatus(written: unknown): boolean {
  return typeof written === 'number' && Number.isInteger(written) && written >= 100 && written <= 599;
}

/** Returns whether a pattern has the form `{ pattern, status, headers }`, which describes the body and other parts of an answer. */
function isAnswer(written: unknown): boolean {
  const keys = ['pattern', 'status', 'headers', 'event'];
  return isJsonObject(written) && 'pattern' in written && Object.keys(written).every((key) => keys.includes(key));
}

/** Returns all names that the patterns in the data contain in braces. */
export function namesIn(data: unknown): string[] {
  if (typeof data === 'string') return [...data.matchAll(/\{\s*([A-Za-z_]\w*)/g)].map(([, name]) => name!);
  if (Array.isArray(data)) return data.flatMap(namesIn);
  if (!isJsonObject(data)) return [];
  return Object.entries(data).flatMap(([key, item]) => [...namesIn(key), ...namesIn(item)]);
}
