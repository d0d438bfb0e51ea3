// Converts the discovery documents of devices that announce themselves to parameters. When a document arrives again, only the differences
// take effect: unchanged parameters remain, and missing parameters are withdrawn. The parameter `refused` lists everything that could not
// be converted to a parameter, with the reasons.

import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { Payload } from '../../device/payload.ts';
import { parameterIdMistake } from '../../model/address.ts';
import { messageOf } from '../../model/error.ts';
import type { ParameterDeclaration } from '../../model/parameter.ts';
import { maxTextLength } from '../../model/value.ts';
import type { ConnectionContext, ConnectionEvent } from '../connection.ts';
import { type Binding, type Bindings, declarationOf } from './bindings.ts';
import { selectBy } from './bridge.ts';
import type { Broker } from './broker.ts';
import { entitiesIn, placeIn } from './documents.ts';
import { describeEntity } from './entities.ts';
import type { MqttSettings } from './settings.ts';
import { tasmotaDevice } from './tasmota.ts';
import { shellyDevice, shellyFilters, zigbeeDevices } from './vendors.ts';

/**
 * The maximum number of discovery documents, and their maximum size in bytes. A Zigbee2MQTT device list may be larger, up to
 * `maxPacketBytes`.
 */
export const maxDocuments = 20_000;
export const maxDocumentBytes = 262_144;
/** The maximum number of refused documents in the list. */
export const maxRefused = 500;

/** The ID of the parameter that lists the refused documents. */
export const refusedId = 'refused';

export interface DiscoveryOptions {
  readonly context: ConnectionContext<MqttSettings>;
  readonly settings: NonNullable<MqttSettings['discover']>;
  readonly bindings: Bindings;
  readonly broker: Broker;
  /** The parameters that are already declared, keyed by Parameter ID. */
  readonly expected: ReadonlyMap<string, ParameterDeclaration>;
  emit(event: ConnectionEvent): void;
}

interface Known {
  readonly declaration: ParameterDeclaration;
  /** The key of the document that describes the parameter. */
  readonly key: string;
}

export class Discovery {
  readonly #options: DiscoveryOptions;
  readonly #homeAssistant: string | undefined;
  readonly #zigbee2mqtt: string | undefined;
  readonly #tasmota: string | undefined;
  readonly #isAllowed: (topic: string) => boolean;
  readonly #isDenied: (topic: string) => boolean;
  readonly #known = new Map<string, Known>();
  /** The Parameter IDs that each document describes, keyed by document key. */
  readonly #documents = new Map<string, ReadonlySet<string>>();
  /**
   * The digests of the documents that were applied, keyed by document key. If an identical document arrives again, for example after a
   * restart of Home Assistant, nothing changes.
   */
  readonly #digests = new Map<string, string>();
  readonly #refused = new Map<string, readonly string[]>();
  readonly #tasmotaParts = new Map<string, { config?: unknown; sensors?: unknown }>();
  readonly #zigbeeAddresses = new Set<string>();
  /** The bindings found in documents since the last round of the event loop, keyed by Parameter ID. */
  #found = new Map<string, Binding>();
  #declares: ParameterDeclaration[] = [];
  #isPending = false;
  #isStopped = false;

  constructor(options: DiscoveryOptions) {
    const { settings, broker } = options;
    const { homeAssistant, zigbee2mqtt, tasmota, shelly, allow, deny } = settings;
    this.#options = options;
    this.#homeAssistant = prefixOf(homeAssistant, 'homeassistant');
    this.#zigbee2mqtt = prefixOf(zigbee2mqtt, 'zigbee2mqtt');
    this.#tasmota = prefixOf(tasmota, 'tasmota/discovery');
    this.#isAllowed = selectBy(allow);
    this.#isDenied = selectBy(deny);
    const filters = [
      ...(this.#homeAssistant === undefined
        ? []
        : [`${this.#homeAssistant}/+/+/config`, `${this.#homeAssistant}/+/+/+/config`]),
      ...(this.#zigbee2mqtt === undefined ? [] : [`${this.#zigbee2mqtt}/bridge/devices`]),
      ...(this.#tasmota === undefined ? [] : [`${this.#tasmota}/+/config`, `${this.#tasmota}/+/sensors`]),
      ...(shelly ? shellyFilters : []),
    ];
    broker.subscribe(filters.map((topic) => ({ topic, isRetainedWanted: true })));
  }

  /** Handles a message. Returns false if the topic is not a discovery topic. */
  received(topic: string, bytes: Buffer, isRetained: boolean): boolean {
    try {
      return this.#read(topic, bytes, isRetained);
    } catch (error) {
      this.#options.context.log.warn({ topic }, `cannot read ${topic}: ${messageOf(error)}`, 'cannot read document');
      return true;
    }
  }

  stop(): void {
    this.#isStopped = true;
  }

  #read(topic: string, bytes: Buffer, isRetained: boolean): boolean {
    const payload = new Payload(bytes);
    if (this.#zigbee2mqtt !== undefined && topic === `${this.#zigbee2mqtt}/bridge/devices`) {
      this.#takeZigbee(payload, this.#zigbee2mqtt);
      return true;
    }
    if (this.#tasmota !== undefined && topic.startsWith(`${this.#tasmota}/`)) {
      if (this.#isShort(topic, bytes)) this.#takeTasmota(topic.slice(this.#tasmota.length + 1), payload);
      return true;
    }
    const place = this.#homeAssistant === undefined ? undefined : placeIn(topic, this.#homeAssistant);
    if (place !== undefined) {
      // a document from this hub, or from another hub if NATS connects their brokers
      if (place.node?.startsWith('patchbay_') === true) return true;
      if (!this.#isShort(topic, bytes) || this.#isTaken(topic, bytes)) return true;
      const described = payload.isEmpty
        ? []
        : entitiesIn(place, payload.json).map(([one, document]) => ({ one, ...describeEntity(one, document) }));
      const refused = described.flatMap(({ one, refused }) => refused.map((reason) => `${one.object}: ${reason}`));
      if (!payload.isEmpty && payload.json === undefined) refused.push('it is not JSON');
      this.#take(
        topic,
        described.flatMap(({ bindings }) => bindings),
        refused,
      );
      return true;
    }
    if (!this.#options.settings.shelly) return false;
    const shelly = shellyDevice(topic, payload);
    if (shelly === undefined) return topic.startsWith('shellies/');
    const known = this.#documents.get(shelly.key);
    if (known !== undefined && shelly.bindings.every(({ id }) => known.has(id))) return true;
    const ids = new Set(shelly.bindings.map(({ id }) => id));
    const others = [...(known ?? [])].flatMap((id) => (ids.has(id) ? [] : (this.#options.bindings.get(id) ?? [])));
    this.#take(shelly.key, [...others, ...shelly.bindings], []);
    this.#flush(); // immediately, because the same message also contains values
    this.#options.bindings.received(topic, bytes, isRetained);
    return true;
  }

  #isShort(topic: string, { length }: Buffer): boolean {
    if (length <= maxDocumentBytes) return true;
    this.#take(topic, [], [`it is longer than ${maxDocumentBytes} bytes`]);
    return false;
  }

  #takeZigbee(payload: Payload, base: string): void {
    const devices = zigbeeDevices(payload.isEmpty ? [] : payload.json, base);
    for (const address of this.#zigbeeAddresses) if (!devices.has(address)) this.#take(`zigbee ${address}`, [], []);
    this.#zigbeeAddresses.clear();
    for (const [address, { text, describe }] of devices) {
      this.#zigbeeAddresses.add(address);
      if (this.#isTaken(`zigbee ${address}`, text)) continue;
      const { bindings, refused } = describe();
      this.#take(`zigbee ${address}`, bindings, refused);
    }
  }

  #takeTasmota(rest: string, payload: Payload): void {
    const [mac = '', kind] = rest.split('/');
    const parts = this.#tasmotaParts.get(mac) ?? {};
    if (kind === 'config') parts.config = payload.isEmpty ? undefined : payload.json;
    else parts.sensors = payload.isEmpty ? undefined : payload.json;
    if (parts.config === undefined && parts.sensors === undefined) this.#tasmotaParts.delete(mac);
    else if (this.#tasmotaParts.size < maxDocuments) this.#tasmotaParts.set(mac, parts);
    if (this.#isTaken(`tasmota ${mac}`, JSON.stringify(parts))) return;
    const { bindings, refused } = tasmotaDevice(mac, parts.config, parts.sensors);
    this.#take(`tasmota ${mac}`, bindings, refused);
  }

  /** Returns whether a document equals the last document with the same key. If the document differs, stores its digest. */
  #isTaken(key: string, document: string | Buffer): boolean {
    const digest = createHash('sha1').update(document).digest('base64');
    if (this.#digests.get(key) === digest && this.#documents.has(key)) return true;
    this.#digests.set(key, digest);
    return false;
  }

  /** Applies the parameters in a document. They replace the parameters in the previous version of the document. */
  #take(key: string, bindings: readonly Binding[], reasons: readonly string[]): void {
    const refused = [...reasons];
    const before = this.#documents.get(key) ?? new Set();
    const ids = new Set<string>();
    const { expected, context } = this.#options;
    for (const binding of bindings) {
      const { id, type } = binding;
      const topic = binding.topic ?? binding.write?.topic ?? '';
      const other = this.#known.get(id);
      const mistake = parameterIdMistake(id);
      if (!this.#isAllowed(topic) || this.#isDenied(topic)) continue;
      if (mistake !== undefined) refused.push(mistake);
      else if (other !== undefined && other.key !== key) {
        refused.push(`${id} is also described by ${other.key}`);
        this.#digests.delete(key); // the other document may be withdrawn later
      } else if (expected.has(id) && expected.get(id)!.type !== type)
        refused.push(`${id}: expected the value type ${expected.get(id)!.type} of the setting expect, got ${type}`);
      else if (other === undefined && this.#known.size >= context.settings.maxDiscovered)
        refused.push(`${id}: the limit of ${context.settings.maxDiscovered} parameters is reached`);
      else {
        ids.add(id);
        this.#add(key, binding);
      }
    }
    const gone = [...before].filter((id) => !ids.has(id));
    if (gone.length > 0) this.#remove(gone);
    if (ids.size === 0) {
      this.#documents.delete(key);
      this.#digests.delete(key);
    } else this.#documents.set(key, ids);
    this.#list(key, refused);
  }

  #add(key: string, binding: Binding): void {
    const { id } = binding;
    const declaration = declarationOf(binding);
    const known = this.#known.get(id)?.declaration;
    if (
      known !== undefined &&
      (known.type !== declaration.type || known.access !== declaration.access || known.device !== declaration.device)
    )
      this.#remove([id]);
    if (!isDeepStrictEqual(this.#known.get(id)?.declaration, declaration)) this.#declares.push(declaration);
    this.#known.set(id, { declaration, key });
    this.#found.set(id, binding);
    this.#soon();
  }

  #remove(ids: readonly string[]): void {
    this.#flush();
    const { bindings, expected, emit } = this.#options;
    for (const id of ids) this.#known.delete(id);
    bindings.remove(ids);
    const withdrawn = ids.filter((id) => !expected.has(id));
    const kept = ids.flatMap((id) => expected.get(id) ?? []);
    for (const { id } of kept) emit({ unset: id });
    if (kept.length > 0) emit({ declare: kept });
    bindings.refuseUntilBound(kept.map(({ id }) => id));
    if (withdrawn.length > 0) emit({ withdraw: withdrawn });
  }

  #list(key: string, refused: readonly string[]): void {
    if (refused.length === 0 ? !this.#refused.delete(key) : isDeepStrictEqual(this.#refused.get(key), refused)) return;
    if (refused.length > 0 && this.#refused.size < maxRefused) this.#refused.set(key, refused);
    this.#soon();
  }

  #soon(): void {
    if (this.#isPending) return;
    this.#isPending = true;
    setImmediate(() => this.#flush());
  }

  /** Declares and binds all newly found parameters together, and updates the list of refused documents. */
  #flush(): void {
    if (!this.#isPending || this.#isStopped) return;
    this.#isPending = false;
    const { bindings, emit } = this.#options;
    const [declares, found] = [this.#declares, [...this.#found.values()]];
    this.#declares = [];
    this.#found = new Map();
    if (declares.length > 0) emit({ declare: declares });
    if (found.length > 0) bindings.add(found);
    emit({ set: refusedId, value: this.#text() });
  }

  /** Returns the list of refused documents as JSON, truncated to the maximum length of a text value. */
  #text(): string {
    const lines: string[] = [];
    let length = 2;
    for (const [document, reasons] of this.#refused) {
      const line = JSON.stringify({ document, reasons });
      length += line.length + 1;
      if (length > maxTextLength) break;
      lines.push(line);
    }
    return `[${lines.join(',')}]`;
  }
}

function prefixOf(setting: boolean | string, usual: string): string | undefined {
  return setting === false ? undefined : setting === true ? usual : setting;
}
