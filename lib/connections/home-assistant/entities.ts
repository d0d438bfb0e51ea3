// Home Assistant entities as parameters. After each sign-in, the hub subscribes to the entities, receives their complete state, compares it
// with the state that it has, and then follows the changes. An entity that is unavailable, or no longer exists, makes only its own values
// stale.

import { Subscription } from 'rxjs';
import type { Transport } from '../../device/transport.ts';
import { parameterIdMistake } from '../../model/address.ts';
import { globToRegExp } from '../../model/glob.ts';
import { isJsonObject } from '../../model/json-object.ts';
import type { ParameterDeclaration } from '../../model/parameter.ts';
import { maxTextLength, type ValueType } from '../../model/value.ts';
import type { ConnectionContext, ConnectionEvent } from '../connection.ts';
import { aboutPart, isKept, isShape, type Part, partsIn, partsOf, readPart, typeOf } from './kinds.ts';
import { type Outcome, Session } from './session.ts';
import { domainOf, type HomeAssistantSettings, type Item } from './settings.ts';
import { isConfirmed, type Live, type LiveEntity, Writes } from './writes.ts';

/** The maximum number of entities in a message that the hub processes. */
export const maxEntities = 100_000;
/** The pause before the hub asks again for the entities of areas and labels after a change in the registry, in milliseconds. */
const registryPauseMs = 1000;
/** How often the hub asks whether Home Assistant has started, in milliseconds. */
const startingEveryMs = 5000;
/** The maximum number of renamed entities that the hub remembers. */
const maxRenamed = 1000;
/** The maximum number of entities that a reason names. */
const namedEntities = 3;

interface Entity extends LiveEntity {
  state: string;
  attributes: Record<string, unknown>;
  readonly domain: string;
  readonly lives: Live[];
  /** The attributes that the settings name. */
  readonly extra: Set<string>;
  /** Whether the settings name the entity. */
  isStatic: boolean;
  /** Whether Home Assistant has reported the entity since the last subscription. */
  isThere: boolean;
  isStale: boolean;
}

export interface EntitiesOptions {
  readonly context: ConnectionContext<HomeAssistantSettings>;
  readonly transports: readonly Transport[];
  /** The parameters that the settings define. */
  readonly items: readonly Item[];
  emit(event: ConnectionEvent): void;
  online(): void;
  offline(): void;
  random?(): number;
}

export class Entities {
  readonly #options: EntitiesOptions;
  readonly #session: Session;
  readonly #writes: Writes;
  readonly #entities = new Map<string, Entity>();
  /** The parameters that only call a service action. */
  readonly #actions: Live[] = [];
  readonly #lives = new Map<string, Live>();
  /** Whether the globs in the settings include or exclude an entity. */
  readonly #globs: { isIncluded(entityId: string): boolean; isExcluded(entityId: string): boolean };
  /** The entities that belong to the areas and labels in the settings. */
  #selected: ReadonlySet<string> = new Set();
  readonly #renamed = new Map<string, string>();
  #subscription: number | undefined;
  #isReady = false;
  /** Whether the received message contained the complete state. */
  #isComplete = false;
  #isStarting = false;
  /** The areas and labels that Home Assistant does not have. */
  #missingPlaces: readonly string[] = [];
  #temperature = '°C';
  #discovered = 0;
  #timers = new Subscription();
  #asking: Subscription | undefined;
  /** Whether further parameters had to be left out. */
  #isFull = false;
  // The effects of a message, until all of them are known.
  #fresh: Live[] = [];
  #gone: string[] = [];
  #values: (() => void)[] = [];

  constructor(options: EntitiesOptions) {
    const { context, transports, items, random } = options;
    this.#options = options;
    this.#globs = globsOf(context.settings);
    this.#session = new Session({
      ...{ context, transports, signedIn: () => this.#signedIn(), taken: () => this.#apply() },
      away: (reason) => this.#away(reason),
      ...(random && { random }),
    });
    this.#writes = new Writes({
      ...{ context, emit: options.emit, whyNot: (live) => this.#whyNot(live), isReady: () => this.#isReady },
      unsentBytes: () => this.#session.unsentBytes,
      call: (command, done) => this.#session.send(command, { done }),
    });
    for (const item of items) this.#addStatic(item);
  }

  start(): void {
    this.#session.start();
  }

  stop(): Promise<void> {
    this.#timers.unsubscribe();
    this.#asking?.unsubscribe();
    for (const { writing, timer } of this.#lives.values()) {
      writing?.unsubscribe();
      timer?.unsubscribe();
    }
    this.#writes.drop('the connection was stopped');
    return this.#session.stop();
  }

  /** Makes all values unknown. */
  forget(): void {
    this.#options.context.turn(() => {
      for (const { id, type } of this.#lives.values()) if (type !== 'T') this.#options.emit({ unset: id });
    });
  }

  #addStatic({ id, entityId, name, part, type }: Item): void {
    const entity = entityId === undefined ? undefined : (this.#entities.get(entityId) ?? this.#createEntity(entityId));
    const live = createLive(id, type, name, part, entity, true);
    live.own = this.#options.context.own(id);
    this.#lives.set(id, live);
    if (entity === undefined) this.#actions.push(live);
    else {
      entity.isStatic = true;
      entity.lives.push(live);
      for (const attribute of [part.attribute, ...(part.needs ?? [])])
        if (attribute !== undefined) entity.extra.add(attribute);
    }
    if (part.call !== undefined) live.writing = this.#writes.accept(live);
  }

  #createEntity(id: string): Entity {
    const entity: Entity = {
      ...{ id, domain: domainOf(id), state: 'unavailable', attributes: {}, lives: [], extra: new Set() },
      ...{ isStatic: false, isThere: false, isStale: true },
    };
    this.#entities.set(id, entity);
    return entity;
  }

  #whyNot({ entity }: Live): string | undefined {
    if (!this.#isReady) return 'Home Assistant is offline';
    if (entity === undefined) return undefined;
    const known = this.#entities.get(entity.id);
    if (known?.isThere !== true) return this.#whyMissing(entity.id);
    return known.isStale ? `Home Assistant reports ${entity.id} as unavailable` : undefined;
  }

  #whyMissing(entityId: string): string {
    const now = this.#renamed.get(entityId);
    return now === undefined
      ? `Home Assistant has no entity ${entityId}`
      : `Home Assistant has renamed ${entityId} to ${now}; change the settings`;
  }

  // The session.

  #signedIn(): void {
    const { settings } = this.#options.context;
    const { areas = [], labels = [] } = settings.discover ?? {};
    this.#timers = new Subscription();
    this.#isReady = false;
    this.#session.send({ type: 'supported_features', features: { coalesce_messages: 1 } });
    this.#askConfig();
    const hasPlaces = areas.length + labels.length > 0;
    for (const event of (hasPlaces ? 'entity device area label' : 'entity').split(' '))
      this.#session.send(
        { type: 'subscribe_events', event_type: `${event}_registry_updated` },
        { event: (data) => this.#registryChanged(data) },
      );
    if (hasPlaces) this.#askPlaces();
    else this.#subscribe();
  }

  #away(reason: string): void {
    const { emit, offline, transports } = this.#options;
    this.#isReady = false;
    this.#isComplete = false;
    this.#values = [];
    this.#timers.unsubscribe();
    this.#asking?.unsubscribe();
    this.#asking = undefined;
    this.#subscription = undefined;
    this.#writes.drop(`Home Assistant is offline: ${reason}`);
    for (const entity of this.#entities.values()) entity.isStale = true;
    emit({ state: 'degraded', reason: `${transports[0]!.name}: ${reason}` });
    emit({ stale: true });
    offline();
  }

  #askConfig(): void {
    this.#session.send(
      { type: 'get_config' },
      {
        done: (outcome) => {
          const config = 'result' in outcome && isJsonObject(outcome.result) ? outcome.result : {};
          const { unit_system: units, state } = config;
          const unit = isJsonObject(units) ? units.temperature : undefined;
          if (typeof unit === 'string') this.#temperature = unit.slice(0, 20);
          this.#isStarting = typeof state === 'string' && state !== 'RUNNING';
          if (this.#isStarting)
            this.#timers.add(this.#options.context.scheduler.schedule(() => this.#askConfig(), startingEveryMs));
          if (this.#isReady) {
            this.#dropMissing();
            this.#showState();
          }
        },
      },
    );
  }

  /** Asks which entities belong to the areas and labels, and subscribes to these entities. */
  #askPlaces(): void {
    const { areas = [], labels = [] } = this.#options.context.settings.discover ?? {};
    const target = { area_id: areas, label_id: labels };
    const done = (outcome: Outcome) => {
      if ('error' in outcome) {
        this.#session.fail(`cannot read the entities of the areas and labels: ${outcome.error.message}`);
        return;
      }
      const result = isJsonObject(outcome.result) ? outcome.result : {};
      const found = new Set(textsIn(result.referenced_entities));
      this.#missingPlaces = [
        ...textsIn(result.missing_areas).map((id) => `area ${id}`),
        ...textsIn(result.missing_labels).map((id) => `label ${id}`),
      ];
      const isSame = found.size === this.#selected.size && [...found].every((id) => this.#selected.has(id));
      this.#selected = found;
      if (this.#isReady) this.#showState();
      if (isSame && this.#subscription !== undefined) return;
      if (this.#subscription !== undefined) this.#session.unsubscribe(this.#subscription);
      this.#subscribe();
    };
    this.#session.send({ type: 'extract_from_target', target }, { done });
  }

  #registryChanged(event: unknown): void {
    const { data } = isJsonObject(event) ? event : {};
    const { action, old_entity_id: before, entity_id: now } = isJsonObject(data) ? data : {};
    if (action === 'update' && typeof before === 'string' && typeof now === 'string') {
      this.#renamed.delete(now);
      const [oldest] = this.#renamed.keys();
      if (this.#renamed.size >= maxRenamed) this.#renamed.delete(oldest!);
      this.#renamed.set(before.slice(0, 255), now.slice(0, 255));
      if (this.#isReady) this.#showState();
    }
    const { areas = [], labels = [] } = this.#options.context.settings.discover ?? {};
    if (areas.length + labels.length === 0 || this.#asking !== undefined) return;
    this.#asking = this.#options.context.scheduler.schedule(() => {
      this.#asking = undefined;
      this.#askPlaces();
    }, registryPauseMs);
  }

  /** Subscribes to the entities. The first event contains their complete state. */
  #subscribe(): void {
    const { discover } = this.#options.context.settings;
    const ids = new Set(this.#selected);
    for (const entity of this.#entities.values()) {
      entity.isThere = false;
      if (entity.isStatic) ids.add(entity.id);
      else if (!this.#isDiscovered(entity.id)) this.#forgetEntity(entity);
    }
    const isAll = (discover?.include.length ?? 0) > 0;
    if (!isAll && ids.size === 0) {
      this.#subscription = undefined; // an empty list would mean all entities
      this.#complete();
      return;
    }
    let isFirst = true;
    this.#subscription = this.#session.send(
      { type: 'subscribe_entities', ...(!isAll && { entity_ids: [...ids] }) },
      {
        event: (event) => {
          const { a, c, r } = isJsonObject(event) ? event : {};
          for (const [id, one] of entriesOf(a)) if (isJsonObject(one)) this.#add(id, one.s, one.a, isFirst);
          for (const [id, one] of entriesOf(c)) if (isJsonObject(one)) this.#change(id, one['+'], one['-']);
          for (const id of textsIn(r)) this.#remove(id);
          if (isFirst) this.#complete();
          isFirst = false;
        },
        done: (outcome) => {
          if (!('error' in outcome)) return;
          if (outcome.error.code === 'unknown_command') this.#subscribeToEvents();
          else this.#session.fail(`Home Assistant reported: ${outcome.error.message}`);
        },
      },
    );
  }

  /** Does the same with a Home Assistant before version 2022.4. Events that arrive before the complete state are already part of it. */
  #subscribeToEvents(): void {
    let isFirst = true;
    this.#subscription = this.#session.send(
      { type: 'subscribe_events', event_type: 'state_changed' },
      {
        event: (event) => {
          const { data } = isJsonObject(event) ? event : {};
          if (isFirst || !isJsonObject(data) || typeof data.entity_id !== 'string') return;
          const { new_state: state } = data;
          if (isJsonObject(state)) this.#add(data.entity_id, state.state, state.attributes, false);
          else this.#remove(data.entity_id);
        },
      },
    );
    const done = (outcome: Outcome) => {
      const states = 'result' in outcome && Array.isArray(outcome.result) ? outcome.result : [];
      for (const one of states.slice(0, maxEntities))
        if (isJsonObject(one) && typeof one.entity_id === 'string')
          this.#add(one.entity_id, one.state, one.attributes, true);
      isFirst = false;
      this.#complete();
    };
    this.#session.send({ type: 'get_states' }, { done });
  }

  /** Called when the complete state has arrived. */
  #complete(): void {
    this.#isReady = true;
    this.#isComplete = true;
    this.#session.prove();
    this.#dropMissing();
  }

  /** Removes the discovered entities that Home Assistant no longer has. While Home Assistant is starting, such entities are only stale. */
  #dropMissing(): void {
    for (const entity of this.#entities.values())
      if (!entity.isThere && !entity.isStatic && !this.#isStarting) this.#forgetEntity(entity);
  }

  /** Reports the effects of a message: first the new parameters, then all values as one turn. */
  #apply(): void {
    const { emit, context, online } = this.#options;
    const isComplete = this.#isComplete;
    this.#isComplete = false;
    if (this.#gone.length > 0) emit({ withdraw: this.#gone.splice(0) });
    const fresh = this.#fresh.splice(0).filter((live) => this.#lives.get(live.id) === live);
    if (fresh.length > 0) {
      emit({ declare: fresh.map(declarationOf) });
      for (const live of fresh) {
        live.own = context.own(live.id);
        if (live.part.call !== undefined) live.writing ??= this.#writes.accept(live);
      }
    }
    const values = this.#values.splice(0);
    if (values.length > 0 || isComplete)
      context.turn(() => {
        if (isComplete) {
          online();
          emit({ stale: false });
          for (const { id, isStale } of this.#entities.values()) emit({ stale: isStale, device: id });
        }
        for (const set of values) set();
      });
    if (isComplete) this.#showState();
    if (this.#isFull) {
      this.#isFull = false;
      const { maxDiscovered } = context.settings;
      context.log.warn({}, `more than ${maxDiscovered} parameters were discovered; further parameters are left out`);
    }
  }

  #showState(): void {
    const { emit, transports } = this.#options;
    const missing = [...this.#entities.values()].filter(({ isStatic, isThere }) => isStatic && !isThere);
    const reasons = [
      ...(this.#isStarting ? ['Home Assistant is still starting'] : []),
      ...missing.slice(0, namedEntities).map(({ id }) => this.#whyMissing(id)),
      ...(missing.length > namedEntities ? [`${missing.length - namedEntities} more entities are missing`] : []),
      ...this.#missingPlaces.slice(0, namedEntities).map((place) => `Home Assistant has no ${place}`),
    ];
    if (reasons.length === 0) emit({ state: 'running' });
    else emit({ state: 'degraded', reason: `${transports[0]!.name}: ${reasons.join('; ')}` });
  }

  // Entities.

  #isDiscovered(entityId: string): boolean {
    const { isIncluded, isExcluded } = this.#globs;
    return (this.#selected.has(entityId) || isIncluded(entityId)) && !isExcluded(entityId);
  }

  #add(id: string, state: unknown, attributes: unknown, isInitial: boolean): void {
    if (typeof state !== 'string') return;
    let entity = this.#entities.get(id);
    if (entity === undefined) {
      if (!this.#isDiscovered(id)) return;
      if (this.#discovered >= this.#options.context.settings.maxDiscovered) {
        this.#isFull = true;
        return;
      }
      if (partsOf(domainOf(id)) === undefined || parameterIdMistake(id) !== undefined) return;
      entity = this.#createEntity(id);
    }
    const { extra } = entity;
    const wasThere = entity.isThere;
    entity.isThere = true;
    entity.state = state.slice(0, maxTextLength);
    entity.attributes = Object.fromEntries(
      Object.entries(isJsonObject(attributes) ? attributes : {}).filter(([name]) => isKept(name) || extra.has(name)),
    );
    this.#shape(entity);
    this.#report(entity, isInitial);
    if (!wasThere && entity.isStatic && this.#isReady) this.#values.push(() => this.#showState());
  }

  #change(id: string, added: unknown, removed: unknown): void {
    const entity = this.#entities.get(id);
    if (entity?.isThere !== true) return;
    const { s, a } = isJsonObject(added) ? added : {};
    let isReshaped = entity.state === 'unavailable';
    if (typeof s === 'string') entity.state = s.slice(0, maxTextLength);
    for (const [name, value] of entriesOf(a)) {
      if (!isKept(name) && !entity.extra.has(name)) continue;
      entity.attributes[name] = value;
      if (isShape(name)) isReshaped = true;
    }
    for (const name of textsIn(isJsonObject(removed) ? removed.a : undefined)) {
      delete entity.attributes[name];
      if (isShape(name)) isReshaped = true;
    }
    if (isReshaped) this.#shape(entity);
    this.#report(entity, false);
  }

  #remove(id: string): void {
    const entity = this.#entities.get(id);
    if (entity === undefined) return;
    if (!entity.isStatic) {
      this.#forgetEntity(entity);
      return;
    }
    entity.isThere = false;
    this.#setStale(entity, true);
    const reason = this.#whyMissing(id);
    for (const live of entity.lives) this.#writes.end(live, reason);
    this.#values.push(() => this.#showState());
  }

  #forgetEntity(entity: Entity): void {
    this.#entities.delete(entity.id);
    for (const live of entity.lives) this.#forgetLive(live, this.#whyMissing(entity.id));
  }

  #forgetLive(live: Live, reason: string): void {
    live.writing?.unsubscribe();
    this.#writes.end(live, reason);
    this.#lives.delete(live.id);
    this.#discovered--;
    if (live.key !== '') this.#gone.push(live.id);
  }

  /** Adds the parameters that an entity has, and updates their metadata. The parameters of an unavailable entity stay as they are. */
  #shape(entity: Entity): void {
    const { id, domain, attributes, lives } = entity;
    if (entity.state === 'unavailable' && lives.some(({ key }) => key !== '')) return;
    if (this.#isDiscovered(id)) for (const [name, part] of partsIn(domain, attributes)) this.#bind(entity, name, part);
    for (const live of lives) {
      live.about = aboutPart(live.name, live.part, attributes, this.#temperature);
      const key = JSON.stringify(declarationOf(live));
      if (key === live.key) continue;
      live.key = key;
      this.#fresh.push(live);
    }
  }

  /** Gives a part of an entity its parameter in the hub. */
  #bind(entity: Entity, name: string, part: Part): void {
    const id = name === '' ? entity.id : `${entity.id}/${name}`;
    const type: ValueType = typeOf(entity.domain, name, part, entity.attributes);
    const known = this.#lives.get(id);
    if (known !== undefined) {
      if (known.isStatic || known.type === type) return;
      this.#forgetLive(known, 'its value type has changed');
      entity.lives.splice(entity.lives.indexOf(known), 1);
    }
    if (parameterIdMistake(id) !== undefined) return;
    if (this.#discovered >= this.#options.context.settings.maxDiscovered) {
      this.#isFull = true;
      return;
    }
    this.#discovered++;
    const live = createLive(id, type, name, part, entity, false);
    this.#lives.set(id, live);
    entity.lives.push(live);
  }

  #setStale(entity: Entity, isStale: boolean): void {
    if (entity.isStale === isStale) return;
    entity.isStale = isStale;
    if (this.#isReady) this.#values.push(() => this.#options.emit({ stale: isStale, device: entity.id }));
  }

  #report(entity: Entity, isInitial: boolean): void {
    const isAvailable = entity.state !== 'unavailable';
    this.#setStale(entity, !isAvailable);
    for (const live of entity.lives) {
      if (!isAvailable) this.#writes.end(live, `Home Assistant reports ${entity.id} as unavailable`);
      else this.#reportLive(live, entity, isInitial);
    }
  }

  /** Adds the value of a parameter, or the event of a trigger. A message may contain several events. */
  #reportLive(live: Live, entity: Entity, isInitial: boolean): void {
    const { emit } = this.#options;
    const { id, part, type } = live;
    if (part.isWriteOnly === true) return;
    if (part.fired !== undefined) {
      const fired = part.fired(entity);
      if (fired === undefined) return;
      if (!isInitial && fired !== live.lastFired)
        this.#values.push(() => emit({ set: id, own: live.own, value: true }));
      live.lastFired = fired;
      return;
    }
    const value = readPart(part, type, entity);
    if (value === null) return;
    this.#values.push(() => {
      this.#writes.heard(live);
      if (value !== undefined) this.#writes.report(live, value, isInitial && live.own?.value === undefined);
      else if (live.own?.value !== undefined) emit({ unset: id });
    });
  }
}

function createLive(
  id: string,
  type: ValueType,
  name: string,
  part: Part,
  entity: LiveEntity | undefined,
  isStatic: boolean,
): Live {
  return {
    ...{ id, type, name, part, entity, isStatic, about: {}, key: '', own: undefined, writing: undefined },
    ...{ lastFired: undefined, waiting: [], called: undefined, wanted: undefined, timer: undefined, timesLeft: 0 },
  };
}

/** Returns the declaration of a parameter, with the entity as its device. */
export function declarationOf(live: Pick<Live, 'id' | 'type' | 'part' | 'about' | 'entity'>): ParameterDeclaration {
  const { id, type, part, about, entity } = live;
  return {
    ...{ id, type, access: part.call === undefined ? 'read-only' : isReadable(live) ? 'read-write' : 'write-only' },
    ...(isConfirmed(live) && { isConfirmed: true }),
    ...(Object.keys(about).length > 0 && { about }),
    ...(entity !== undefined && { device: entity.id }),
  };
}

function isReadable({ part }: Pick<Live, 'part'>): boolean {
  return part.isWriteOnly !== true;
}

function entriesOf(value: unknown): readonly (readonly [string, unknown])[] {
  return isJsonObject(value) ? Object.entries(value).slice(0, maxEntities) : [];
}

function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value)
    ? value.filter((one): one is string => typeof one === 'string').slice(0, maxEntities)
    : [];
}

/** Returns functions that check whether an entity matches the globs in the settings. */
function globsOf({ discover }: HomeAssistantSettings) {
  const matcher = (globs: readonly string[] = []) => {
    const patterns = globs.map(globToRegExp);
    return (entityId: string) => patterns.some((pattern) => pattern.test(entityId));
  };
  return { isIncluded: matcher(discover?.include), isExcluded: matcher(discover?.exclude) };
}
