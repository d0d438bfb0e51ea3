// GET /hub/snapshots: the snapshots of a store. GET /hub/snapshots/<selection>/<name>: one snapshot, compared with the current values.

import { unknownName } from '../../../json5/nearest-name.ts';
import { HubError } from '../../../model/error.ts';
import { type Snapshot, type SnapshotList, snapshot, snapshotList } from '../../../wire/http/past-shapes.ts';
import { toIsoTime } from '../../../wire/time.ts';
import type { HubPort } from '../../hub-port.ts';
import { decodePath } from '../input/request-path.ts';
import type { Principal } from '../users/principal.ts';
import { archived, badPath, page } from './endpoint.ts';

export const endpoints = [
  page({
    path: '/hub/snapshots',
    need: 'entry',
    id: 'listSnapshots',
    tag: 'past',
    summary: 'The snapshots in the store, by selection',
    answer: snapshotList,
    errors: { 404: 'The hub has no store' },
    read: ({ hub }, { principal }) => snapshotsOf(hub, principal),
  }),
  page({
    path: '/hub/snapshots/{selection}/{name}',
    need: 'entry',
    id: 'compareSnapshot',
    tag: 'past',
    summary: 'A snapshot, with each value next to the current one',
    names: { selection: 'Name of the selection', name: 'Name of the snapshot' },
    answer: snapshot,
    errors: { 400: badPath, 404: 'Snapshot not found, or the hub has no store' },
    read: ({ hub }, { principal }, rest) => compareSnapshot(hub, rest, principal),
  }),
];

/**
 * Returns the saved snapshots that the principal may know about, by selection. Only a principal who may read everything learns how many
 * parameters each snapshot contains, because for other principals the hub would have to parse every snapshot. Errors: `not-found` if the
 * hub has no store.
 */
function snapshotsOf(hub: HubPort, principal: Principal): SnapshotList {
  const snapshots = archived(hub, 'snapshots');
  const readsAll = principal.rights?.readsAll ?? true;
  return {
    connection: snapshots.connection,
    selections: snapshots
      .list()
      .filter(({ name }) => mayKnow(principal, snapshots.connection, name))
      .map(({ name, saved, matches }) => ({
        name,
        matches: principal.view.mayRead(`${snapshots.connection}/${name}/matches`) ? matches : undefined,
        saved: saved.map(({ name, time, parameters }) => ({
          name,
          time: toIsoTime(time),
          parameters: readsAll ? parameters : undefined,
        })),
      })),
  };
}

/**
 * Compares a snapshot with the current values. `rest` has the form `studio-1/evening`. Errors: `not-found`, which suggests the most similar
 * name.
 */
function compareSnapshot(hub: HubPort, rest: string, principal: Principal): Snapshot {
  const slash = rest.includes('/') ? rest.indexOf('/') : rest.length;
  const [selection, name] = [rest.slice(0, slash), rest.slice(slash + 1)].map(decodePath) as [string, string];
  const snapshots = archived(hub, 'snapshots');
  const known = snapshots
    .list()
    .map((one) => one.name)
    .filter((one) => mayKnow(principal, snapshots.connection, one));
  if (!known.includes(selection)) throw new HubError('not-found', unknownName('selection', selection, known));
  const { time, values, ...snapshot } = snapshots.compare(selection, name);
  return {
    ...snapshot,
    time: toIsoTime(time),
    values: values.filter(({ parameter }) => principal.view.mayRead(parameter)),
  };
}

/**
 * Returns whether a principal may know about a selection, because the principal may read the store's parameters for the selection, or
 * recall it.
 */
function mayKnow({ rights }: Principal, store: string, selection: string): boolean {
  if (rights === undefined) return true;
  return rights.mayRead(`${store}/${selection}/matches`) || rights.mayWrite(`${store}/${selection}/recall`);
}
