// The plain sockets of one filter: a topic of the server. A change is encoded once, and published once per group.

import type { Parameter } from '../../model/parameter.ts';
import { encodeText } from '../../net/uws.ts';
import type { FanOut } from './fan-out.ts';
import type { Audience, Feed, Listener } from './feed.ts';
import type { Filter } from './filter.ts';
import type { Outbox, Topic } from './outbox.ts';
import { framePrefix } from './plain-frame.ts';
import { Tally } from './tally.ts';

type PrefixOf = (parameter: Parameter) => Uint8Array;

export class PlainGroup implements Audience {
  readonly topic: string;
  readonly matches: Filter;
  /** How much has been published to its members. */
  readonly sent = new Tally();
  readonly #topic: Topic;
  readonly #prefixOf: PrefixOf;
  readonly #put: Outbox['put'];
  members = 0;

  constructor(topic: string, matches: Filter, prefixOf: PrefixOf, put: Outbox['put']) {
    this.topic = topic;
    this.#topic = { name: encodeText(topic), sent: this.sent };
    this.matches = matches;
    this.#prefixOf = prefixOf;
    this.#put = put;
  }

  listenTo({ parameter }: Feed): Listener {
    const topic = this.#topic;
    const prefix = this.#prefixOf(parameter);
    const put = this.#put;
    return { audience: this, tell: ({ value }) => put(topic, prefix, value) };
  }
}

/** Keeps the groups by the key of their filter, each as long as it has members. */
export class PlainGroups {
  readonly #fanOut: FanOut;
  readonly #bound: Filter;
  readonly #put: Outbox['put'];
  readonly #prefixes = new WeakMap<Parameter, Uint8Array>();
  readonly #groups = new Map<string, PlainGroup>();
  #nextTopic = 1;

  /** `bound` is the filter of the connection's settings: no client sees what it does not let through. */
  constructor(fanOut: FanOut, bound: Filter, put: Outbox['put']) {
    this.#fanOut = fanOut;
    this.#bound = bound;
    this.#put = put;
  }

  /** Joins the group of the key, made with `filter` when it is the first member. */
  join(key: string, filter: Filter): PlainGroup {
    let group = this.#groups.get(key);
    if (group === undefined) {
      const matches = (address: string) => this.#bound(address) && filter(address);
      group = new PlainGroup(String(this.#nextTopic++), matches, this.#prefixOf, this.#put);
      this.#groups.set(key, group);
      this.#fanOut.join(group);
    }
    group.members++;
    return group;
  }

  leave(key: string): void {
    const group = this.#groups.get(key);
    if (group === undefined || --group.members > 0) return;
    this.#groups.delete(key);
    this.#fanOut.leave(group);
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
