// Who hears of the changes of a parameter. Each audience (a group of plain sockets, a view) is matched with a parameter once;
// after that a change costs what those cost who hear of it, however many others there are.

import type { Change, Parameter } from '../../../model/parameter.ts';

/** Hears of the changes of one parameter. */
export interface Listener {
  readonly audience: Audience;
  tell(change: Change): void;
}

/** Hears of the changes of all parameters that it matches. */
export interface Audience {
  matches(parameter: Parameter): boolean;
  /** Makes what hears of the changes of one parameter, once for each that matches. */
  listenTo(feed: Feed): Listener;
}

/** The changes of one parameter and who hears of them. */
export class Feed {
  readonly parameter: Parameter;
  /** What sockets call the parameter; no other has ever had it. */
  readonly id: number;
  listeners: Listener[] = [];
  /** The revision of the last change that was told. */
  revision = 0;
  /** The encoded value of a revision, kept for the next who sends it. */
  item = '';
  itemRevision = 0;
  /** Up to which audience this parameter has been matched, and how many had left by then. */
  matched = 0;
  left = 0;

  constructor(parameter: Parameter, id: number) {
    this.parameter = parameter;
    this.id = id;
  }
}
