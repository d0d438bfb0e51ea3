// GET /hub/backup: an archive of the hub's files and data, sent as fast as the client can read.

import { z } from 'zod';
import type { HttpRequest, HttpResponse } from '../../../net/uws.ts';
import type { Backup } from '../../persistence.ts';
import { acceptOf, wantsJsonErrors } from '../http/answer/accept.ts';
import { begin } from '../http/answer/headers.ts';
import type { Paced } from '../http/body.ts';
import { cutWith, type Exchange, keepResponse } from '../http/exchange.ts';
import { sendParts } from '../http/send-parts.ts';
import { asHubError } from '../input/parse-input.ts';
import { shareOf } from '../limits/rates.ts';
import { remoteAddressOf } from '../proxies/trusted-proxies.ts';
import type { Principal } from '../users/principal.ts';
import { archived, type Context, type Endpoint, ownersOnly } from './endpoint.ts';

export const endpoints: Endpoint[] = [
  {
    method: 'GET',
    path: '/hub/backup',
    need: 'manage',
    getWrites: true, // GET changes nothing, but a page from another site must not start a backup
    id: 'backUp',
    tag: 'past',
    summary: 'An archive of the flow files, the files that they reference, and the databases; one backup at a time',
    answers: { 200: { description: 'A tar archive', content: { 'application/x-tar': z.any() } } },
    errors: {
      403: 'The request comes from a page of another site or, if the hub has no credentials, from anything but a program on its own machine',
      404: 'The hub has no store',
      409: 'Another backup is in progress',
      503: 'The backup is not possible, for example because the disk is full',
    },
    serve: (context) =>
      ownersOnly(context.settings, (response, request, principal) =>
        serveBackup(context, principal, response, request),
      ),
  },
];

/**
 * Streams a backup archive. Errors: `not-found` if the hub has no store; any error from the backup. An error in the middle of the archive
 * cuts the connection.
 */
function serveBackup(
  { hub, queue, log }: Pick<Context, 'hub' | 'queue' | 'log'>,
  principal: Principal,
  response: HttpResponse,
  request: HttpRequest,
): void {
  const share = shareOf(principal, remoteAddressOf(response));
  const storage = archived(hub, 'storage');
  const asJson = wantsJsonErrors(request.getUrl(), acceptOf(request));
  const exchange = keepResponse(response);
  const stay = cutWith(principal, response);
  const serving = storage
    .backUp()
    .then((backup) => send(exchange, backup, { queue, share }).finally(() => backup.end()));
  serving.catch((error) => exchange.fail(asHubError(error, log), asJson)).finally(stay);
}

async function send(exchange: Exchange, backup: Backup, paced: Paced): Promise<void> {
  const name = `patchbay-${new Date().toISOString().slice(0, 19).replaceAll(':', '-')}.tar`;
  exchange.reply((response) => {
    begin(response).writeHeader('Content-Type', 'application/x-tar').writeHeader('Cache-Control', 'no-store');
    response.writeHeader('Content-Disposition', `attachment; filename="${name}"`);
  });
  await sendParts(exchange, paced, { totalBytes: backup.bytes, heldBytes: 0, next: () => backup.next() });
}
