// The plain sockets of one filter: a topic of the server. A change is encoded once, and published once per group.

import type { Change } from '../../model/parameter.ts';
import { toText, type Value } from '../../model/value.ts';
import type { FanOut } from './fan-out.ts';
import type { Audience, Feed, Listener } from './feed.ts';
import type { Filter } from './filter.ts';

type Publish = (topic: string, frame: string) => void;

export class PlainGroup implements Audience {
  readonly topic: string;
  readonly matches: Filter;
  readonly #frames: PlainFrames;
  readonly #publish: Publish;
  members = 0;

  constructor(topic: string, matches: Filter, frames: PlainFrames, publish: Publish) {
    this.topic = topic;
    this.matches = matches;
    this.#frames = frames;
    this.#publish = publish;
  }

  listenTo({ parameter: { address } }: Feed): Listener {
    const prefix = framePrefix(address);
    return { audience: this, tell: (change) => this.#publish(this.topic, this.#frames.of(change, prefix)) };
  }
}

/** Encodes each change once, however many groups it goes to. */
export class PlainFrames {
  #change: Change | undefined;
  #frame = '';

  of(change: Change, prefix: string): string {
    if (this.#change !== change) {
      this.#change = change;
      this.#frame = completeFrame(prefix, change.value);
    }
    return this.#frame;
  }
}

/** Keeps the groups by the key of their filter, each as long as it has members. */
export class PlainGroups {
  readonly #fanOut: FanOut;
  readonly #bound: Filter;
  readonly #publish: Publish;
  readonly #frames = new PlainFrames();
  readonly #groups = new Map<string, PlainGroup>();
  #nextTopic = 1;

  /** `bound` is the filter of the connection's settings: no client sees what it does not let through. */
  constructor(fanOut: FanOut, bound: Filter, publish: Publish) {
    this.#fanOut = fanOut;
    this.#bound = bound;
    this.#publish = publish;
  }

  /** Joins the group of the key, made with `filter` when it is the first member. */
  join(key: string, filter: Filter): PlainGroup {
    let group = this.#groups.get(key);
    if (group === undefined) {
      const matches = (address: string) => this.#bound(address) && filter(address);
      group = new PlainGroup(String(this.#nextTopic++), matches, this.#frames, this.#publish);
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
}

/** The notification of a value: `{"p":"desk/lamp","v":"true"}` (spec.md "WebSocket notification object"). */
export function encodeFrame(address: string, value: Value): string {
  return completeFrame(framePrefix(address), value);
}

function framePrefix(address: string): string {
  return `{"p":${JSON.stringify(address)},"v":`;
}

function completeFrame(prefix: string, value: Value): string {
  return typeof value === 'string' ? `${prefix}${JSON.stringify(value)}}` : `${prefix}"${toText(value)}"}`;
}
