// The channel of a parameter carries its changes to those who observe it. Each subscriber, which is a group of sockets, is
// matched with a parameter once. After that a change costs only what its observers cost, however many subscribers there are.

import type { Change, Parameter } from '../../../model/parameter.ts';

/** Hears of each change of one parameter. */
export interface Observer {
  readonly subscriber: Subscriber;
  tell(change: Change): void;
}

/** Hears of the changes of all parameters that it matches: a group of sockets. */
export interface Subscriber {
  matches(parameter: Parameter): boolean;
  /** Makes the observer of one channel. The fan-out calls this once for each parameter that matches. */
  observe(channel: Channel): Observer;
}

/** The changes of one parameter and who observes them. */
export class Channel {
  readonly parameter: Parameter;
  /** Sockets call the parameter by this number. No other parameter has ever had it. */
  readonly id: number;
  observers: Observer[] = [];
  /** The revision of the last change that observers were told. */
  revision = 0;
  /** The value as it is sent, for the revision beside it. It is kept for the next group that sends it. */
  item = '';
  itemRevision = 0;
  /** The number of the last subscriber that was matched with the parameter, and how many subscribers had left by then. */
  matched = 0;
  left = 0;

  constructor(parameter: Parameter, id: number) {
    this.parameter = parameter;
    this.id = id;
  }
}
