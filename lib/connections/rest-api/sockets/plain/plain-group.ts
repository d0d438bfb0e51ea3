// A group consists of the plain sockets with the same filter, on one or more topics. A change is put into the outbox only once for the
// whole group.

import type { Change, Parameter } from '../../../../model/parameter.ts';
import { encodeText } from '../../../../net/uws.ts';
import type { Parameters } from '../../../hub-port.ts';
import type { Filter } from '../../filters/filter.ts';
import type { Channel, FanOut, Observer, Subscriber } from '../fan-out.ts';
import { Selection } from '../parameter-selection.ts';
import { Tally } from '../tally.ts';
import { framePrefix } from './frame.ts';
import type { Audience, ChangeList, Listener, Topic } from './late-frames.ts';
import type { Outbox } from './plain-outbox.ts';

/** The maximum number of sockets on a topic. The data that uWebSockets.js keeps for so many sockets fits into a CPU cache. */
const maxTopicMembers = 512;

type PrefixOf = (parameter: Parameter) => Uint8Array;

class PlainGroup implements Subscriber, Audience {
  readonly key: string;
  /** The parameters whose changes the group gets, as soon as the selection is ready. */
  readonly selection: Selection;
  /** The topics of the group, which are not empty while the group has a member. */
  readonly topics: PlainTopic[] = [];
  members = 0;
  readonly listeners = new Set<Listener>();
  lastLiveFrom = 0;
  fires = 0;
  readonly list: ChangeList | undefined;
  readonly #prefixOf: PrefixOf;
  readonly #put: Outbox['put'];

  constructor(key: string, list: ChangeList | undefined, selection: Selection, prefixOf: PrefixOf, put: Outbox['put']) {
    this.key = key;
    this.list = list;
    this.selection = selection;
    this.#prefixOf = prefixOf;
    this.#put = put;
  }

  matches(parameter: Parameter): boolean {
    return this.selection.has(parameter);
  }

  observe({ parameter }: Channel): Observer {
    return new PlainObserver(this, this.#prefixOf(parameter), parameter.type === 'T');
  }

  /** Puts a change into the outbox, as a notification that begins with `prefix`. */
  put(prefix: Uint8Array, { value, revision }: Change): void {
    this.#put(this, prefix, value, revision);
  }
}

/**
 * Passes the changes to one parameter on to a group. A single object handles the changes, because each further object costs another memory
 * access.
 */
class PlainObserver implements Observer {
  readonly subscriber: PlainGroup;
  readonly #prefix: Uint8Array;
  readonly #isTrigger: boolean;

  constructor(subscriber: PlainGroup, prefix: Uint8Array, isTrigger: boolean) {
    this.subscriber = subscriber;
    this.#prefix = prefix;
    this.#isTrigger = isTrigger;
  }

  notify(change: Change): void {
    this.subscriber.put(this.#prefix, change);
    if (this.#isTrigger) this.subscriber.fires++;
  }
}

/** A uWebSockets.js topic to which some of the sockets in a group subscribe. */
export class PlainTopic implements Topic {
  readonly group: PlainGroup;
  readonly text: string;
  readonly name: ArrayBuffer;
  readonly sent = new Tally();
  members = 0;

  constructor(group: PlainGroup, text: string) {
    this.group = group;
    this.text = text;
    this.name = encodeText(text);
  }
}

/** A map from keys to the groups of a connection. A group exists as long as it has members. */
export class PlainGroups {
  readonly #hub: Parameters;
  readonly #fanOut: FanOut;
  readonly #put: Outbox['put'];
  readonly #prefixes = new WeakMap<Parameter, Uint8Array>();
  readonly #groups = new Map<string, PlainGroup>();
  #nextTopic = 1;

  constructor(hub: Parameters, fanOut: FanOut, put: Outbox['put']) {
    this.#hub = hub;
    this.#fanOut = fanOut;
    this.#put = put;
  }

  /**
   * Adds a socket to the group with a key, and returns the topic to which the socket subscribes once the group is prepared. The filter,
   * which takes a long time to compile, is created only for the first member: it selects the parameters that clients with this key may see
   * and want. With `isList`, which must be part of the key, the members get changes in lists. Errors: any error from `createFilter`.
   */
  join(key: string, createFilter: () => Filter, isList = false): PlainTopic {
    let group = this.#groups.get(key);
    if (group === undefined) {
      const list = isList ? { prefixes: [], values: [] } : undefined;
      group = new PlainGroup(key, list, new Selection(createFilter(), this.#fanOut), this.#prefixOf, this.#put);
      this.#groups.set(key, group);
      if (group.selection.isReady) this.#fanOut.join(group);
    }
    let topic = group.topics.find(({ members }) => members < maxTopicMembers);
    if (topic === undefined) {
      topic = new PlainTopic(group, String(this.#nextTopic++));
      group.topics.push(topic);
    }
    topic.members++;
    group.members++;
    return topic;
  }

  /** Prepares the group of a topic for changes until `endMs`; returns whether there is more to do. */
  prepare({ group }: PlainTopic, endMs: number): boolean {
    const { selection } = group;
    if (selection.isReady) return false;
    if (selection.prepare(() => this.#hub.parameters(), endMs)) return true;
    if (this.#groups.get(group.key) === group) this.#fanOut.join(group);
    return false;
  }

  /** Removes one member from a topic and from its group. */
  leave(topic: PlainTopic): void {
    topic.group.members--;
    if (--topic.members > 0) return;
    const { topics, key } = topic.group;
    topics.splice(topics.indexOf(topic), 1);
    if (topics.length > 0) return;
    this.#groups.delete(key);
    this.#fanOut.leave(topic.group);
  }

  /** Returns the prefix of a parameter's notifications, which all groups share. */
  readonly #prefixOf: PrefixOf = (parameter) => {
    let prefix = this.#prefixes.get(parameter);
    if (prefix === undefined) {
      prefix = framePrefix(parameter.address);
      this.#prefixes.set(parameter, prefix);
    }
    return prefix;
  };
}
