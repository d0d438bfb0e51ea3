// A group is the plain sockets of one filter, on one topic or several. A change is put into the outbox once for the whole group.

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

/** What uWebSockets.js keeps for so many sockets of a topic fits into the cache of a processor. */
const maxTopicMembers = 512;

type PrefixOf = (parameter: Parameter) => Uint8Array;

class PlainGroup implements Subscriber, Audience {
  readonly key: string;
  /** The group is told changes once this is ready. */
  readonly selection: Selection;
  /** There is one at least while the group has a member. */
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

  /** Puts a change into the outbox. */
  put(prefix: Uint8Array, { value, revision }: Change): void {
    this.#put(this, prefix, value, revision);
  }
}

/** The changes of one parameter for a group: one object, since each more is one more place in memory to wait for. */
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

/** Some of the sockets of a group subscribe to this at uWebSockets.js. */
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

/** Has the groups by the key of their filter. It keeps each of them as long as the group has members. */
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
   * Has a socket join the group of a key. Only its first member needs the filter, which takes long to compile: what clients of the key may
   * see and want. With `isList`, which the key says as well, they are told changes in lists. Returns the topic that the socket subscribes to
   * once the group has been prepared. Errors: those of `createFilter`.
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

  /** Works until a time on what a group needs before it is told changes; returns whether there is more to do. */
  prepare({ group }: PlainTopic, endMs: number): boolean {
    const { selection } = group;
    if (selection.isReady) return false;
    if (selection.prepare(() => this.#hub.parameters(), endMs)) return true;
    if (this.#groups.get(group.key) === group) this.#fanOut.join(group);
    return false;
  }

  /** Has a member of a topic leave. */
  leave(topic: PlainTopic): void {
    topic.group.members--;
    if (--topic.members > 0) return;
    const { topics, key } = topic.group;
    topics.splice(topics.indexOf(topic), 1);
    if (topics.length > 0) return;
    this.#groups.delete(key);
    this.#fanOut.leave(topic.group);
  }

  /** All groups share the prefix of a parameter. */
  readonly #prefixOf: PrefixOf = (parameter) => {
    let prefix = this.#prefixes.get(parameter);
    if (prefix === undefined) {
      prefix = framePrefix(parameter.address);
      this.#prefixes.set(parameter, prefix);
    }
    return prefix;
  };
}
