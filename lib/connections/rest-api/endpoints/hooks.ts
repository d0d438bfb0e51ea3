// POST /hub/hooks/<name>: passes a delivery to the connection that receives this webhook. Senders are not users: the connection checks
// their secrets. For an unknown name, the hub does the same work and gives the same answer as for a wrong secret.

import { createHmac, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { HubError } from '../../../model/error.ts';
import type { Delivery, Hook, HubPort } from '../../hub-port.ts';
import { acceptOf, wantsJsonErrors } from '../http/answer/accept.ts';
import { begin } from '../http/answer/headers.ts';
import { bodyTypeOf, readBytes } from '../http/body.ts';
import { keepResponse } from '../http/exchange.ts';
import { keepRequest } from '../http/postponed-requests.ts';
import { asHubError } from '../input/parse-input.ts';
import { networkOf } from '../limits/network.ts';
import { shownAddress } from '../proxies/ip-address.ts';
import { remoteAddressOf } from '../proxies/trusted-proxies.ts';
import { type Context, type Endpoint, startOf } from './endpoint.ts';

const path = '/hub/hooks/{name}';
const start = startOf(path).length;
const formOfName = /^[a-z\d][a-z\d-]{0,63}$/;

export const endpoints: Endpoint[] = [
  {
    method: 'POST',
    path,
    need: 'own',
    id: 'receiveWebhook',
    tag: 'parameters',
    summary: 'Delivers to a webhook that a flow file declares; the sender authenticates with the secret of the webhook',
    names: { name: 'The name of the webhook' },
    body: {
      'application/json': z.unknown(),
      'application/x-www-form-urlencoded': z.unknown(),
      'text/plain': z.string(),
    },
    answers: { 204: { description: 'This delivery, or an earlier copy of it, was accepted' } },
    errors: {
      401: 'The webhook does not exist, the secret or the signature is wrong, or the delivery is too old',
      404: 'The path does not belong to a webhook',
      413: 'The body is longer than the webhook accepts',
      415: 'The webhook does not accept bodies of this type',
      422: 'The body is malformed, lacks a value, or contains a value that cannot be converted',
      429: 'Too many deliveries, or too many invalid deliveries from this address',
      503: 'The hub is a standby, or another hub took over before it could confirm the delivery',
    },
    serve: (context) => (response, request) => {
      const name = request.getUrl().slice(start);
      if (name === '' || name.includes('/'))
        throw new HubError('not-found', `expected /hub/hooks/<name>, got ${request.getUrl()}`);
      const { hub, queue, log } = context;
      if (hub.leadership.term === undefined)
        throw new HubError('unavailable', 'this hub is not active and accepts no deliveries');
      const address = remoteAddressOf(response);
      const exchange = keepResponse(response);
      const asJson = wantsJsonErrors(request.getUrl(), acceptOf(request));
      const kept = keepRequest(request);
      const fail = (error: unknown) => exchange.fail(asHubError(error, log), asJson);
      readBytes(exchange, request, { share: networkOf(address), queue }, (body) => {
        try {
          if (body instanceof HubError) throw body;
          const delivery: Delivery = {
            header: (header) => kept.getHeader(header),
            query: kept.getQuery() ?? '',
            type: bodyTypeOf(kept),
            body,
            sender: shownAddress(address),
          };
          const { undo } = receive(context, name, delivery, address);
          const confirmed = hub.leadership.term?.confirm?.();
          const accept = () => exchange.reply(() => begin(response, '204 No Content').endWithoutBody());
          if (confirmed === undefined) accept();
          else
            void confirmed.then((isConfirmed) => {
              if (isConfirmed) return accept();
              undo();
              fail(new HubError('unavailable', 'not confirmed: another hub may have taken over; deliver it again'));
            });
        } catch (error) {
          fail(error);
        }
      });
    },
  },
];

/** Passes a delivery to its webhook, and records the delivery in the audit. Errors: any error from the webhook; `too-many-attempts`. */
function receive(
  { hub, entry }: Context,
  name: string,
  delivery: Delivery,
  address: string,
): ReturnType<Hook['receive']> {
  try {
    const taken = hookOf(hub, name).receive(delivery);
    entry.auditSink.note('', address, 'in', `by webhook ${name}`);
    return taken;
  } catch (error) {
    if (!(error instanceof HubError) || error.code !== 'unauthorized') throw error;
    throw entry.refuse(address, 'by a webhook') ?? error;
  }
}

/** Returns the webhook with this name, or a webhook that refuses everything. */
function hookOf({ hooks }: Pick<HubPort, 'hooks'>, name: string): Pick<Hook, 'receive'> {
  return (formOfName.test(name) ? hooks.get(name) : undefined) ?? noHook;
}

const noSecret = randomBytes(32);
const noHook: Pick<Hook, 'receive'> = {
  receive({ body }) {
    createHmac('sha256', noSecret).update(body).digest(); // as much work as checking a signature
    throw new HubError('unauthorized', 'expected the name and the secret of a webhook on this hub');
  },
};
