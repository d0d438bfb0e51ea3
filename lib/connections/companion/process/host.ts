// The host of a driver module, in the module's process: for modules with API 1.x, which exchange their base package's messages over
// `process.send`, and for modules with API 2.x, which are constructed with a context.

import { pathToFileURL } from 'node:url';
import type { DriverField, DriverKind, DriverPage, DriverQuestion } from '../../hub-port.ts';
import type { Description, Start } from '../messages.ts';
import { answerOf, type Definitions, describeAll, fieldsOf, maxAnswer, type Raw } from './catalogue.ts';
import { type Link, Reporter } from './reporter.ts';

/** The maximum length of a part of a string that is sent in several lines, in characters. */
const partLength = 16_384;
/** How long a module may take to register, to list its config, and to start, in milliseconds. */
const startMs = 30_000;
type Options = Readonly<Record<string, unknown>>;

/** A running module. */
export interface Host {
  /** Runs an action. Errors: the module's own error. */
  act(action: string, options: Options): Promise<void>;
  /** Answers a question about what the module offers. */
  list(number: number, question: DriverQuestion): void;
  stop(): Promise<void>;
}

/** The part of a module that differs between the versions of the API. */
interface Module {
  fields(): Promise<readonly DriverField[]>;
  init(config: Options, secrets: Options): Promise<void>;
  act(action: string, options: Options): Promise<void>;
  destroy(): Promise<void>;
  definitionsOf(kind: DriverKind): Definitions;
  /** The value of a variable. */
  valueOf(variable: string): unknown;
}

/**
 * Loads a module and starts it. Returns undefined if the config is incomplete or if the module was only to be described. Calls `allow`
 * before the start. Errors: any error from the module, and an `Error` if a step takes too long.
 */
export async function startModule(start: Start, link: Link, allow: () => void): Promise<Host | undefined> {
  const { config, secrets, describes } = start;
  const { send } = link;
  const reporter = new Reporter(start, link);
  const module = await inTime(
    'register',
    start.api === 1 ? LegacyModule.load(start, reporter) : ContextModule.load(start, reporter),
  );
  const fields = await inTime('list its config fields', module.fields());
  const lacking = fields.filter(({ id }) => !Object.hasOwn(config, id) && !Object.hasOwn(secrets, id));
  if (describes && lacking.length > 0) {
    sendDescription({ config: fields, actions: [], feedbacks: [], variables: [], more: 0 }, send);
    return undefined;
  }
  if (!describes) sendParts(JSON.stringify(fields), (part) => send({ listed: 0, part }));
  if (lacking.length > 0) {
    send({ lacks: lacking.map(shown) });
    return undefined;
  }
  if (!describes) allow();
  const starting = inTime('start', module.init(withoutNull(config), withoutNull(secrets)));
  if (!describes) await starting;
  else {
    await starting.catch(() => {}); // without a network, the module may fail, although it may have described what it offers
    sendDescription({ config: fields, ...describeAll((kind) => module.definitionsOf(kind)) }, send);
    return undefined;
  }
  send({ ready: true });
  return {
    act: (action, options) => module.act(action, options),
    stop: () => module.destroy(),
    list: (listed, question) => {
      const { kind } = question;
      const text = textOf(answerOf(question, module.definitionsOf(kind), (variable) => module.valueOf(variable)));
      sendParts(text, (part) => send({ listed, part }));
    },
  };
}

/** Returns the answer as JSON, with fewer items if it would be too long. */
function textOf({ total, items }: DriverPage): string {
  for (let length = items.length; ; length >>= 1) {
    const text = JSON.stringify({ total, items: items.slice(0, length) });
    if (text.length <= maxAnswer || length === 0) return text;
  }
}

/** Returns a field as text: `host (textinput)`, or with the module's suggestion: `port (number, such as 9990)`. */
function shown({ id, type, default: suggested }: DriverField): string {
  return suggested === undefined || suggested === ''
    ? `${id} (${type})`
    : `${id} (${type}, such as ${JSON.stringify(suggested)})`;
}

function withoutNull(config: Options): Options {
  return Object.fromEntries(Object.entries(config).filter(([, value]) => value !== null));
}

async function inTime<T>(what: string, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it did not ${what} within ${startMs / 1000} s`)), startMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

function sendDescription(description: Description, send: Link['send']): void {
  sendParts(JSON.stringify(description), (described) => send({ described }));
}

/** Sends a string in parts that fit into lines; an empty part marks the end. */
function sendParts(text: string, send: (part: string) => void): void {
  for (let at = 0; at < text.length; at += partLength) send(text.slice(at, at + partLength));
  send('');
}

async function loadEntrypoint(entrypoint: string): Promise<Raw> {
  return (await import(pathToFileURL(entrypoint).href)) as Raw;
}

const controlId = 'patchbay';

// API 1.x: the module calls `runEntrypoint`, which expects `process.send` and messages.

interface LegacyMessage {
  readonly direction: 'call' | 'response';
  readonly name?: string;
  readonly callbackId?: number | undefined;
  readonly success?: boolean;
  readonly payload?: string;
}

class LegacyModule implements Module {
  readonly #start: Start;
  readonly #reporter: Reporter;
  readonly #waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  #calls = 0;
  #register: () => void = () => {};
  /** The latest definitions of each kind as received, and their parsed form, which is created when they are first requested. */
  readonly #payloads = new Map<DriverKind, string>();
  readonly #definitions = new Map<DriverKind, Definitions>();
  readonly #values = new Map<string, unknown>();

  private constructor(start: Start, reporter: Reporter) {
    this.#start = start;
    this.#reporter = reporter;
  }

  static async load(start: Start, reporter: Reporter): Promise<Module> {
    const module = new LegacyModule(start, reporter);
    const registered = new Promise<void>((resolve) => {
      module.#register = resolve;
    });
    process.send = (message: LegacyMessage) => {
      module.#take(message);
      return true;
    };
    await loadEntrypoint(start.entrypoint);
    await registered;
    return module;
  }

  async fields(): Promise<readonly DriverField[]> {
    const { fields } = (await this.#call('getConfigFields', {})) as { readonly fields: unknown };
    return fieldsOf(fields);
  }

  async init(config: Options, secrets: Options): Promise<void> {
    const { label } = this.#start;
    // the config is written by the user for this version, so no upgrade script of the module may change it
    const lastUpgradeIndex = Number.MAX_SAFE_INTEGER;
    await this.#call('init', {
      label,
      isFirstInit: false,
      config,
      secrets,
      lastUpgradeIndex,
      feedbacks: {},
      actions: {},
    });
    const feedbacks = this.#reporter.feedbacks.map(([id, { feedback, options }]) => [
      id,
      { id, controlId, feedbackId: feedback, options, isInverted: false, disabled: false, upgradeIndex: null },
    ]);
    await this.#call('updateFeedbacks', { feedbacks: Object.fromEntries(feedbacks) });
  }

  async act(action: string, options: Options): Promise<void> {
    const instance = { id: action, controlId, actionId: action, options, disabled: false, upgradeIndex: null };
    const answer = (await this.#call('executeAction', { action: instance })) as
      | { readonly success?: boolean; readonly errorMessage?: string }
      | undefined;
    if (answer?.success === false) throw new Error(answer.errorMessage ?? 'the module gave no reason');
  }

  async destroy(): Promise<void> {
    await this.#call('destroy', {});
  }

  definitionsOf(kind: DriverKind): Definitions {
    const known = this.#definitions.get(kind);
    if (known !== undefined) return known;
    const all = (JSON.parse(this.#payloads.get(kind) ?? '{}') as Readonly<Record<string, Raw[] | undefined>>)[kind];
    const definitions = (all ?? []).map((one) => [String(one.id), one] as const);
    this.#definitions.set(kind, definitions);
    return definitions;
  }

  valueOf(variable: string): unknown {
    return this.#values.get(variable);
  }

  #define(kind: DriverKind, payload = '{}'): void {
    this.#payloads.set(kind, payload);
    this.#definitions.delete(kind);
  }

  #call(name: string, payload: unknown): Promise<unknown> {
    const callbackId = ++this.#calls;
    return new Promise((resolve, reject) => {
      this.#waiting.set(callbackId, { resolve, reject });
      this.#emit({ direction: 'call', name, payload: JSON.stringify(payload), callbackId });
    });
  }

  #emit(message: LegacyMessage): void {
    setImmediate(() => process.emit('message', message, undefined));
  }

  #take(message: LegacyMessage): void {
    const payload = () => JSON.parse(message.payload ?? 'null') as unknown;
    if (message.direction === 'response') {
      const waiting = this.#waiting.get(message.callbackId ?? 0);
      this.#waiting.delete(message.callbackId ?? 0);
      if (message.success === true) waiting?.resolve(message.payload === undefined ? undefined : payload());
      else waiting?.reject(new Error(String((payload() as Raw | null)?.message ?? 'the module gave no reason')));
      return;
    }
    const answer = (success: boolean, value: unknown) => {
      const { callbackId } = message;
      if (callbackId !== undefined)
        this.#emit({ direction: 'response', callbackId, success, payload: JSON.stringify(value) });
    };
    const reporter = this.#reporter;
    switch (message.name) {
      case 'register':
        answer(true, {});
        this.#register();
        break;
      case 'set-status': {
        const { status, message: about } = payload() as Raw;
        reporter.status(status, about);
        break;
      }
      case 'log-message': {
        const { level, message: about } = payload() as Raw;
        reporter.log(level, about);
        break;
      }
      case 'setVariableDefinitions':
        this.#define('variables', message.payload);
        break;
      case 'setVariableValues':
        for (const { id, value } of (payload() as { newValues: { id: string; value: unknown }[] }).newValues) {
          this.#values.set(id, value);
          reporter.variable(id, value);
        }
        break;
      case 'updateFeedbackValues':
        for (const { id, value } of (payload() as { values: { id: string; value: unknown }[] }).values)
          reporter.value(id, value);
        break;
      case 'setActionDefinitions':
        this.#define('actions', message.payload);
        break;
      case 'setFeedbackDefinitions':
        this.#define('feedbacks', message.payload);
        break;
      case 'parseVariablesInString':
        answer(true, { text: (payload() as Raw).text, variableIds: [] });
        break;
      default:
        answer(false, { message: `the hub does not support ${message.name}` });
    }
  }
}

// API 2.x: the module is a class, whose context is the host.

interface Definition {
  readonly type?: string;
  readonly callback?: (event: unknown, context: unknown) => unknown;
}

interface Instance {
  init(config: Options, isFirstInit: boolean, secrets: Options): Promise<void>;
  destroy(): Promise<void>;
  getConfigFields(): unknown;
}

class ContextModule implements Module {
  readonly #reporter: Reporter;
  readonly #instance: Instance;
  #actions = new Map<string, Definition & Raw>();
  #feedbacks = new Map<string, Definition & Raw>();
  #variables: Definitions = [];
  readonly #values = new Map<string, unknown>();
  readonly #callbackContext = {
    parseVariablesInString: async (text: unknown) => text,
    setCustomVariableValue() {},
  };

  private constructor(start: Start, reporter: Reporter, exported: Raw) {
    this.#reporter = reporter;
    const exportedClass = typeof exported.default === 'function' ? exported.default : exported['module.exports'];
    if (typeof exportedClass !== 'function') throw new Error('expected a class as the default export of the module');
    (globalThis as Record<string, unknown>).COMPANION_LOGGER = (source: unknown, level: unknown, message: unknown) =>
      reporter.log(level, source === undefined ? message : `${source}: ${message}`);
    const create = exportedClass as new (context: unknown) => Instance;
    this.#instance = new create(this.#contextOf(start, exported.UpgradeScripts));
  }

  static async load(start: Start, reporter: Reporter): Promise<Module> {
    return new ContextModule(start, reporter, await loadEntrypoint(start.entrypoint));
  }

  async fields(): Promise<readonly DriverField[]> {
    return fieldsOf(await this.#instance.getConfigFields());
  }

  async init(config: Options, secrets: Options): Promise<void> {
    await this.#instance.init(config, false, secrets);
    await this.#check(() => true);
  }

  async act(action: string, options: Options): Promise<void> {
    const definition = this.#actions.get(action);
    if (definition?.callback === undefined) throw new Error(`expected one of the module's actions, got "${action}"`);
    const event = { id: action, controlId, actionId: action, options, surfaceId: undefined };
    await definition.callback(event, this.#callbackContext);
  }

  async destroy(): Promise<void> {
    await this.#instance.destroy();
  }

  definitionsOf(kind: DriverKind): Definitions {
    return kind === 'variables' ? this.#variables : [...(kind === 'actions' ? this.#actions : this.#feedbacks)];
  }

  valueOf(variable: string): unknown {
    return this.#values.get(variable);
  }

  async #check(isMeant: (feedback: string, id: string) => boolean): Promise<void> {
    for (const [id, { feedback = '', options }] of this.#reporter.feedbacks) {
      const definition = this.#feedbacks.get(feedback);
      if (definition?.callback === undefined || !isMeant(feedback, id)) continue;
      const { type } = definition;
      const event = { type, id, controlId, feedbackId: feedback, options, previousOptions: null };
      try {
        this.#reporter.value(id, await definition.callback(event, this.#callbackContext));
      } catch (error) {
        this.#reporter.log('warn', `feedback ${feedback}: ${(error as Error).message}`);
      }
    }
  }

  #contextOf({ label }: Start, upgradeScripts: unknown) {
    const reporter = this.#reporter;
    const check = (isMeant: (feedback: string, id: string) => boolean) => void this.#check(isMeant);
    const isOffered = ([, definition]: [string, unknown]) => typeof definition === 'object' && definition !== null;
    const refuse = (what: string) => reporter.log('warn', `the hub does not support ${what}`);
    return {
      _isInstanceContext: true,
      id: label,
      label,
      upgradeScripts: Array.isArray(upgradeScripts) ? upgradeScripts : [],
      sharedUdpSocketHandlers: new Map(),
      saveConfig() {},
      updateStatus: (status: unknown, message: unknown) => reporter.status(status, message),
      oscSend: () => refuse('OSC'),
      recordAction() {},
      setActionDefinitions: (actions: Record<string, Definition & Raw>) => {
        this.#actions = new Map(Object.entries(actions).filter(isOffered));
      },
      subscribeActions() {},
      unsubscribeActions() {},
      setFeedbackDefinitions: (feedbacks: Record<string, Definition & Raw>) => {
        this.#feedbacks = new Map(Object.entries(feedbacks).filter(isOffered));
        check(() => true);
      },
      unsubscribeFeedbacks() {},
      checkFeedbacks: (types: readonly string[]) => check((feedback) => types.includes(feedback)),
      checkAllFeedbacks: () => check(() => true),
      checkFeedbacksById: (ids: readonly string[]) => check((_, id) => ids.includes(id)),
      setPresetDefinitions() {},
      setVariableDefinitions: (variables: Record<string, Raw>) => {
        this.#variables = Object.entries(variables).filter(isOffered);
      },
      setVariableValues: (values: Raw) => {
        for (const [id, value] of Object.entries(values)) {
          this.#values.set(id, value);
          reporter.variable(id, value);
        }
      },
      getVariableValue: (id: string) => this.#values.get(id),
      sharedUdpSocketJoin: async () => {
        throw new Error('the hub does not support shared UDP sockets');
      },
      sharedUdpSocketLeave: async () => {},
      sharedUdpSocketSend: async () => {},
    };
  }
}
