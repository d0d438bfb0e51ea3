// GET and POST /hub/connections: how connections are doing, and what operators do with them.

import { HubError } from '../../../model/error.ts';
import type * as model from '../../../model/reports/connection-status.ts';
import type { HttpRequest, HttpResponse } from '../../../net/uws.ts';
import { type ConnectionList, type ConnectionStatus, connectionControl } from '../../../wire/http/operation.ts';
import { toIsoTime } from '../../../wire/time.ts';
import type { HubPort } from '../../hub-port.ts';
import { answerPost } from '../http/answer-post.ts';
import { decodePath } from '../http/path.ts';
import type { Operation } from './operation.ts';

export const connectionsPath = '/hub/connections';

/** How each connection is doing, in the order of the flow files, and how often parameters have come or gone. */
export function connectionsOf(hub: HubPort): ConnectionList {
  return { structure: hub.structure, connections: hub.connections().map(describeConnection) };
}

/** `POST /hub/connections/<id>`, `{"action":"restart"}`: answers with its status. Errors: `not-found`, `conflict`. */
export function controlConnection(
  { id, hub, log, queue, by, visitor }: Operation,
  response: HttpResponse,
  request: HttpRequest,
): void {
  const target = decodePath(request.getUrl().slice(connectionsPath.length + 1));
  answerPost({ response, request, visitor, queue, log }, connectionControl, ({ action }) => {
    if (target === id && action !== 'start')
      throw new HubError('conflict', `${action}: expected another connection, "${id}" is the one that you ask by`);
    return describeConnection(hub.control(target, action, by));
  });
}

function describeConnection({ since, ...status }: model.ConnectionStatus): ConnectionStatus {
  return { ...status, since: toIsoTime(since) };
}
