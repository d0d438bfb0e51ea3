// The schemas of what hubs of a domain are to one another.

import type { Domain, DomainHub, Lease, Link, Mirror } from '../../../../wire/http/operation/hubs.ts';
import { describe, list, object, oneOf, type Schema } from './schema.ts';
import { count, flag, text, texts, time } from './words.ts';

export interface DescribedOfHubs {
  readonly Domain: Domain;
}

const mirror = object<Mirror>(
  {
    term: count,
    lagMs: describe(count, 'For how long not all that it tells is here: half a second at most while all is well'),
    gaps: describe(count, 'How often something was missing'),
    lostFires: count,
    refused: describe(count, 'How many messages in its name were left out: no sense, not its own, or too many'),
  },
  {
    machine: describe(
      text,
      'The machine of who runs it, of a pair that of the active one; left out until it has told in this term',
    ),
    staleSince: describe(time, 'Since when nothing is heard of it'),
  },
);

export const hubSchemas: { readonly [Name in keyof DescribedOfHubs]: Schema<DescribedOfHubs[Name]> } = {
  Domain: object<Domain>({
    connection: describe(text, 'The connection that joins the hub to it'),
    domain: text,
    hub: describe(text, 'The name of this hub'),
    role: oneOf(['alone', 'main', 'standby']),
    lease: object<Lease>({
      state: oneOf(['held', 'fenced', 'taken', 'unknown']),
      holder: describe(text, 'The machine of who has it, or had it last'),
      term: count,
      since: time,
    }),
    link: object<Link>(
      {
        isUp: flag,
        text: describe(text, 'The server that it leads to, or why there is none'),
        servers: texts,
        since: time,
        reconnects: count,
      },
      { isOpen: describe(flag, 'Whether the server lets anybody in; left out until one has answered') },
    ),
    hubs: describe(
      list(
        object<DomainHub>(
          {
            hub: text,
            state: oneOf(['this', 'fresh', 'stale', 'unknown']),
            connections: describe(texts, 'The Connection IDs that it has'),
            parameters: describe(count, 'How many are shown here; of this hub how many it shares'),
          },
          { mirror },
        ),
      ),
      'By name',
    ),
  }),
};
