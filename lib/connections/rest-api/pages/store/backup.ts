// GET /hub/backup: an archive of all that the hub is made of and keeps, sent as fast as the client reads.

import type { HttpRequest, HttpResponse } from '../../../../net/uws.ts';
import type { Backup } from '../../../archive.ts';
import type { Log } from '../../../connection.ts';
import type { HubPort } from '../../../hub-port.ts';
import { acceptOf, wantsJsonErrors } from '../../http/answer/accept.ts';
import { begin } from '../../http/answer/headers.ts';
import { cutWith, type Exchange, keepResponse } from '../../http/exchange.ts';
import { sendPart } from '../../http/send-part.ts';
import { asHubError } from '../../input/fault-gate.ts';
import type { Visitor } from '../../users/visitor.ts';
import { archived } from './archive.ts';

/** Errors: `not-found`; later those of a backup are answered, and one that stops in the middle cuts the connection. */
export function serveBackup(
  hub: HubPort,
  visitor: Visitor,
  response: HttpResponse,
  request: HttpRequest,
  log: Log,
): void {
  const storage = archived(hub, 'storage');
  const asJson = wantsJsonErrors(request.getUrl(), acceptOf(request));
  const exchange = keepResponse(response);
  const stay = cutWith(visitor, response);
  const serving = storage.backUp().then((backup) => send(exchange, backup).finally(() => backup.end()));
  serving.catch((error) => exchange.fail(asHubError(error, log), asJson)).finally(stay);
}

async function send(exchange: Exchange, backup: Backup): Promise<void> {
  const name = `patchbay-${new Date().toISOString().slice(0, 19).replaceAll(':', '-')}.tar`;
  exchange.reply((response) => {
    begin(response).writeHeader('Content-Type', 'application/x-tar').writeHeader('Cache-Control', 'no-store');
    response.writeHeader('Content-Disposition', `attachment; filename="${name}"`);
  });
  while (!exchange.isAborted) {
    const piece = await backup.next();
    if (piece === undefined) return;
    await sendPart(exchange, piece, backup.bytes);
  }
}
