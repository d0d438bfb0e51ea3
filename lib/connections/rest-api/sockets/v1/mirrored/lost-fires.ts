// Tells clients that triggers of another hub have fired, which nobody here has heard: `{"lost":{"9":3}}`.

import type { LostFires } from '../../../../mirroring.ts';
import type { Channel, Subscriber } from '../../channel.ts';
import type { FanOut } from '../../fan-out.ts';
import { cut, defFrame, definition, lostFrame } from '../frames.ts';
import type { Group } from '../group.ts';

export function tellLostFires(
  fires: LostFires,
  fanOut: FanOut,
  groups: Iterable<Subscriber & Pick<Group, 'sendToAll'>>,
): void {
  const found = new Map<Subscriber, { channel: Channel; count: number }[]>();
  for (const [parameter, count] of fires)
    for (const { subscriber } of fanOut.observersOf(parameter)) {
      const lost = found.get(subscriber) ?? [];
      found.set(subscriber, lost);
      lost.push({ channel: fanOut.channelOf(parameter), count });
    }
  for (const group of groups) {
    const lost = found.get(group) ?? [];
    for (const definitions of cut(lost.map(({ channel }) => definition(channel))))
      group.sendToAll(defFrame(definitions));
    for (const counts of cut(lost.map(({ channel, count }) => `"${channel.id}":${count}`)))
      group.sendToAll(lostFrame(counts));
  }
}
