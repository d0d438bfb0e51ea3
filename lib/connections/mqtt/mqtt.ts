// The connection type `mqtt`: a broker's topics become parameters, the hub's parameters become topics, and devices can announce themselves.

import { Observable } from 'rxjs';
import { acceptedValue } from '../../device/payload.ts';
import type { ParameterDeclaration } from '../../model/parameter.ts';
import type { Value } from '../../model/value.ts';
import { type ConnectionContext, type ConnectionEvent, defineConnectionType } from '../connection.ts';
import { readExpected } from '../expected.ts';
import type { HubPort } from '../hub-port.ts';
import { Loss } from '../loss.ts';
import type { ResolvePath, SettingMistake } from '../setting.ts';
import { Bindings, declarationOf } from './bindings.ts';
import { Bridge } from './bridge.ts';
import { Broker } from './broker.ts';
import { Discovery, refusedId } from './discovery.ts';
import { compileParameters, type OpenTemplate } from './parameters.ts';
import { createTransports, type MqttSettings, settingsSchema } from './settings.ts';

const refusedDeclaration: ParameterDeclaration = {
  id: refusedId,
  type: 'S',
  access: 'read-only',
  about: {
    label: 'Refused',
    description: 'Device announcements that cannot be represented as parameters, with the reasons, as JSON',
  },
};

export const mqtt = defineConnectionType({
  type: 'mqtt',
  isExternal: true,
  settingsSchema,
  isSimulated: ({ simulate }) => simulate,
  durations: ['connectTimeout', 'keepAlive', 'hold'],
  parameters: (settings, resolvePath) => {
    const { bindings, open } = compileParameters(settings);
    return [
      ...bindings.map(declarationOf),
      ...expectedOf(settings, open, resolvePath).declarations,
      ...(settings.discover === undefined ? [] : [refusedDeclaration]),
    ];
  },
  secrets: ({ password }) => (password === '' ? [] : [password]),
  files: ({ expect, tls = {} }, resolvePath) => [
    ...(typeof expect === 'string' ? [resolvePath(expect)] : []),
    ...[tls.caFile, tls.certFile].flatMap((path) => (path === undefined ? [] : [resolvePath(path)])),
  ],
  privateFiles: ({ tls }, resolvePath) => (tls?.keyFile === undefined ? [] : [{ path: resolvePath(tls.keyFile) }]),
  mistakes: (settings, _, resolvePath) => mistakesOf(settings, resolvePath),
  run: (context, hub) => (context.settings.simulate ? simulate(context) : run(context, hub)),
});

function mistakesOf(settings: MqttSettings, resolvePath: ResolvePath): readonly SettingMistake[] {
  const { open, mistakes } = compileParameters(settings);
  const { url, hosts, tls = {}, username, password, parameters, bridge, discover } = settings;
  const found: SettingMistake[] = [...mistakes];
  if (Object.keys(tls).length > 0 && ![url, ...hosts].some((one) => /^(mqtts|wss):/.test(one)))
    found.push({ path: ['tls'], message: `expected an address with mqtts:// or wss:// for tls, got "${url}"` });
  if ((tls.certFile === undefined) !== (tls.keyFile === undefined))
    found.push({ path: ['tls'], message: 'expected both certFile and keyFile, or neither' });
  if (username === '' && password !== '')
    found.push({ path: ['password'], message: 'expected a username with the password' });
  if (Object.keys(parameters).length === 0 && bridge === undefined && discover === undefined)
    found.push({ path: [], message: 'expected at least one of `parameters`, `bridge` and `discover`' });
  return [...found, ...expectedOf(settings, open, resolvePath).mistakes];
}

function run(context: ConnectionContext<MqttSettings>, hub: HubPort | undefined): Observable<ConnectionEvent> {
  return new Observable((subscriber) => {
    const { settings, resolvePath, scheduler, log, finish } = context;
    const { bindings: declared, open } = compileParameters(settings);
    const expected = new Map(expectedOf(settings, open, resolvePath).declarations.map((one) => [one.id, one]));
    const emit = (event: ConnectionEvent) => subscriber.next(event);
    const loss = new Loss(settings, scheduler, () => bindings.forgetAll());
    const broker = new Broker(
      {
        transports: createTransports(settings, resolvePath),
        clientId: settings.clientId,
        username: settings.username,
        password: settings.password,
        version: settings.version,
        connectTimeoutMs: settings.connectTimeout,
        keepAliveMs: settings.keepAlive,
        status: statusTopic(settings),
        scheduler,
        log,
      },
      {
        opened: () => {
          bindings.opened();
          bridge?.opened();
        },
        retained: () => {
          bindings.retained();
          bridge?.retained();
        },
        ready: () => {
          loss.end();
          bindings.ready();
          emit({ state: 'running' });
        },
        away: (reason) => {
          emit({ state: 'degraded', reason: `${placeOf(settings)}: ${reason}` });
          bindings.away(reason);
          bridge?.away();
          loss.begin();
        },
        received: (topic, payload, isRetained, stamp) => {
          const isBound = bindings.received(topic, payload, isRetained);
          if (bridge?.received(topic, payload, isRetained, stamp) === true) return;
          if (discovery?.received(topic, payload, isRetained) !== true && !isBound)
            discovered.received(topic, payload, isRetained);
        },
        wire: (direction, bytes) => context.wire(direction, bytes),
      },
    );
    const bindings = new Bindings({ context, broker, emit });
    const discovered = new OpenTopics({ context, open, bindings, expected, emit });
    bindings.add(declared);
    bindings.add(
      [...expected.keys()].flatMap((id) => open.map((one) => one.bindId(id)).find((one) => one !== undefined) ?? []),
    );
    bindings.refuseUntilBound(expected.keys());
    broker.subscribe(open.map(({ filter }) => ({ topic: filter, isRetainedWanted: true })));
    const discovery =
      settings.discover === undefined
        ? undefined
        : new Discovery({ context, settings: settings.discover, bindings, broker, expected, emit });
    const status = statusTopic(settings);
    const bridge =
      settings.bridge === undefined || hub === undefined || status === undefined
        ? undefined
        : new Bridge({ context, hub, broker, settings: settings.bridge, status });
    broker.start();
    return () => {
      bridge?.stop();
      discovery?.stop();
      loss.end();
      bindings.stop();
      finish(broker.stop());
    };
  });
}

function placeOf({ url }: MqttSettings): string {
  return url.replace(/^\w+:\/\//, '').replace(/\/$/, '');
}

function statusTopic({ status, bridge }: MqttSettings): string | undefined {
  return status ?? (bridge === undefined ? undefined : `${bridge.prefix}/status`);
}

interface OpenTopicsOptions {
  readonly context: ConnectionContext<MqttSettings>;
  readonly open: readonly OpenTemplate[];
  readonly bindings: Bindings;
  readonly expected: ReadonlyMap<string, ParameterDeclaration>;
  emit(event: ConnectionEvent): void;
}

/** Declares the parameters of open templates as soon as messages arrive at their topics. */
class OpenTopics {
  readonly #options: OpenTopicsOptions;
  #count = 0;

  constructor(options: OpenTopicsOptions) {
    this.#options = options;
  }

  received(topic: string, payload: Buffer, isRetained: boolean): void {
    const { open, bindings, expected, context, emit } = this.#options;
    const fresh = open.flatMap((one) => one.bind(topic) ?? []).filter(({ id }) => bindings.get(id) === undefined);
    if (fresh.length === 0) return;
    const { maxDiscovered } = context.settings;
    if (this.#count + fresh.length > maxDiscovered) {
      context.log.warn({}, `more than ${maxDiscovered} parameters were discovered; one is left out`);
      return;
    }
    const undeclared = fresh.filter(({ id }) => !expected.has(id));
    this.#count += undeclared.length;
    if (undeclared.length > 0) emit({ declare: undeclared.map(declarationOf) });
    bindings.add(fresh);
    bindings.received(topic, payload, isRetained);
  }
}

/** Runs the connection without a broker and confirms every write immediately. */
function simulate(context: ConnectionContext<MqttSettings>): Observable<ConnectionEvent> {
  return new Observable((subscriber) => {
    const { settings, resolvePath } = context;
    const { bindings, open } = compileParameters(settings);
    const writings = [...bindings.map(declarationOf), ...expectedOf(settings, open, resolvePath).declarations].flatMap(
      ({ id, type, access, about = {} }) =>
        access === 'read-only'
          ? []
          : context
              .inbox(id, (input) => acceptedValue(type, about, input))
              .subscribe((value: Value) => {
                if (type !== 'T' && access === 'read-write')
                  subscriber.next({ set: id, value, because: context.cause() });
              }),
    );
    subscriber.next({ state: 'running' });
    subscriber.next({ stale: false });
    return () => {
      for (const writing of writings) writing.unsubscribe();
    };
  });
}

/** Returns the discovered parameters that the setting `expect` declares, and the mistakes in this setting. */
function expectedOf(
  settings: MqttSettings,
  open: readonly OpenTemplate[],
  resolvePath: ResolvePath,
): { readonly declarations: readonly ParameterDeclaration[]; readonly mistakes: readonly SettingMistake[] } {
  const { expect, discover } = settings;
  const bindingOf = (id: string) => open.map((one) => one.bindId(id)).find((one) => one !== undefined);
  const { list, mistakes } = readExpected(expect, resolvePath, (id, type) => {
    const binding = bindingOf(id);
    if (binding === undefined)
      return discover === undefined
        ? `unknown discovered parameter "${id}": no template of parameters fits`
        : undefined;
    return binding.type === type ? undefined : `expected the value type ${binding.type} of ${id}, got "${type}"`;
  });
  const declarations = list.map(({ id, type }): ParameterDeclaration => {
    const binding = bindingOf(id);
    return binding === undefined ? { id, type, access: 'read-write', isConfirmed: true } : declarationOf(binding);
  });
  return { declarations, mistakes };
}
