// Hears what the audit is about: changes that come from outside, and what is done with the hub itself.

import type { Subscription } from 'rxjs';
import type { Parameter } from '../../../model/parameter.ts';
import type { HubPort } from '../../hub-port.ts';
import type { AuditQueue } from './audit-queue.ts';
import { rowOfDeed } from './rows.ts';

/** Puts all of it into the queue until it is unsubscribed; `onHubEnd` is called when the hub begins to end. */
export function listen(
  { changes$, keeping }: Pick<HubPort, 'changes$' | 'keeping'>,
  isSelected: (address: string) => boolean,
  queue: AuditQueue,
  onHubEnd: () => void,
): Subscription {
  const known = new WeakMap<Parameter, boolean>();
  const isNoted = (parameter: Parameter): boolean => {
    let isNoted = known.get(parameter);
    if (isNoted === undefined) {
      isNoted = isSelected(parameter.address);
      known.set(parameter, isNoted);
    }
    return isNoted;
  };
  const listening = changes$.subscribe((change) => {
    if (keeping.isFromOutside(change) && isNoted(change.parameter)) queue.addChange(change);
  });
  listening.add(
    keeping.deeds$.subscribe((deed) => {
      if (deed.kind === 'stop') onHubEnd();
      queue.add(rowOfDeed(deed, Date.now()));
    }),
  );
  return listening;
}
