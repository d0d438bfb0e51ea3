// GET and POST /hub/connections: the state of connections, and operators' actions.

import { z } from 'zod';
import { describe, HubError } from '../../../model/error.ts';
import type * as model from '../../../model/reports/connection-status.ts';
import { keptFrames } from '../../../model/reports/wire-log.ts';
import {
  type ConnectionStatus,
  connectionControl,
  connectionList,
  connectionStatus,
  wireFrames,
} from '../../../wire/http/operation.ts';
import { count } from '../../../wire/http/shape.ts';
import { toIsoTime } from '../../../wire/time.ts';
import type { HubPort } from '../../hub-port.ts';
import { decodePath } from '../input/request-path.ts';
import { action, page } from './endpoint.ts';
import { termOf } from './rules.ts';

export const endpoints = [
  page({
    path: '/hub/connections',
    need: 'manage',
    id: 'listConnections',
    tag: 'operation',
    summary: 'The state of each connection',
    answer: connectionList,
    read: ({ hub }) => ({
      structure: hub.structure,
      connections: hub.connections().map((status) => describeConnection(status, hub)),
    }),
  }),
  page({
    path: '/hub/wire/{id}',
    need: 'manage',
    id: 'readWire',
    tag: 'operation',
    summary: `The last ${keptFrames.toLocaleString('en')} frames that a connection to a device sent and received`,
    names: { id: 'Connection ID' },
    query: z.object({ after: count.default(0).describe('Only frames after this number') }),
    answer: wireFrames,
    errors: { 400: 'The query is not valid', 404: 'Connection not found' },
    read: ({ hub }, { query }, rest) => {
      const after = new URLSearchParams(query).get('after') ?? '0';
      if (!/^\d{1,15}$/.test(after))
        throw new HubError('bad-request', `after: expected a frame number, got ${describe(after)}`);
      return hub
        .wire(decodePath(rest), Number(after))
        .map(({ time, ...frame }) => ({ ...frame, time: toIsoTime(time) }));
    },
  }),
  action({
    path: '/hub/connections/{id}',
    need: 'manage',
    id: 'controlConnection',
    tag: 'operation',
    summary: 'Starts, stops or restarts a connection; a reload that changes its settings overrides this',
    names: { id: 'Connection ID' },
    isTraced: true,
    body: connectionControl,
    answer: connectionStatus,
    answered: 'The new state of the connection',
    errors: {
      400: '`until` is not a time in the future',
      404: 'Connection not found',
      409: 'The connection is already in that state, or this request arrives through it',
    },
    act({ id, hub }, { action, until, reason }, { by, rest }) {
      const target = decodePath(rest);
      if (target === id && action !== 'start')
        throw new HubError(
          'conflict',
          `${action}: expected a connection other than "${id}", which receives this request`,
        );
      return describeConnection(hub.control(target, action, by, termOf(until, reason)), hub);
    },
  }),
];

function describeConnection(
  { since, device, ...status }: model.ConnectionStatus,
  { drivers }: Pick<HubPort, 'drivers'>,
): ConnectionStatus {
  return {
    ...status,
    since: toIsoTime(since),
    ...(drivers.has(status.id) && { driver: true as const }),
    ...(device && { device: describeDevice(device) }),
  };
}

function describeDevice({ staleSince, pending, isSimulated }: model.DeviceStatus): ConnectionStatus['device'] {
  return {
    ...(staleSince !== undefined && { staleSince: toIsoTime(staleSince) }),
    pending,
    ...(isSimulated && { simulated: true as const }),
  };
}
