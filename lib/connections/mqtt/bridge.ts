// The bridge publishes the hub's parameters as topics with a common prefix. `<prefix>/<address>` contains the retained value, and
// `<prefix>/<address>/set` receives writes. A value that came from a topic is not published to this topic again. Several hubs may share a
// topic tree (`follow`). In this case, all messages for a topic are numbered, so that all hubs end up with the same value after
// simultaneous writes.

import { Subscription } from 'rxjs';
import { readBoolean } from '../../device/payload.ts';
import { connectionIdOf } from '../../model/address.ts';
import { messageOf } from '../../model/error.ts';
import { globToRegExp } from '../../model/glob.ts';
import type { Change, Origin, Parameter } from '../../model/parameter.ts';
import { toText } from '../../model/value.ts';
import type { ConnectionContext } from '../connection.ts';
import type { HubPort } from '../hub-port.ts';
import { type Announced, announce, nodeOf } from './announce.ts';
import { maxPayloadBytes } from './bindings.ts';
import type { Broker, Outgoing, Stamp } from './broker.ts';
import type { MqttSettings } from './settings.ts';

/** The maximum number of parameters that a bridge publishes. */
export const maxShared = 200_000;

interface Share extends Outgoing {
  readonly parameter: Parameter;
  readonly isPublished: boolean;
  readonly isAccepted: boolean;
  readonly isFollowed: boolean;
  /** The number and the sender of the latest message for the topic. */
  stamp: Stamp;
  /** Whether the parameter's current value came from the topic. */
  isHeard: boolean;
  /** Whether a message has arrived at the topic since the last connect. */
  isSeen: boolean;
  document: (Outgoing & Announced) | undefined;
}

export interface BridgeOptions {
  readonly context: ConnectionContext<MqttSettings>;
  readonly hub: HubPort;
  readonly broker: Broker;
  readonly settings: NonNullable<MqttSettings['bridge']>;
  /** The topic that contains the hub's status and receives its last will. */
  readonly status: string;
}

export class Bridge {
  readonly #options: BridgeOptions;
  /** The beginning of all topics of the bridge, such as `patchbay/`. */
  readonly #start: string;
  readonly #shares = new Map<Parameter, Share>();
  readonly #byTopic = new Map<string, Share>();
  readonly #following = new Subscription();
  readonly #isShared: (address: string) => boolean;
  readonly #isAccepted: (address: string) => boolean;
  readonly #isFollowed: (address: string) => boolean;
  readonly #setOrigin: Origin;
  readonly #followOrigin: Origin;
  readonly #announcePrefix: string | undefined;
  readonly #documents = new Set<string>();
  /** The parameters that have changed while the broker was unreachable. */
  readonly #dirty = new Set<Share>();
  /** Whether the hub's parameters are known. A hub that is still starting does not know yet which connections it will have. */
  #hasBegun = false;
  #isOpen = false;

  constructor(options: BridgeOptions) {
    const { context, hub, settings, broker } = options;
    const { prefix, share, accept, follow, homeAssistant } = settings;
    this.#options = options;
    this.#start = `${prefix}/`;
    this.#isShared = selectBy(share);
    this.#isAccepted = selectBy(accept);
    this.#isFollowed = selectBy(follow);
    this.#setOrigin = { kind: 'client', name: `${context.id} set` };
    this.#followOrigin = { kind: 'client', name: `${context.id} follow` };
    this.#announcePrefix =
      homeAssistant === false ? undefined : homeAssistant === true ? 'homeassistant' : homeAssistant;
    const error = () => {}; // these streams never fail
    this.#following.add(hub.changes$.subscribe({ next: (change) => this.#changed(change), error }));
    this.#following.add(
      hub.declared$.subscribe({ next: (parameter) => this.#hasBegun && this.#add(parameter), error }),
    );
    this.#following.add(hub.removed$.subscribe({ next: (parameter) => this.#remove(parameter), error }));
    broker.subscribe([{ topic: `${prefix}/#`, isRetainedWanted: follow.length > 0 }]);
    if (this.#announcePrefix !== undefined && follow.length === 0)
      broker.subscribe([{ topic: `${this.#announcePrefix}/+/${nodeOf(prefix)}/+/config`, isRetainedWanted: true }]);
  }

  /** Publishes the values that do not depend on retained values from other hubs. */
  opened(): void {
    if (!this.#hasBegun) for (const parameter of this.#options.hub.parameters()) this.#add(parameter);
    this.#hasBegun = true;
    this.#isOpen = true;
    for (const share of this.#shares.values()) {
      share.isSeen = false;
      if (share.document !== undefined) this.#options.broker.publish(share.document);
      if (share.isFollowed && !this.#dirty.has(share)) continue;
      if (share.isPublished && share.parameter.type !== 'T') this.#options.broker.publish(share);
    }
  }

  /** Publishes the values of topics for which no retained message has arrived. */
  retained(): void {
    this.#dirty.clear();
    for (const share of this.#shares.values())
      if (share.isFollowed && share.isPublished && !share.isSeen && share.parameter.type !== 'T')
        this.#options.broker.publish(share);
  }

  away(): void {
    this.#isOpen = false;
  }

  /** Handles a message. Returns false if the topic does not belong to the bridge. */
  received(topic: string, payload: Buffer, isRetained: boolean, stamp: Stamp | undefined): boolean {
    if (!topic.startsWith(this.#start)) return this.#tidy(topic, payload, isRetained);
    const set = topic.endsWith('/set') ? this.#byTopic.get(topic.slice(0, -'/set'.length)) : undefined;
    if (set !== undefined) {
      if (!isRetained) this.#set(set, payload, this.#setOrigin); // a retained command is outdated
      return true;
    }
    const share = this.#byTopic.get(topic);
    if (share === undefined) {
      if (topic.endsWith('/set') && !isRetained)
        this.#warn(topic, 'the hub has no such parameter or does not share it');
      return true;
    }
    if (!share.isFollowed || payload.length === 0) return true;
    if (share.parameter.type === 'T' && isRetained) return true;
    share.isSeen = true;
    if (this.#isOlder(share, stamp, isRetained)) return true;
    this.#set(share, payload, this.#followOrigin);
    return true;
  }

  stop(): void {
    this.#following.unsubscribe();
  }

  #add(parameter: Parameter): void {
    const { context, hub, settings, broker, status } = this.#options;
    const { address, type } = parameter;
    const connectionId = connectionIdOf(address);
    if (connectionId === context.id || hub.mirroring.isLocal(connectionId)) return;
    const [isPublished, isAccepted, isFollowed] = [
      this.#isShared(address),
      this.#isAccepted(address),
      this.#isFollowed(address),
    ];
    if (!isPublished && !isAccepted && !isFollowed) return;
    const topic = `${settings.prefix}/${encodeTopic(address)}`;
    if (this.#byTopic.has(topic)) return;
    if (this.#shares.size >= maxShared) {
      context.log.warn({}, `the hub has more than ${maxShared} parameters to share; one is left out`);
      return;
    }
    const share: Share = {
      parameter,
      topic,
      isRetained: type !== 'T',
      isPublished,
      isAccepted,
      isFollowed,
      stamp: noStamp,
      isHeard: false,
      isSeen: false,
      document: undefined,
      take: () => {
        const { value } = parameter;
        return value === undefined || share.isHeard ? undefined : toText(value);
      },
      ...(isFollowed && {
        stampOf: () => {
          if (share.stamp === noStamp) share.stamp = { number: 1, by: broker.clientId };
          return share.stamp;
        },
      }),
    };
    this.#shares.set(parameter, share);
    this.#byTopic.set(topic, share);
    if (this.#announcePrefix !== undefined && isPublished) {
      const made = announce(parameter, {
        prefix: settings.prefix,
        discovery: this.#announcePrefix,
        topic,
        status,
        isAccepted,
        version: hub.version,
      });
      share.document = { ...made, isRetained: true, take: () => made.text };
      this.#documents.add(made.topic);
    }
    if (!this.#isOpen) return;
    if (share.document !== undefined) broker.publish(share.document);
    if (isPublished && type !== 'T') broker.publish(share);
  }

  /** Deletes the retained value and the discovery document of a removed parameter. */
  #remove(parameter: Parameter): void {
    const share = this.#shares.get(parameter);
    if (share === undefined) return;
    this.#shares.delete(parameter);
    this.#byTopic.delete(share.topic);
    this.#dirty.delete(share);
    const { broker } = this.#options;
    const empty = (topic: string) => broker.publish({ topic, isRetained: true, take: () => '' });
    if (share.document !== undefined) {
      this.#documents.delete(share.document.topic);
      empty(share.document.topic);
    }
    if (share.isPublished && parameter.type !== 'T' && !share.isFollowed) empty(share.topic);
  }

  #changed(change: Change): void {
    const share = this.#shares.get(change.parameter);
    if (share === undefined || !share.isPublished) return;
    share.isHeard = this.#isHeard(change);
    if (share.isHeard) return;
    if (share.isFollowed) share.stamp = { number: share.stamp.number + 1, by: this.#options.broker.clientId };
    const { broker } = this.#options;
    if (change.parameter.type === 'T') broker.fire(share.topic, '1');
    else if (this.#isOpen) broker.publish(share);
    else if (share.isFollowed) this.#dirty.add(share);
  }

  /** Returns whether a change was caused by a value from the topic, either directly or through a device's confirmation. */
  #isHeard({ origin, cause, parameter }: Change): boolean {
    return origin === this.#followOrigin || (cause?.origin === this.#followOrigin && cause.parameter === parameter);
  }

  /**
   * Returns whether a message is older than the latest message that this hub has published or received for the topic. If the message is
   * newer, stores its number.
   */
  #isOlder(share: Share, stamp: Stamp | undefined, isRetained: boolean): boolean {
    if (stamp === undefined) return isRetained && this.#dirty.has(share);
    const { number, by } = share.stamp;
    if (isRetained && this.#dirty.has(share)) {
      if (stamp.number >= number) {
        share.stamp = { number: stamp.number + 1, by: this.#options.broker.clientId }; // this hub's value is newer
        this.#options.broker.publish(share);
      }
      return true;
    }
    if (stamp.number < number || (stamp.number === number && stamp.by <= by)) return true;
    share.stamp = stamp;
    return false;
  }

  #set(share: Share, payload: Buffer, origin: Origin): void {
    const { hub } = this.#options;
    const { parameter, topic } = share;
    const isSet = origin === this.#setOrigin;
    if (isSet && !share.isAccepted) {
      this.#warn(`${topic}/set`, 'the setting accept does not include it');
      return;
    }
    if (payload.length > maxPayloadBytes) {
      this.#warn(topic, `a payload of more than ${maxPayloadBytes} bytes`);
      return;
    }
    const text = payload.toString();
    try {
      hub.writeTo(parameter, parameter.type === 'B' ? readBoolean(text) : parameter.type === 'T' ? true : text, origin);
      if (!isSet) share.isHeard = true;
    } catch (error) {
      this.#warn(isSet ? `${topic}/set` : topic, messageOf(error));
    }
  }

  /** Deletes a discovery document whose parameter no longer exists. Returns whether the topic is for a document of this bridge. */
  #tidy(topic: string, payload: Buffer, isRetained: boolean): boolean {
    if (this.#announcePrefix === undefined || !topic.startsWith(`${this.#announcePrefix}/`)) return false;
    if (topic.split('/')[2] !== nodeOf(this.#options.settings.prefix)) return false;
    if (isRetained && payload.length > 0 && !this.#documents.has(topic))
      this.#options.broker.publish({ topic, isRetained: true, take: () => '' });
    return true;
  }

  #warn(topic: string, message: string): void {
    this.#options.context.log.warn({ topic }, `rejected a message to ${topic}: ${message}`, 'rejected message');
  }
}

const noStamp: Stamp = { number: 0, by: '' };

/** Converts an address to a sequence of topic levels. Wildcards and characters that Home Assistant refuses are percent-encoded. */
function encodeTopic(address: string): string {
  return address.replace(/[%+#\p{Noncharacter_Code_Point}]/gu, (character) => encodeURIComponent(character));
}

/** Returns a function that checks whether an address matches any of the globs. */
export function selectBy(globs: readonly string[]): (address: string) => boolean {
  const patterns = globs.map(globToRegExp);
  return (address) => patterns.some((pattern) => pattern.test(address));
}
