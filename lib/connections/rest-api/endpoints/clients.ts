// GET /hub/clients: the state of each WebSocket client. POST /hub/clients/<id>: disconnects a client.

import { z } from 'zod';
import { describe, HubError } from '../../../model/error.ts';
import {
  type ClientList,
  type ClientStatus,
  clientControl,
  clientList,
  type SessionStatus,
} from '../../../wire/http/operation.ts';
import { maxListedClients } from '../../../wire/limits.ts';
import { closeCodes } from '../../../wire/protocol.ts';
import { toIsoTime } from '../../../wire/time.ts';
import { shownAddress } from '../proxies/ip-address.ts';
import type { ConnectedClient } from '../sockets/socket-protocol.ts';

import { action, page } from './endpoint.ts';

export const endpoints = [
  page({
    path: '/hub/clients',
    need: 'manage',
    id: 'listClients',
    tag: 'operation',
    summary: `The WebSocket clients of this connection, slowest first, at most ${maxListedClients}`,
    answer: clientList,
    read: ({ sockets }) => clientsOf(sockets.clients()),
  }),
  action({
    path: '/hub/clients/{id}',
    need: 'manage',
    id: 'controlClient',
    tag: 'operation',
    summary: `Closes the socket of a client with code ${closeCodes.disconnected}; a client that connects again is listed under a new ID`,
    names: { id: 'ID of the client' },
    body: clientControl,
    answer: z.strictObject({}),
    answered: 'The socket is closed',
    errors: { 404: 'Client not found' },
    act({ sockets, log }, _, { by, rest }) {
      for (const { id, session } of sockets.clients()) {
        if (String(id) !== rest) continue;
        log.info({}, `client ${id} was disconnected by ${by.name}`);
        session.end(closeCodes.disconnected, 'disconnected by an operator');
        return {};
      }
      throw new HubError('not-found', `no client has the ID ${describe(rest)}; it may have disconnected`);
    },
  }),
];

const maxLength = 1024 * 1024;

/** Returns the connected WebSocket clients, slowest first, up to a total of 1 MiB of JSON. */
export function clientsOf(connected: Iterable<ConnectedClient>): ClientList {
  const nowMs = performance.now();
  const clients = [...connected].map((client) => ({ client, status: client.session.status(nowMs) }));
  const isSlow = ({ status }: Shown) => status.lagMs > 0 || status.unreadBytes > 0;
  const slow = clients.filter(isSlow).sort(bySlowness);
  const shown: ClientStatus[] = [];
  let length = 0;
  for (const one of [...slow, ...clients.filter((client) => !isSlow(client))].slice(0, maxListedClients)) {
    const described = describeClient(one);
    length += JSON.stringify(described).length;
    if (length > maxLength) break;
    shown.push(described);
  }
  return { count: clients.length, clients: shown };
}

interface Shown {
  readonly client: ConnectedClient;
  readonly status: SessionStatus;
}

function bySlowness(one: Shown, other: Shown): number {
  return (
    other.status.lagMs - one.status.lagMs ||
    other.status.unreadBytes - one.status.unreadBytes ||
    one.client.id - other.client.id
  );
}

function describeClient({
  client: { id, principal, remoteAddress, protocol, since, session, name, browser },
  status,
}: Shown): ClientStatus {
  const address = shownAddress(remoteAddress);
  return {
    ...{ id, user: principal.name, address, protocol, since: toIsoTime(since()) },
    ...(name !== '' && { name }),
    ...(browser !== '' && { browser }),
    ...session.interests(),
    ...{ ...status, lagMs: Math.round(status.lagMs) },
  };
}
