// Channels of a group without a hub: parameters that a spec sets itself, and the revisions of its changes.

import { Channel } from '../../../lib/connections/rest-api/sockets/fan-out.ts';
import { type ChangeKeeper, GroupChannel } from '../../../lib/connections/rest-api/sockets/v1/outbox.ts';
import type { Change, Parameter } from '../../../lib/model/parameter.ts';
import type { Value } from '../../../lib/model/value.ts';

interface SetParameter extends Parameter {
  value: Value | undefined;
  lastChange: Change | undefined;
}

export class Channels {
  readonly all: readonly GroupChannel[];
  /** The hub's count of changes. */
  revision = 0;

  /** So many parameters, of which each third is a trigger. */
  constructor(count: number, outboxOf: (index: number) => ChangeKeeper) {
    const subscriber = { matches: () => true, observe: () => this.all[0]! };
    this.all = Array.from({ length: count }, (_, index) => {
      const type = index % 3 === 2 ? 'T' : 'I';
      const parameter: Parameter = {
        address: `desk/p${index}`,
        type,
        access: 'read-write',
        value: undefined,
        lastChange: undefined,
      };
      return new GroupChannel(subscriber, new Channel(parameter, index), outboxOf(index));
    });
  }

  /** Sets a parameter, or fires it, and tells the change; returns the change. */
  set(index: number, value: Value): Change {
    const channel = this.all[index]!;
    const parameter = channel.channel.parameter as SetParameter;
    const isTrigger = parameter.type === 'T';
    const change = { parameter, value: isTrigger ? 1 : value, revision: ++this.revision } as unknown as Change;
    if (!isTrigger) parameter.value = value;
    parameter.lastChange = change;
    channel.notify(change);
    channel.channel.revision = change.revision;
    return change;
  }
}
