// GET and POST /hub/connections: how connections are doing, and what operators do with them.

import { HubError } from '../../../model/error.ts';
import type * as model from '../../../model/reports/connection-status.ts';
import {
  type ConnectionStatus,
  connectionControl,
  connectionList,
  connectionStatus,
} from '../../../wire/http/operation.ts';
import { toIsoTime } from '../../../wire/time.ts';
import { decodePath } from '../http/request-url.ts';
import { action, page } from './endpoint.ts';

export const endpoints = [
  page({
    path: '/hub/connections',
    need: 'manage',
    id: 'listConnections',
    tag: 'operation',
    summary: 'How each connection is doing',
    answer: connectionList,
    read: ({ hub }) => ({ structure: hub.structure, connections: hub.connections().map(describeConnection) }),
  }),
  action({
    path: '/hub/connections/{id}',
    need: 'manage',
    id: 'controlConnection',
    tag: 'operation',
    summary: 'Starts, stops or restarts a connection, until a reload changes it',
    names: { id: 'Connection ID' },
    isTraced: true,
    body: connectionControl,
    answer: connectionStatus,
    answered: 'How it is doing now',
    errors: {
      404: 'There is no such connection',
      409: 'That makes no sense as things are, or stops the connection that was asked by',
    },
    act({ id, hub }, { action }, { by, rest }) {
      const target = decodePath(rest);
      if (target === id && action !== 'start')
        throw new HubError('conflict', `${action}: expected another connection, "${id}" is the one that you ask by`);
      return describeConnection(hub.control(target, action, by));
    },
  }),
];

function describeConnection({ since, ...status }: model.ConnectionStatus): ConnectionStatus {
  return { ...status, since: toIsoTime(since) };
}
