// A process that plays Home Assistant's WebSocket API, written from its published documentation alone: developers.home-assistant.io, "WebSocket
// API", the pages of the entities, and the messages of the official client. It imports nothing of the hub.

import { createServer as createHttp, type Server } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';

/** What the process is told at its start. */
export interface ServerTask {
  readonly port: number;
  readonly token?: string;
  /** Before 2022.4 there is no `subscribe_entities`, before 2022.9 no `supported_features`. */
  readonly version?: string;
  /** How many further lights there are, `light.many_1` and so on. */
  readonly lights?: number;
  /** Home Assistant is starting, and has not all entities yet, until it is told `started`. */
  readonly isStarting?: boolean;
  readonly key?: string;
  readonly cert?: string;
}

type Attributes = Record<string, unknown>;

/** What it is told later. */
export type ServerMessage =
  | { readonly set: readonly [id: string, state: string, attributes?: Attributes] }
  | { readonly drop: readonly [id: string, attribute: string] }
  | { readonly remove: string }
  | { readonly rename: readonly [from: string, to: string] }
  | { readonly area: readonly [area: string, ids: readonly string[]] }
  | { readonly changesPerSecond: number }
  | { readonly raw: string }
  | { readonly bytes: number }
  | { readonly silent: boolean }
  | { readonly slow: number }
  | 'started'
  | 'close'
  | 'calls';

interface State {
  state: string;
  attributes: Attributes;
  changed: number;
  updated: number;
  context: string;
}

interface Client {
  readonly socket: WebSocket;
  isSignedIn: boolean;
  lastId: number;
  coalesces: boolean;
  queue: string[];
  isFlushing: boolean;
  /** Subscriptions to entities and to events. */
  readonly entities: Map<number, ReadonlySet<string> | undefined>;
  readonly events: Map<number, string | undefined>;
}

type Message = Record<string, unknown>;

class Refused extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

if (process.send !== undefined) {
  process.once('disconnect', () => process.exit());
  process.once('message', (task: ServerTask) => {
    void serve(task).then((told) => {
      process.on('message', (message: ServerMessage) => told(message));
      process.send!('ready');
    });
  });
}

let contexts = 0;
const newContext = () => `01HA${String(++contexts).padStart(22, '0')}`;

async function serve(task: ServerTask): Promise<(message: ServerMessage) => void> {
  const { token = 'a-long-token', version = '2026.11.0', lights = 0 } = task;
  const [year = 0, month = 0] = version.split('.').map(Number);
  const isSince = (sinceYear: number, sinceMonth: number) =>
    year > sinceYear || (year === sinceYear && month >= sinceMonth);
  const states = new Map<string, State>();
  const clients = new Set<Client>();
  const areas = new Map<string, readonly string[]>([['kitchen', ['light.kitchen', 'sensor.temperature']]]);
  const calls: string[] = [];
  let isStarting = task.isStarting === true;
  let isSilent = false;
  let slowMs = 0;

  // states

  const put = (id: string, state: string, attributes: Attributes) => {
    const now = Date.now() / 1000;
    states.set(id, { state, attributes, changed: now, updated: now, context: newContext() });
  };
  const full = (id: string) => {
    const { state, attributes, changed, updated, context } = states.get(id)!;
    return {
      ...{ entity_id: id, state, attributes },
      ...{ last_changed: new Date(changed * 1000).toISOString(), last_updated: new Date(updated * 1000).toISOString() },
      context: { id: context, parent_id: null, user_id: null },
    };
  };
  const compressed = ({ state, attributes, changed, updated, context }: State) => ({
    ...{ s: state, a: attributes, c: context, lc: changed },
    ...(updated !== changed && { lu: updated }),
  });
  const publish = (id: string, event: Message, before: unknown) => {
    for (const client of clients) {
      for (const [subscription, ids] of client.entities)
        if (ids === undefined || ids.has(id)) send(client, { id: subscription, type: 'event', event });
    }
    const after = states.has(id) ? full(id) : null;
    fire('state_changed', { entity_id: id, old_state: before, new_state: after });
  };
  const fire = (type: string, data: Message) => {
    const context = { id: newContext(), parent_id: null, user_id: null };
    const event = { event_type: type, data, origin: 'LOCAL', time_fired: new Date().toISOString(), context };
    for (const client of clients)
      for (const [subscription, only] of client.events)
        if (only === undefined || only === type) send(client, { id: subscription, type: 'event', event });
  };
  /** Sets a state as Home Assistant does: an equal one is no event, and attributes are compared one by one. */
  const set = (id: string, state: string, attributes: Attributes, isWhole = false) => {
    const old = states.get(id);
    if (old === undefined) {
      put(id, state, attributes);
      publish(id, { a: { [id]: compressed(states.get(id)!) } }, null);
      return;
    }
    const before = full(id);
    const next = isWhole ? attributes : { ...old.attributes, ...attributes };
    const added = Object.fromEntries(
      Object.entries(next).filter(([name, value]) => JSON.stringify(old.attributes[name]) !== JSON.stringify(value)),
    );
    const removed = Object.keys(old.attributes).filter((name) => !(name in next));
    if (state === old.state && Object.keys(added).length + removed.length === 0) return;
    const now = Date.now() / 1000;
    const plus: Message = { c: newContext() };
    if (state !== old.state) Object.assign(plus, { s: state, lc: now });
    else plus.lu = now;
    if (Object.keys(added).length > 0) plus.a = added;
    states.set(id, {
      ...{ state, attributes: next, changed: state === old.state ? old.changed : now, updated: now },
      context: String(plus.c),
    });
    publish(id, { c: { [id]: { '+': plus, ...(removed.length > 0 && { '-': { a: removed } }) } } }, before);
  };
  const remove = (id: string) => {
    if (!states.has(id)) return;
    const before = full(id);
    states.delete(id);
    publish(id, { r: [id] }, before);
  };

  // the house

  const name = (friendly: string) => ({ friendly_name: friendly });
  const colorful = {
    ...{ supported_color_modes: ['color_temp', 'rgb'], color_mode: null, brightness: null, rgb_color: null },
    ...{ min_color_temp_kelvin: 2000, max_color_temp_kelvin: 6500, color_temp_kelvin: null },
    ...{ effect_list: ['none', 'colorloop'], effect: null, supported_features: 44 },
  };
  const house: Record<string, readonly [string, Attributes]> = {
    'light.kitchen': ['off', { ...colorful, ...name('Kitchen') }],
    'light.plain': [
      'on',
      { supported_color_modes: ['onoff'], color_mode: 'onoff', supported_features: 0, ...name('Plain') },
    ],
    'switch.socket': ['off', name('Socket')],
    'sensor.temperature': [
      '21.5',
      { unit_of_measurement: '°C', device_class: 'temperature', state_class: 'measurement', ...name('Temperature') },
    ],
    'sensor.phase': ['idle', { device_class: 'enum', options: ['idle', 'busy'], ...name('Phase') }],
    'binary_sensor.door': ['on', { device_class: 'door', ...name('Door') }],
    'number.level': [
      '20.0',
      { min: 0, max: 100, step: 0.5, mode: 'slider', unit_of_measurement: '%', ...name('Level') },
    ],
    'select.scene': ['day', { options: ['day', 'night'], ...name('Scene') }],
    'button.bell': ['unknown', name('Bell')],
    'cover.blind': ['closed', { current_position: 0, device_class: 'blind', supported_features: 15, ...name('Blind') }],
    'climate.living': [
      'heat',
      {
        ...{ hvac_modes: ['off', 'heat'], min_temp: 7, max_temp: 35, target_temp_step: 0.5, temperature: 20 },
        ...{ current_temperature: 19.4, hvac_action: 'heating', supported_features: 385, ...name('Living') },
      },
    ],
    'lock.front': ['locked', { supported_features: 0, ...name('Front') }],
    'media_player.radio': [
      'idle',
      {
        ...{ volume_level: 0.3, is_volume_muted: false, source_list: ['A', 'B'], source: 'A' },
        ...{ supported_features: 20_877, ...name('Radio') },
      },
    ],
    'event.doorbell': ['unknown', { event_types: ['press', 'hold'], event_type: null, ...name('Doorbell') }],
    'text.message': ['', { mode: 'text', min: 0, max: 255, ...name('Message') }],
    'scene.evening': ['unknown', name('Evening')],
    'camera.door': ['idle', name('Camera')],
    'sun.sun': ['above_horizon', { elevation: 12.5, ...name('Sun') }],
  };
  const furnish = () => {
    for (const [id, [state, attributes]] of Object.entries(house)) if (!states.has(id)) set(id, state, attributes);
    for (let number = 1; number <= lights; number++)
      if (!states.has(`light.many_${number}`))
        set(`light.many_${number}`, number % 2 === 0 ? 'on' : 'off', {
          ...{ supported_color_modes: ['brightness'], brightness: number % 2 === 0 ? (number % 250) + 5 : null },
          ...{ supported_features: 0, ...name(`Many ${number}`) },
        });
  };
  if (isStarting) put('light.kitchen', ...([...house['light.kitchen']!] as [string, Attributes]));
  else furnish();

  // service actions

  const numeric = (data: Message, key: string) => {
    if (typeof data[key] !== 'number')
      throw new Refused('invalid_format', `expected float for dictionary value @ data['${key}']`);
    return data[key];
  };
  const actions: Record<string, (id: string, data: Message, state: State) => void> = {
    'light.turn_on': (id, data, { attributes }) => {
      const more: Attributes = {};
      const hasModes = !(attributes.supported_color_modes as string[]).includes('onoff');
      if ('brightness_pct' in data) more.brightness = Math.round(numeric(data, 'brightness_pct') * 2.55);
      if ('brightness' in data) more.brightness = Math.round(numeric(data, 'brightness'));
      else if (hasModes && attributes.brightness === null) more.brightness ??= 255;
      if (more.brightness === 0) {
        set(id, 'off', { brightness: null });
        return;
      }
      for (const key of ['color_temp_kelvin', 'rgb_color', 'effect']) if (key in data) more[key] = data[key];
      set(id, 'on', more);
    },
    'light.turn_off': (id, _, { attributes }) => set(id, 'off', 'brightness' in attributes ? { brightness: null } : {}),
    'switch.turn_on': (id) => set(id, 'on', {}),
    'switch.turn_off': (id) => set(id, 'off', {}),
    'number.set_value': (id, data, { attributes }) => {
      const value = numeric(data, 'value');
      const { min, max, step } = attributes as { min: number; max: number; step: number };
      if (value < min || value > max)
        throw new Refused(
          'service_validation_error',
          `Value ${value} for ${id} is outside valid range ${min} - ${max}`,
        );
      set(id, String(Math.round(value / step) * step), {});
    },
    'select.select_option': (id, { option }, { attributes }) => {
      if (!(attributes.options as unknown[]).includes(option))
        throw new Refused(
          'service_validation_error',
          `Option ${option} is not valid for entity ${id}, valid options are: ${attributes.options}`,
        );
      set(id, String(option), {});
    },
    'button.press': (id) => set(id, new Date().toISOString(), {}),
    'cover.open_cover': (id) => move(id, 100),
    'cover.close_cover': (id) => move(id, 0),
    'cover.stop_cover': (id) => move(id, Number(states.get(id)!.attributes.current_position)),
    'cover.set_cover_position': (id, data) => move(id, numeric(data, 'position')),
    'climate.set_temperature': (id, data) =>
      set(id, states.get(id)!.state, { temperature: numeric(data, 'temperature') }),
    'climate.set_hvac_mode': (id, { hvac_mode: mode }) =>
      set(id, String(mode), { hvac_action: mode === 'off' ? 'off' : 'idle' }),
    'climate.turn_off': (id) => set(id, 'off', { hvac_action: 'off' }),
    'climate.turn_on': (id) => set(id, 'heat', { hvac_action: 'idle' }),
    'lock.lock': (id) => {
      set(id, 'locking', {});
      setTimeout(() => set(id, 'locked', {}), 100);
    },
    'lock.unlock': (id) => {
      set(id, 'unlocking', {});
      setTimeout(() => set(id, 'unlocked', {}), 100);
    },
    'media_player.volume_set': (id, data) =>
      set(id, states.get(id)!.state, { volume_level: numeric(data, 'volume_level') }),
    'media_player.volume_mute': (id, data) => set(id, states.get(id)!.state, { is_volume_muted: data.is_volume_muted }),
    'media_player.select_source': (id, { source }) => set(id, 'playing', { source }),
    'text.set_value': (id, { value }) => set(id, String(value), {}),
    'scene.turn_on': (id) => set(id, new Date().toISOString(), {}),
  };
  const moves = new Map<string, NodeJS.Timeout>();
  const move = (id: string, target: number) => {
    clearInterval(moves.get(id));
    const step = () => {
      const at = Number(states.get(id)?.attributes.current_position);
      const next = at + Math.sign(target - at) * Math.min(10, Math.abs(target - at));
      const isThere = next === target;
      if (isThere) clearInterval(moves.get(id));
      set(id, isThere ? (next === 0 ? 'closed' : 'open') : target > at ? 'opening' : 'closing', {
        current_position: next,
      });
    };
    moves.set(id, setInterval(step, 50));
    step();
  };
  const call = async (message: Message): Promise<unknown> => {
    const { domain, service, service_data: data = {}, target } = message;
    if (typeof domain !== 'string' || typeof service !== 'string')
      throw new Refused(
        'invalid_format',
        "Message incorrectly formatted: expected str for dictionary value @ data['service']",
      );
    for (const key of Object.keys(message))
      if (!['id', 'type', 'domain', 'service', 'service_data', 'target', 'return_response'].includes(key))
        throw new Refused('invalid_format', `extra keys not allowed @ data['${key}']`);
    const wanted = (target as { entity_id?: string | string[] } | undefined)?.entity_id ?? [];
    const ids = [wanted].flat();
    calls.push(`${domain}.${service}${ids.length > 0 ? ` ${ids}` : ''} ${JSON.stringify(data)}`);
    if (slowMs > 0) await new Promise((resolve) => setTimeout(resolve, slowMs));
    const isKnown = `${domain}.${service}` in actions || ['notify', 'homeassistant', 'script'].includes(domain);
    if (!isKnown) throw new Refused('not_found', `Action ${domain}.${service} not found.`);
    const run = (id: string) => {
      const state = states.get(id); // an entity that does not exist is no error
      const own = domain === 'homeassistant' ? `${id.split('.')[0]}.${service}` : `${domain}.${service}`;
      if (state !== undefined && state.state !== 'unavailable') actions[own]?.(id, data as Message, state);
    };
    for (const id of ids) run(id);
    return { context: { id: newContext(), parent_id: null, user_id: 'user' }, response: null };
  };

  // messages

  const flush = (client: Client) => {
    client.isFlushing = false;
    const messages = client.queue.splice(0);
    if (client.socket.readyState !== client.socket.OPEN || isSilent) return;
    if (client.coalesces && messages.length > 1) client.socket.send(`[${messages.join(',')}]`);
    else for (const message of messages) client.socket.send(message);
  };
  const send = (client: Client, message: Message) => {
    client.queue.push(JSON.stringify(message));
    if (client.isFlushing) return;
    client.isFlushing = true;
    setImmediate(() => flush(client));
  };
  const result = (client: Client, id: unknown, value: unknown = null) =>
    send(client, { id, type: 'result', success: true, result: value });
  const handlers: Record<string, (client: Client, id: number, message: Message) => unknown> = {
    ping: (client, id) => send(client, { id, type: 'pong' }),
    get_states: (client, id) => result(client, id, [...states.keys()].map(full)),
    get_config: (client, id) =>
      result(client, id, {
        ...{ version, state: isStarting ? 'STARTING' : 'RUNNING', location_name: 'Home' },
        unit_system: { temperature: '°C', length: 'km' },
      }),
    get_services: (client, id) => {
      const all: Record<string, Record<string, unknown>> = {};
      for (const key of Object.keys(actions)) {
        const [domain = '', action = ''] = key.split('.');
        all[domain] = { ...all[domain], [action]: { fields: {}, target: {} } };
      }
      result(client, id, all);
    },
    'auth/current_user': (client, id) =>
      result(client, id, { id: 'user', name: 'Hub', is_admin: false, is_owner: false }),
    subscribe_events(client, id, { event_type: type }) {
      client.events.set(id, type as string | undefined);
      result(client, id);
    },
    unsubscribe_events(client, id, { subscription }) {
      const isKnown = client.events.delete(Number(subscription)) || client.entities.delete(Number(subscription));
      if (!isKnown) throw new Refused('not_found', 'Subscription not found.');
      result(client, id);
    },
    call_service: async (client, id, message) => result(client, id, await call(message)),
    ...(isSince(2022, 4) && {
      subscribe_entities(client: Client, id: number, { entity_ids: ids }: Message) {
        const some = new Set((ids ?? []) as string[]);
        const only = some.size === 0 ? undefined : some; // an empty list means all
        client.entities.set(id, only);
        result(client, id);
        const chosen = [...states].filter(([one]) => only?.has(one) !== false);
        send(client, {
          ...{ id, type: 'event' },
          event: { a: Object.fromEntries(chosen.map(([one, state]) => [one, compressed(state)])) },
        });
      },
    }),
    ...(isSince(2022, 9) && {
      supported_features(client: Client, id: number, { features }: Message) {
        client.coalesces = (features as Record<string, unknown>).coalesce_messages === 1;
        result(client, id);
      },
    }),
    ...(isSince(2025, 9) && {
      extract_from_target(client: Client, id: number, { target }: Message) {
        const { area_id: wanted = [], label_id: labels = [] } = target as { area_id?: string[]; label_id?: string[] };
        result(client, id, {
          referenced_entities: wanted.flatMap((area) => areas.get(area) ?? []),
          ...{ referenced_devices: [], referenced_areas: wanted, missing_devices: [], missing_floors: [] },
          missing_areas: wanted.filter((area) => !areas.has(area)),
          missing_labels: labels,
        });
      },
    }),
  };
  const take = async (client: Client, message: Message) => {
    const { id, type } = message;
    if (typeof id !== 'number' || !Number.isInteger(id) || id < 1 || typeof type !== 'string') {
      send(client, {
        id: id ?? null,
        type: 'result',
        success: false,
        error: { code: 'invalid_format', message: 'Message incorrectly formatted.' },
      });
      return;
    }
    const fail = (code: string, text: string) =>
      send(client, { id, type: 'result', success: false, error: { code, message: text } });
    if (id <= client.lastId) {
      fail('id_reuse', 'Identifier values have to increase.');
      return;
    }
    client.lastId = id;
    const handler = handlers[type];
    if (handler === undefined) {
      fail('unknown_command', 'Unknown command.');
      return;
    }
    try {
      await handler(client, id, message);
    } catch (error) {
      if (error instanceof Refused) fail(error.code, error.message);
      else fail('unknown_error', 'Unknown error');
    }
  };
  const receive = (client: Client, data: RawData) => {
    if (isSilent) return;
    let json: unknown;
    try {
      json = JSON.parse(String(data));
    } catch {
      client.socket.close();
      return;
    }
    if (client.isSignedIn) {
      for (const message of [json].flat()) void take(client, message as Message);
      return;
    }
    const { type, access_token: given } = json as Message;
    if (type === 'auth' && given === token) {
      client.isSignedIn = true;
      client.socket.send(JSON.stringify({ type: 'auth_ok', ha_version: version }));
    } else {
      const text = type === 'auth' ? 'Invalid access token or password' : 'Auth message incorrectly formatted';
      client.socket.send(JSON.stringify({ type: 'auth_invalid', message: text }));
      client.socket.close();
    }
  };

  const { key, cert } = task;
  const http: Server = key === undefined ? createHttp() : (createHttps({ key, cert }) as unknown as Server);
  new WebSocketServer({ server: http, path: '/api/websocket' }).on('connection', (socket) => {
    const client: Client = {
      ...{ socket, isSignedIn: false, lastId: 0, coalesces: false, queue: [], isFlushing: false },
      ...{ entities: new Map(), events: new Map() },
    };
    clients.add(client);
    socket.on('error', () => {});
    socket.on('close', () => clients.delete(client));
    socket.on('message', (data) => receive(client, data));
    if (!isSilent) socket.send(JSON.stringify({ type: 'auth_required', ha_version: version }));
  });
  await new Promise<void>((resolve) => http.listen(task.port, '127.0.0.1', resolve));

  let flooding: NodeJS.Timeout | undefined;
  let turn = 0;
  const flood = (perSecond: number) => {
    clearInterval(flooding);
    if (perSecond === 0) return;
    let sent = 0;
    const fromMs = performance.now();
    flooding = setInterval(() => {
      const due = ((performance.now() - fromMs) / 1000) * perSecond;
      for (; sent < due; sent++) {
        const number = (turn++ % lights) + 1;
        set(`light.many_${number}`, 'on', { brightness: (Math.floor(turn / lights) % 250) + 1 });
      }
    }, 10);
  };
  return (message) => {
    if (message === 'calls') process.send!({ calls: calls.splice(0), turn });
    else if (message === 'started') {
      isStarting = false;
      furnish();
    } else if (message === 'close') for (const { socket } of clients) socket.close();
    else if ('set' in message) set(message.set[0], message.set[1], message.set[2] ?? {});
    else if ('drop' in message) {
      const { state, attributes } = states.get(message.drop[0])!;
      const { [message.drop[1]]: _, ...others } = attributes;
      set(message.drop[0], state, others, true);
    } else if ('remove' in message) remove(message.remove);
    else if ('rename' in message) {
      const [from, to] = message.rename;
      const { state, attributes } = states.get(from)!;
      remove(from);
      set(to, state, attributes);
      fire('entity_registry_updated', { action: 'update', entity_id: to, old_entity_id: from, changes: {} });
    } else if ('area' in message) {
      areas.set(message.area[0], message.area[1]);
      fire('entity_registry_updated', { action: 'update', entity_id: message.area[1][0], changes: { area_id: null } });
    } else if ('changesPerSecond' in message) flood(message.changesPerSecond);
    else if ('raw' in message) for (const { socket } of clients) socket.send(message.raw);
    else if ('bytes' in message) for (const { socket } of clients) socket.send(`"${'x'.repeat(message.bytes)}"`);
    else if ('silent' in message) isSilent = message.silent;
    else slowMs = message.slow;
  };
}
