// Fans changes out to WebSocket clients. Clients with the same filter share a group, a topic of the server; a change is
// encoded once and published once per group that it matches. Which groups a parameter matches is worked out once.

import type { Change, Parameter } from '../../model/parameter.ts';
import { toText, type Value } from '../../model/value.ts';
import type { Filter } from './filter.ts';

/** The clients of one filter. */
export interface Group {
  readonly topic: string;
  readonly matches: Filter;
}

type Publish = (topic: string, frame: string) => void;

interface Route {
  /** `{"p":"desk/lamp","v":`, the part of the frame that does not change. */
  readonly prefix: string;
  readonly topics: readonly string[];
}

export class FanOut {
  readonly #bound: Filter;
  readonly #publish: Publish;
  readonly #groups = new Map<string, { group: Group; members: number }>();
  /** Bounded by the number of parameters, of which it forgets those that are no more; emptied when a group comes or goes. */
  readonly #routes = new Map<Parameter, Route>();
  #nextTopic = 1;

  /** `bound` is the filter of the connection's settings: no client sees what it does not let through. */
  constructor(bound: Filter, publish: Publish) {
    this.#bound = bound;
    this.#publish = publish;
  }

  /** Joins the group of the key, made with `filter` when it is the first member. */
  join(key: string, filter: Filter): Group {
    const known = this.#groups.get(key);
    if (known !== undefined) {
      known.members++;
      return known.group;
    }
    const group = {
      topic: String(this.#nextTopic++),
      matches: (address: string) => this.#bound(address) && filter(address),
    };
    this.#groups.set(key, { group, members: 1 });
    this.#routes.clear();
    return group;
  }

  leave(key: string): void {
    const known = this.#groups.get(key);
    if (known === undefined || --known.members > 0) return;
    this.#groups.delete(key);
    this.#routes.clear();
  }

  /** Forgets a parameter that is no more. */
  forget(parameter: Parameter): void {
    this.#routes.delete(parameter);
  }

  /** Publishes a change to every group that it matches. */
  tell({ parameter, value }: Change): void {
    if (this.#groups.size === 0) return;
    let route = this.#routes.get(parameter);
    if (route === undefined) {
      route = this.#routeOf(parameter.address);
      this.#routes.set(parameter, route);
    }
    if (route.topics.length === 0) return;
    const frame = completeFrame(route.prefix, value);
    for (const topic of route.topics) this.#publish(topic, frame);
  }

  #routeOf(address: string): Route {
    const matching = [...this.#groups.values()].filter(({ group }) => group.matches(address));
    return { prefix: framePrefix(address), topics: matching.map(({ group }) => group.topic) };
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
