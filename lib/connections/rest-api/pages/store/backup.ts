// GET /hub/backup: an archive of all that the hub is made of and keeps, sent as fast as the client reads.

import type { HttpRequest, HttpResponse } from '../../../../net/uws.ts';
import type { Backup } from '../../../archive.ts';
import type { Log } from '../../../connection.ts';
import type { HubPort } from '../../../hub-port.ts';
import { acceptOf, wantsJsonErrors } from '../../http/answer/accept.ts';
import { begin } from '../../http/answer/headers.ts';
import type { Paced } from '../../http/body.ts';
import { cutWith, type Exchange, keepResponse } from '../../http/exchange.ts';
import { sendParts } from '../../http/send-parts.ts';
import { asHubError } from '../../input/fault-gate.ts';
import { shareOf } from '../../limits/rates.ts';
import type { FairQueue } from '../../pacing/fair-queue.ts';
import { remoteAddressOf } from '../../proxies/remote-address.ts';
import type { Visitor } from '../../users/visitor.ts';
import { archived } from './archive.ts';

/** What is needed to send one. */
export interface BackupContext {
  readonly hub: HubPort;
  readonly queue: FairQueue;
  readonly log: Log;
}

/** Errors: `not-found`; later those of a backup are answered, and one that stops in the middle cuts the connection. */
export function serveBackup(
  { hub, queue, log }: BackupContext,
  visitor: Visitor,
  response: HttpResponse,
  request: HttpRequest,
): void {
  const share = shareOf(visitor, remoteAddressOf(response));
  const storage = archived(hub, 'storage');
  const asJson = wantsJsonErrors(request.getUrl(), acceptOf(request));
  const exchange = keepResponse(response);
  const stay = cutWith(visitor, response);
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
