// The host of one driver module, in its process: for modules of API 1.x, which speak messages of their base package over `process.send`, and
// for those of API 2.x, which are constructed with a context. Only what the settings name is reported to the hub, so that a module with
// 100,000 variables costs the hub no more than one with ten.

import { pathToFileURL } from 'node:url';
import type { Description, Field, FromProcess, Offer, Start, Watched } from '../messages.ts';

/** How often changed values are reported, in milliseconds: only the newest of each is. */
const reportEveryMs = 20;
/** The time in which a module has to register, answer and start. */
const startMs = 30_000;
/** How many log entries of a module are reported per second. */
const logsPerSecond = 20;
/** The longest value that is reported, in characters. */
const maxValueLength = 16_384;
const maxOffers = 2000;

type Send = (line: FromProcess) => void;
type Options = Readonly<Record<string, unknown>>;
type Raw = Readonly<Record<string, unknown>>;

/** A running module. */
export interface Host {
  /** Runs an action. Errors: what the module says. */
  act(action: string, options: Options): Promise<void>;
  stop(): Promise<void>;
}

/** The part of a module that differs between the versions of the API. */
interface Module {
  fields(): Promise<readonly Field[]>;
  init(config: Options, secrets: Options): Promise<void>;
  act(action: string, options: Options): Promise<void>;
  destroy(): Promise<void>;
  describe(): Omit<Description, 'config'>;
}

/** Loads a module and starts it; undefined if its config lacks something. `allow` is called before it starts. Errors: what is wrong. */
export async function startModule(start: Start, send: Send, allow: () => void): Promise<Host | undefined> {
  const { config, secrets, describes } = start;
  const reporter = new Reporter(start, send);
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
  if (lacking.length > 0) {
    send({ lacks: lacking.slice(0, 200).map(shown) });
    return undefined;
  }
  if (!describes) allow();
  const starting = inTime('start', module.init(withoutNull(config), withoutNull(secrets)));
  if (!describes) await starting;
  else {
    await starting.catch(() => {}); // without a network it may fail, but may have said what it offers
    sendDescription({ config: fields, ...module.describe() }, send);
    return undefined;
  }
  send({ ready: true });
  return { act: (action, options) => module.act(action, options), stop: () => module.destroy() };
}

/** `host (textinput)`, or with what the module suggests: `port (number, such as 9990)`. */
function shown({ id, type, default: suggested }: Field): string {
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

/** Sends a description in parts that fit into lines. */
function sendDescription(description: Description, send: Send): void {
  const text = JSON.stringify(description);
  for (let at = 0; at < text.length; at += maxValueLength) send({ described: text.slice(at, at + maxValueLength) });
  send({ described: '' });
}

/** Reports values, states and the log to the hub. */
class Reporter {
  readonly #send: Send;
  readonly #byVariable = new Map<string, string[]>();
  readonly #changed = new Map<string, unknown>();
  readonly feedbacks: readonly (readonly [id: string, watched: Watched])[];
  #timer: NodeJS.Timeout | undefined;
  #logged = 0;
  #second = 0;

  constructor({ values }: Start, send: Send) {
    this.#send = send;
    const all = Object.entries(values);
    this.feedbacks = all.filter(([, { feedback }]) => feedback !== undefined);
    for (const [id, { variable }] of all)
      if (variable !== undefined) this.#byVariable.set(variable, [...(this.#byVariable.get(variable) ?? []), id]);
  }

  /** Reports variables; `changed` returns nothing for one that has not changed. */
  variables(changed: (variable: string) => { readonly value: unknown } | undefined): void {
    for (const [variable, ids] of this.#byVariable) {
      const found = changed(variable);
      if (found !== undefined) for (const id of ids) this.value(id, found.value);
    }
  }

  get watchesVariables(): boolean {
    return this.#byVariable.size > 0;
  }

  value(id: string, value: unknown): void {
    this.#changed.set(id, value);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      const values = [...this.#changed].map(([changed, to]) => [changed, boundedValue(to)] as [string, unknown]);
      this.#changed.clear();
      // a line has few values, so that long texts do not make it too long
      for (let at = 0; at < values.length; at += 3) this.#send({ values: values.slice(at, at + 3) });
    }, reportEveryMs);
  }

  status(status: unknown, message: unknown): void {
    this.#send({ status: String(status).slice(0, 100), message: String(message ?? '').slice(0, 500) });
  }

  log(level: unknown, message: unknown): void {
    const second = Math.floor(performance.now() / 1000);
    if (second !== this.#second) this.#logged = 0;
    this.#second = second;
    if (++this.#logged > logsPerSecond) return;
    const known = (['debug', 'info', 'warn', 'error'] as const).find((one) => one === level);
    this.#send({ log: known ?? 'info', text: String(message).slice(0, 500) });
  }
}

/** Text, a number, a boolean, or null for nothing; anything else as JSON. */
function boundedValue(value: unknown): unknown {
  if (value === undefined || value === null) return null;
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.slice(0, maxValueLength);
}

function fieldsOf(options: unknown): Field[] {
  if (!Array.isArray(options)) return [];
  return options
    .filter((field) => typeof field === 'object' && field !== null && !/^static-text$/.test(String(field.type)))
    .map((field: Raw) => ({
      id: String(field.id),
      type: String(field.type),
      label: String(field.label ?? ''),
      ...(field.default !== undefined && { default: field.default }),
    }));
}

function offersOf(definitions: readonly (readonly [string, Raw])[]): Offer[] {
  return definitions.slice(0, maxOffers).map(([id, { name, type, options }]) => ({
    id,
    name: String(name ?? ''),
    ...(typeof type === 'string' && { kind: type }),
    fields: fieldsOf(options),
  }));
}

function described(
  actions: readonly (readonly [string, Raw])[],
  feedbacks: readonly (readonly [string, Raw])[],
  variables: readonly (readonly [string, Raw])[],
): Omit<Description, 'config'> {
  const more = [actions, feedbacks, variables].reduce((sum, { length }) => sum + Math.max(0, length - maxOffers), 0);
  return {
    actions: offersOf(actions),
    feedbacks: offersOf(feedbacks),
    variables: variables.slice(0, maxOffers).map(([id, { name }]) => ({ id, name: String(name ?? '') })),
    more,
  };
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
  #actions: readonly Raw[] = [];
  #feedbacks: readonly Raw[] = [];
  #variables: readonly Raw[] = [];

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

  async fields(): Promise<readonly Field[]> {
    const { fields } = (await this.#call('getConfigFields', {})) as { readonly fields: unknown };
    return fieldsOf(fields);
  }

  async init(config: Options, secrets: Options): Promise<void> {
    const { label } = this.#start;
    // the config is the user's and of this version, so no upgrade script of the module may change it
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

  describe(): Omit<Description, 'config'> {
    const pairs = (all: readonly Raw[]) => all.map((one) => [String(one.id), one] as const);
    return described(pairs(this.#actions), pairs(this.#feedbacks), pairs(this.#variables));
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
        this.#variables = this.#start.describes ? ((payload() as { variables: Raw[] }).variables ?? []) : [];
        break;
      case 'setVariableValues': {
        if (!reporter.watchesVariables) break;
        const { newValues } = payload() as { readonly newValues: readonly { id: string; value: unknown }[] };
        const values = new Map(newValues.map(({ id, value }) => [id, value]));
        reporter.variables((variable) => (values.has(variable) ? { value: values.get(variable) } : undefined));
        break;
      }
      case 'updateFeedbackValues':
        for (const { id, value } of (payload() as { values: { id: string; value: unknown }[] }).values)
          reporter.value(id, value);
        break;
      case 'setActionDefinitions':
        this.#actions = this.#start.describes ? ((payload() as { actions: Raw[] }).actions ?? []) : [];
        break;
      case 'setFeedbackDefinitions':
        this.#feedbacks = this.#start.describes ? ((payload() as { feedbacks: Raw[] }).feedbacks ?? []) : [];
        break;
      case 'parseVariablesInString':
        answer(true, { text: (payload() as Raw).text, variableIds: [] });
        break;
      default:
        answer(false, { message: `the hub does not offer ${message.name}` });
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
  #variables: readonly (readonly [string, Raw])[] = [];
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

  async fields(): Promise<readonly Field[]> {
    return fieldsOf(await this.#instance.getConfigFields());
  }

  async init(config: Options, secrets: Options): Promise<void> {
    await this.#instance.init(config, false, secrets);
    await this.#check(() => true);
  }

  async act(action: string, options: Options): Promise<void> {
    const definition = this.#actions.get(action);
    if (definition?.callback === undefined) throw new Error(`expected an action of the module, got "${action}"`);
    const event = { id: action, controlId, actionId: action, options, surfaceId: undefined };
    await definition.callback(event, this.#callbackContext);
  }

  async destroy(): Promise<void> {
    await this.#instance.destroy();
  }

  describe(): Omit<Description, 'config'> {
    return described([...this.#actions], [...this.#feedbacks], this.#variables);
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
    const refuse = (what: string) => reporter.log('warn', `the hub does not offer ${what}`);
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
        this.#variables = Object.entries(variables);
      },
      setVariableValues: (values: Raw) => {
        for (const [id, value] of Object.entries(values)) this.#values.set(id, value);
        reporter.variables((variable) => (Object.hasOwn(values, variable) ? { value: values[variable] } : undefined));
      },
      getVariableValue: (id: string) => this.#values.get(id),
      sharedUdpSocketJoin: async () => {
        throw new Error('the hub does not offer shared UDP sockets');
      },
      sharedUdpSocketLeave: async () => {},
      sharedUdpSocketSend: async () => {},
    };
  }
}
