// GET /hub/snapshots: the snapshots of a store, and one of them beside the present values.

import type { Snapshot, SnapshotList } from '../../../../wire/http/snapshots.ts';
import { toIsoTime } from '../../../../wire/time.ts';
import type { HubPort } from '../../../hub-port.ts';
import { decodePath } from '../../http/path.ts';
import { archived } from './archive.ts';

export const snapshotsPath = '/hub/snapshots';

/** All snapshots, by selection. Errors: `not-found`. */
export function snapshotsOf(hub: HubPort): SnapshotList {
  const snapshots = archived(hub, 'snapshots');
  return {
    connection: snapshots.connection,
    selections: snapshots.list().map(({ saved, ...selection }) => ({
      ...selection,
      saved: saved.map((one) => ({ ...one, time: toIsoTime(one.time) })),
    })),
  };
}

/** `/hub/snapshots/studio-1/evening`: every value beside the present one. Errors: `not-found` with the nearest name. */
export function compareSnapshot(hub: HubPort, path: string): Snapshot {
  const rest = path.slice(snapshotsPath.length + 1);
  const slash = rest.includes('/') ? rest.indexOf('/') : rest.length;
  const [selection, name] = [rest.slice(0, slash), rest.slice(slash + 1)].map(decodePath) as [string, string];
  const { time, ...snapshot } = archived(hub, 'snapshots').compare(selection, name);
  return { ...snapshot, time: toIsoTime(time) };
}
