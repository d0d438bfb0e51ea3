// The connection type `device`: a device that a description describes. The hub reaches the device over TCP, UDP, WebSocket, HTTP or a
// serial port, or the device connects to the hub.

import { createHash } from 'node:crypto';
import { Observable } from 'rxjs';
import { createFramer, withMarks } from '../../device/frames.ts';
import { readRequest, writeRequest } from '../../device/http-message.ts';
import type { Transport } from '../../device/transport.ts';
import { asFileError, FileError, readRegularFileSync } from '../../files/regular-file.ts';
import { describe, HubError, messageOf } from '../../model/error.ts';
import { isJsonObject } from '../../model/json-object.ts';
import { KeptResults } from '../../model/kept-results.ts';
import type { ParameterDeclaration } from '../../model/parameter.ts';
import { convert, type Value } from '../../model/value.ts';
import { claimTcpPort } from '../claim.ts';
import {
  type ConnectionContext,
  type ConnectionEvent,
  defineConnectionType,
  type PlayedMessages,
  type WrittenMessage,
} from '../connection.ts';
import { Loss } from '../loss.ts';
import type { FileMistake, ResolvePath, SettingMistake } from '../setting.ts';
import { type Compilation, compileDescription } from './compile.ts';
import { type Compiled, declarationOf, type Instance } from './compiled.ts';
import { isProtocolName, protocolNames, readProtocol } from './description.ts';
import { Session, type SessionEvents } from './session.ts';
import {
  createTransports,
  type DeviceSettings,
  listenTarget,
  secretsIn,
  settingsSchema,
  transportOf,
} from './settings.ts';

/** The maximum size of a description, in bytes. */
const maxDescriptionBytes = 1_048_576;
/** The maximum number of compiled descriptions in the cache, which is keyed by text, variables and secrets. */
const keptCompilations = 200;
const compilations = new KeptResults<Compilation>(keptCompilations);

export const device = defineConnectionType({
  type: 'device',
  isExternal: true,
  settingsSchema,
  durations: ['connectTimeout', 'idleTimeout', 'hold'],
  parameters: (settings, resolvePath) => {
    const { compiled } = compileFor(settings, resolvePath);
    if (compiled === undefined) return [];
    const described = compiled.families.flatMap((family) =>
      family.isDiscovered ? [] : [...family.instances].map(declarationOf),
    );
    return [...described, ...expectedOf(settings, compiled, resolvePath).declarations];
  },
  presume: (settings, id, resolvePath) =>
    compileFor(settings, resolvePath).compiled === undefined ? { id, type: 'S', access: 'read-write' } : undefined,
  causes: (settings, resolvePath) => causesIn(compileFor(settings, resolvePath).compiled),
  files: ({ protocol, expect }, resolvePath) => [
    ...(isProtocolName(protocol) ? [] : [resolvePath(protocol)]),
    ...(typeof expect === 'string' ? [resolvePath(expect)] : []),
  ],
  secrets: secretsIn,
  claims: (settings) => {
    const target = listenTarget(settings);
    if (target !== undefined) return claimTcpPort(target.port, target.host);
    const { serial } = settings;
    const path = typeof serial === 'string' ? serial : serial?.path;
    return path === undefined ? [] : [{ kind: 'serial port', name: `serial port ${path}`, scope: '*' }];
  },
  fileMistakes: (settings, resolvePath, shownPath) => fileMistakesOf(settings, resolvePath, shownPath),
  mistakes: (settings, _, resolvePath) => mistakesOf(settings, resolvePath),
  isSimulated: ({ simulate }) => simulate,
  played: { messages: messagesOf, run },
  run: (context) => (context.settings.simulate ? simulate(context) : run(context)),
});

/** Runs the connection over `played`, a test's transport, or otherwise over the transports in the settings. */
function run(context: ConnectionContext<DeviceSettings>, played?: Transport): Observable<ConnectionEvent> {
  return new Observable((subscriber) => {
    const { settings, resolvePath, scheduler, log, finish, turn } = context;
    const compiled = compileToRun(settings, resolvePath);
    const instances = new Map<string, Instance>();
    const writers = new Writers(context, instances, (instance, value) =>
      session.write(instance, value, context.cause()),
    );
    const { declarations: expected } = expectedOf(settings, compiled, resolvePath);
    const isExpected = new Set(expected.map(({ id }) => id));
    const transports = played === undefined ? createTransports(settings, compiled, resolvePath) : [played];
    const place = transports[0]!.name;
    const forgetAll = () => {
      for (const { id, family } of instances.values()) if (family.type !== 'T') batch.add({ unset: id });
    };
    const loss = new Loss(settings, scheduler, forgetAll);
    const batch = new EventBatch((event) => subscriber.next(event), turn);
    const accept = (input: unknown, instance: Instance) => session.accept(instance, input);
    const events: SessionEvents = {
      set: (id, value, because) =>
        batch.add(
          value === undefined
            ? { unset: id }
            : because === undefined
              ? { set: id, value }
              : { set: id, value, because },
        ),
      settle: (id, error) => batch.add({ settle: id, error }),
      declare: (found) => {
        for (const instance of found) instances.set(instance.id, instance);
        const fresh = found.filter(({ id }) => !isExpected.has(id));
        if (fresh.length === 0) return;
        batch.flush(); // an earlier message may have led to the withdrawal of a parameter with this ID
        subscriber.next({ declare: fresh.map(declarationOf) });
        for (const { id, family } of fresh) writers.add(id, family.access, accept);
      },
      withdraw: (ids) => {
        for (const id of ids) instances.delete(id);
        for (const id of ids) if (isExpected.has(id)) batch.add({ unset: id });
        const gone = ids.filter((id) => !isExpected.has(id));
        for (const id of gone) writers.remove(id);
        if (gone.length > 0) batch.add({ withdraw: gone });
      },
      running: () => {
        loss.end();
        batch.add({ stale: false });
        batch.add({ state: 'running' });
      },
      away: (reason) => {
        batch.add({ state: 'degraded', reason: `${place}: ${reason}` });
        batch.add({ stale: true });
        loss.begin();
      },
      wire: (direction, bytes) => context.wire(direction, bytes),
      wireReceived: (frames, from, end) => context.wireReceived(frames, from, end),
      turn: (work) => batch.together(work),
      endMessage: () => batch.endMessage(),
    };
    const session = new Session(
      {
        connectionId: context.id,
        compiled,
        transports,
        scheduler,
        log,
        connectTimeoutMs: settings.connectTimeout ?? compiled.connectTimeoutMs,
        idleTimeoutMs: settings.idleTimeout ?? compiled.idleTimeoutMs,
        ...(played && { random: () => 1, soon: (work: () => void) => void scheduler.schedule(work) }),
      },
      events,
    );
    for (const family of compiled.families)
      if (!family.isDiscovered)
        for (const instance of family.instances) {
          instances.set(instance.id, instance);
          writers.add(instance.id, family.access, accept);
        }
    for (const { id, access } of expected) writers.add(id, access, accept);
    session.start();
    return () => {
      loss.end();
      writers.end();
      finish(session.stop());
    };
  });
}

/** Runs the connection without a device and confirms every write immediately. */
function simulate(context: ConnectionContext<DeviceSettings>): Observable<ConnectionEvent> {
  return new Observable((subscriber) => {
    const { settings, resolvePath } = context;
    const compiled = compileToRun(settings, resolvePath);
    const instances = new Map(
      compiled.families
        .flatMap((family) => (family.isDiscovered ? [] : [...family.instances]))
        .map((one) => [one.id, one]),
    );
    const session = new Session(
      {
        connectionId: context.id,
        compiled,
        transports: [],
        scheduler: context.scheduler,
        log: context.log,
        connectTimeoutMs: 1,
        idleTimeoutMs: undefined,
      },
      {
        set() {},
        settle() {},
        declare() {},
        withdraw() {},
        running() {},
        away() {},
        wire() {},
        wireReceived() {},
        turn: (work) => work(),
        endMessage() {},
      },
    );
    const writers = new Writers(context, instances, ({ id, family }, value) => {
      if (family.type !== 'T') subscriber.next({ set: id, value, because: context.cause() });
    });
    for (const instance of instances.values())
      writers.add(instance.id, instance.family.access, (input) => session.check(instance, input));
    for (const { id, type, access } of expectedOf(settings, compiled, resolvePath).declarations) {
      const values = new Map<string, Value>();
      const family = compiled.families.find((one) => one.isDiscovered && one.valuesOf(id) !== undefined)!;
      instances.set(id, { id, family, values: family.valuesOf(id) ?? values, setBy: 0 });
      writers.add(id, access, (input) => convert(type, input));
    }
    subscriber.next({ state: 'running' });
    subscriber.next({ stale: false });
    return () => writers.end();
  });
}

/**
 * Emits the events from several messages in order. Consecutive values are emitted in one turn. The values from a message are emitted before
 * the message's other events, because the device was online when it sent these values.
 */
class EventBatch {
  readonly #emit: (event: ConnectionEvent) => void;
  readonly #turn: (work: () => void) => void;
  #batch: ConnectionEvent[] | undefined;
  /** The index in the batch of the first event from the current message. */
  #from = 0;
  /** Whether the batch contains events other than values, and whether the current message does. */
  #isMixed = false;
  #isMessageMixed = false;

  constructor(emit: (event: ConnectionEvent) => void, turn: (work: () => void) => void) {
    this.#emit = emit;
    this.#turn = turn;
  }

  add(event: ConnectionEvent): void {
    if (this.#batch === undefined) {
      this.#emit(event);
      return;
    }
    this.#batch.push(event);
    if (!isValue(event)) this.#isMixed = this.#isMessageMixed = true;
  }

  together(work: () => void): void {
    this.#batch = [];
    try {
      work();
    } finally {
      const batch = this.#take();
      this.#batch = undefined;
      this.#emitAll(batch);
    }
  }

  /** Must be called after the events of each message. */
  endMessage(): void {
    const batch = this.#batch!;
    if (this.#isMessageMixed) sortFrom(batch, this.#from);
    this.#isMessageMixed = false;
    this.#from = batch.length;
  }

  /** Emits all events added since the last call. */
  flush(): void {
    if (this.#batch === undefined) return;
    const batch = this.#take();
    this.#batch = [];
    this.#emitAll(batch);
  }

  #take(): ConnectionEvent[] {
    this.endMessage();
    this.#from = 0;
    return this.#batch!;
  }

  #emitAll(batch: readonly ConnectionEvent[]): void {
    const isMixed = this.#isMixed;
    this.#isMixed = false;
    if (batch.length === 1) this.#emit(batch[0]!);
    else if (!isMixed && batch.length > 1)
      this.#turn(() => {
        for (const event of batch) this.#emit(event);
      });
    else if (isMixed) this.#emitRuns(batch);
  }

  #emitRuns(batch: readonly ConnectionEvent[]): void {
    for (let at = 0; at < batch.length; ) {
      const from = at;
      while (at < batch.length && isValue(batch[at]!)) at++;
      if (at - from > 1)
        this.#turn(() => {
          for (let place = from; place < at; place++) this.#emit(batch[place]!);
        });
      else this.#emit(batch[at === from ? at++ : from]!);
    }
  }
}

/** Moves the values from one message in front of its other events. */
function sortFrom(batch: ConnectionEvent[], from: number): void {
  const events = batch.splice(from);
  for (const event of events) if (isValue(event)) batch.push(event);
  for (const event of events) if (!isValue(event)) batch.push(event);
}

function isValue(event: ConnectionEvent): boolean {
  return 'set' in event || 'unset' in event || 'settle' in event;
}

/** The subscriptions to the writes of a connection's parameters. */
class Writers {
  readonly #context: ConnectionContext<DeviceSettings>;
  readonly #instances: ReadonlyMap<string, Instance>;
  readonly #write: (instance: Instance, value: Value) => void;
  readonly #subscriptions = new Map<string, { unsubscribe(): void }>();

  constructor(
    context: ConnectionContext<DeviceSettings>,
    instances: ReadonlyMap<string, Instance>,
    write: (instance: Instance, value: Value) => void,
  ) {
    this.#context = context;
    this.#instances = instances;
    this.#write = write;
  }

  /** Starts to accept writes to a parameter. `accept` checks each value. */
  add(id: string, access: ParameterDeclaration['access'], accept: (input: unknown, instance: Instance) => Value): void {
    if (access === 'read-only' || this.#subscriptions.has(id)) return;
    const accepted = (input: unknown) => {
      const instance = this.#instances.get(id);
      if (instance !== undefined) return accept(input, instance);
      throw new HubError('unavailable', `${this.#context.id}/${id}: the device currently does not have this parameter`);
    };
    const writing = this.#context.inbox(id, accepted).subscribe((value) => {
      const instance = this.#instances.get(id);
      if (instance !== undefined) this.#write(instance, value);
    });
    this.#subscriptions.set(id, writing);
  }

  remove(id: string): void {
    this.#subscriptions.get(id)?.unsubscribe();
    this.#subscriptions.delete(id);
  }

  end(): void {
    for (const writing of this.#subscriptions.values()) writing.unsubscribe();
    this.#subscriptions.clear();
  }
}

// Messages in tests, in the text format of `patchbay wire`, with or without the marks of a frame.

function messagesOf(settings: DeviceSettings, resolvePath: ResolvePath): PlayedMessages {
  const { framing, maxFrameBytes, format, encoding, isHttp } = compileToRun({ ...settings, secrets: {} }, resolvePath);
  if (isHttp) return httpMessages;
  const { name } = transportOf(settings);
  const keepsFrames = name === 'udp' || name === 'ws';
  const show = (frame: Uint8Array) => {
    const bytes = Buffer.from(frame);
    if (format === 'hex') return (bytes.toString('hex').match(/../g) ?? []).join(' ');
    const text = bytes.toString(encoding);
    return format === 'json' ? inOrder(text) : text;
  };
  return {
    transport: { keepsFrames, isPassive: name === 'listen' },
    show,
    read(written) {
      const bytes = bytesOf(written, format === 'hex', encoding);
      if (keepsFrames || framing === undefined) return { bytes, frames: [show(bytes)] };
      const framer = createFramer(framing, maxFrameBytes);
      const marked = withMarks(framing, bytes);
      return {
        bytes: marked,
        frames: [...framer.push(marked), ...framer.flush()].map((frame) => show(frame.toBuffer())),
      };
    },
  };
}

/** Compares HTTP requests regardless of the order of JSON keys. The body may also follow the path on the first line. */
const httpMessages: PlayedMessages = {
  transport: { keepsFrames: true, isPassive: false },
  show: (frame) => {
    const text = Buffer.from(frame).toString();
    const request = readRequest(text);
    if (request === undefined) return text;
    return writeRequest({ ...request, body: request.body === undefined ? undefined : inOrder(request.body) });
  },
  read(written) {
    const bytes = bytesOf(written, false, 'utf8');
    return { bytes, frames: [httpMessages.show(bytes)] };
  },
};

function bytesOf(written: WrittenMessage, isHex: boolean, encoding: BufferEncoding): Buffer {
  const hex = typeof written !== 'string' ? 'hex' in written && written.hex : isHex && written;
  if (hex === false)
    return Buffer.from(typeof written === 'string' ? written : (written as { text: string }).text, encoding);
  if (!/^\s*(?:[\da-f]{2}\s*)+$/i.test(hex))
    throw new Error(`expected bytes in hex such as "81 01 FF", got ${describe(hex)}`);
  return Buffer.from(hex.replaceAll(/\s/g, ''), 'hex');
}

/** Returns JSON with its keys sorted. Strings that are not JSON are returned unchanged. */
function inOrder(text: string): string {
  const sorted = (_: string, value: unknown) =>
    isJsonObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value;
  try {
    return JSON.stringify(JSON.parse(text), sorted);
  } catch {
    return text;
  }
}

// The description that a connection uses, which is built-in or comes from a file.

/** Compiles the description or returns it from the cache. A check compiles the description without secrets. */
function compileFor(
  { protocol, variables, ...settings }: DeviceSettings,
  resolvePath: ResolvePath,
  secrets: DeviceSettings['secrets'] = {},
): Compilation {
  try {
    const text = textOf({ protocol, variables, ...settings }, resolvePath);
    const key = createHash('sha256')
      .update(JSON.stringify([protocol, text, variables, secrets]))
      .digest('base64');
    return compilations.get(key) ?? compilations.keep(key, compileDescription(protocol, text, { variables, secrets }));
  } catch (error) {
    const message = messageOf(error);
    return {
      compiled: undefined,
      mistakes: [{ file: protocol, path: '', message, line: undefined, column: undefined }],
    };
  }
}

/**
 * Compiles the description for a connection that is starting. Errors: `cannot-start` if the description has become invalid since the flow
 * files were loaded.
 */
function compileToRun(settings: DeviceSettings, resolvePath: ResolvePath): Compiled {
  const { compiled, mistakes } = compileFor(settings, resolvePath, settings.secrets);
  if (compiled !== undefined) return compiled;
  throw new HubError('cannot-start', `protocol: ${mistakes[0]?.message ?? 'it has errors'}`);
}

/** Returns the text of the description in the settings. Errors: `FileError` with a readable message. */
function textOf({ protocol }: DeviceSettings, resolvePath: ResolvePath): string {
  if (isProtocolName(protocol)) return readProtocol(protocol);
  try {
    return readRegularFileSync(resolvePath(protocol), maxDescriptionBytes).toString();
  } catch (error) {
    const { message } = asFileError(error);
    throw new Error(`expected a description of at most ${maxDescriptionBytes} bytes in ${protocol}, got ${message}`);
  }
}

/** Returns the mistakes in a description file that belongs to the user. */
function fileMistakesOf(
  settings: DeviceSettings,
  resolvePath: ResolvePath,
  shownPath: ResolvePath,
): readonly FileMistake[] {
  const { protocol, variables } = settings;
  if (isProtocolName(protocol) || !isPath(protocol)) return [];
  try {
    return compileDescription(shownPath(protocol), textOf(settings, resolvePath), { variables, secrets: {} }).mistakes;
  } catch {
    return []; // a missing file is reported as a mistake in the setting
  }
}

/**
 * Returns a function that lists the parameters whose writes may change a given parameter. A write to a parameter that has no value itself,
 * such as a player's `next`, may change all parameters that the hub asks for afterwards.
 */
function causesIn(compiled: Compiled | undefined): (id: string) => Iterable<string> {
  const sources = new Map<string, string[]>();
  for (const { isRead, isDiscovered, write, instances } of compiled?.families ?? []) {
    if (isRead || isDiscovered || write === undefined) continue;
    const written = Array.from(instances, ({ id }) => id);
    const asked = write.asksThen.flatMap((name) => compiled!.groups.get(name) ?? []);
    for (const { families } of asked)
      for (const family of families)
        for (const { id } of family.instances) sources.set(id, [...(sources.get(id) ?? []), ...written]);
  }
  return (id) => sources.get(id) ?? [];
}

function isPath(protocol: string): boolean {
  return /[./\\]/.test(protocol);
}

function mistakesOf(settings: DeviceSettings, resolvePath: ResolvePath): readonly SettingMistake[] {
  const { protocol, variables, secrets } = settings;
  if (!isPath(protocol) && !isProtocolName(protocol))
    return [{ path: ['protocol'], unknown: 'protocol', name: protocol, known: protocolNames() }];
  const { compiled, mistakes } = compileFor(settings, resolvePath);
  if (compiled === undefined) return [{ path: ['protocol'], message: mistakes[0]?.message ?? 'it has errors' }];
  const found: SettingMistake[] = [];
  const { name, port } = transportOf(settings);
  const { http, auth, tls } = settings;
  if (auth !== undefined && http === undefined)
    found.push({ path: ['auth'], message: 'allowed only with http; other devices use secrets' });
  if (http !== undefined && tls !== false && !/^https:/i.test(http))
    found.push({ path: ['tls'], message: 'expected https:// in http to encrypt the link, got http://' });
  const isPossible = compiled.transports.includes(name);
  if (!isPossible)
    found.push({
      path: [name],
      message: `expected ${compiled.transports.join(' or ')}, the transports of ${protocol}, got ${name}`,
    });
  if (isPossible && ['tcp', 'udp'].includes(name) && port === undefined && compiled.port === undefined)
    found.push({
      path: [name],
      message: `expected host:port, because ${protocol} has no default port, got "${String(settings[name as 'tcp'])}"`,
    });
  if (isPossible && compiled.framing === undefined && ['tcp', 'listen', 'serial'].includes(name))
    found.push({
      path: [name],
      message: `expected ws or udp, because ${protocol} has no frame, got ${name}`,
    });
  for (const [variable] of Object.entries(variables))
    if (!Object.hasOwn(compiled.variables, variable))
      found.push({
        path: ['variables', variable],
        unknown: 'variable',
        name: variable,
        known: Object.keys(compiled.variables),
      });
  for (const secret of Object.keys(secrets))
    if (!compiled.secretNames.includes(secret))
      found.push({ path: ['secrets', secret], unknown: 'secret', name: secret, known: compiled.secretNames });
  return [...found, ...expectedOf(settings, compiled, resolvePath).mistakes];
}

/** Returns the discovered parameters that the setting `expect` declares, and the mistakes in this setting. */
function expectedOf(
  { expect }: DeviceSettings,
  compiled: Compiled,
  resolvePath: ResolvePath,
): { readonly declarations: readonly ParameterDeclaration[]; readonly mistakes: readonly SettingMistake[] } {
  const declarations = new Map<string, ParameterDeclaration>();
  const mistakes: SettingMistake[] = [];
  const lines = typeof expect === 'string' ? linesOfFile(expect, compiled, resolvePath) : expect;
  if (typeof lines === 'string') return { declarations: [], mistakes: [{ path: ['expect'], message: lines }] };
  for (const [index, line] of lines.entries()) {
    const path = typeof expect === 'string' ? ['expect'] : ['expect', index];
    const at = line.lastIndexOf(',');
    const [id, type] = [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    const family = compiled.families.find((one) => one.isDiscovered && one.valuesOf(id) !== undefined);
    if (family === undefined) {
      const known = compiled.families.filter(({ isDiscovered }) => isDiscovered).map(({ name }) => name);
      const message = known.length === 0 ? 'the description declares none' : `expected one of ${known.join(', ')}`;
      mistakes.push({ path, message: `"${id}" does not match any discovered parameter: ${message}` });
    } else if (family.type !== type)
      mistakes.push({ path, message: `expected the value type ${family.type} for ${family.name}, got "${type}"` });
    else if (declarations.has(id)) mistakes.push({ path, message: `expected each parameter once, got "${id}" twice` });
    else declarations.set(id, declarationOf({ id, family, values: new Map(), setBy: 0 }));
  }
  return { declarations: [...declarations.values()], mistakes };
}

/**
 * Returns the lines of a file such as `{"input/Mic/muted":"B"}` that name parameters not declared by the description. Returns a message if
 * the file is invalid.
 */
function linesOfFile(file: string, compiled: Compiled, resolvePath: ResolvePath): readonly string[] | string {
  const isDeclared = new Set(compiled.families.flatMap((family) => Array.from(family.instances, ({ id }) => id)));
  try {
    const data: unknown = JSON.parse(readRegularFileSync(resolvePath(file), maxDescriptionBytes).toString());
    if (!isJsonObject(data)) return `expected an object of value types by Parameter ID in ${file}`;
    const types = Object.entries(data).filter(([id]) => !isDeclared.has(id));
    return types.map(([id, type]) => `${id},${String(type)}`);
  } catch (error) {
    const reason = messageOf(error);
    if (error instanceof FileError) return `expected the output of patchbay types --of in ${file}, got ${reason}`;
    return `cannot read ${file} as output of patchbay types --of: ${reason}`;
  }
}
