// GET /hub/hubs: the hubs in the hub's domain.

import { HubError } from '../../../model/error.ts';
import { domain } from '../../../wire/http/operation.ts';
import { toIsoTime } from '../../../wire/time.ts';
import { page } from './endpoint.ts';

export const endpoints = [
  page({
    path: '/hub/hubs',
    need: 'manage',
    id: 'listHubs',
    tag: 'operation',
    summary: 'The domain of the hub: its hubs, the parameters of each, lag, lease and link',
    answer: domain,
    errors: { 404: 'The hub does not belong to a domain' },
    read({ hub: { mirroring } }) {
      const status = mirroring.domain?.();
      if (status === undefined)
        throw new HubError('not-found', 'this hub does not belong to a domain: it has no connection of type nats');
      const { lease, link, hubs, ...others } = status;
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
    },
  }),
];
