// GET /hub/hubs: the domain that the hub is in.

import { HubError } from '../../../model/error.ts';
import type { Domain } from '../../../wire/http/operation.ts';
import { toIsoTime } from '../../../wire/time.ts';
import type { HubPort } from '../../hub-port.ts';

/** Errors: `not-found`: it is in none. */
export function hubsOf({ mirroring }: Pick<HubPort, 'mirroring'>): Domain {
  const domain = mirroring.domain?.();
  if (domain === undefined)
    throw new HubError('not-found', 'this hub is in no domain: it has no connection of type nats');
  const { lease, link, hubs, ...others } = domain;
  return {
    ...others,
    lease: { ...lease, since: toIsoTime(lease.since) },
    link: { ...link, since: toIsoTime(link.since) },
    hubs: hubs.map(({ mirror, ...hub }) => ({
      ...hub,
      mirror: mirror && {
        ...mirror,
        staleSince: mirror.staleSince === undefined ? undefined : toIsoTime(mirror.staleSince),
      },
    })),
  };
}
