// The routes to what the store keeps.

import type { Recording } from '../../../model/reports/audit-entry.ts';
import type { Handler } from '../http/admission.ts';
import { createOwnerCheck } from '../http/guard/owner.ts';
import type { Route } from '../http/router.ts';
import { serveRecording } from '../pages/record.ts';
import { serveBackup } from '../pages/store/backup.ts';
import { compareSnapshot, snapshotsOf, snapshotsPath } from '../pages/store/snapshots.ts';
import { serveStore } from '../pages/store/store.ts';
import { remoteAddressOf } from '../proxies/remote-address.ts';
import { later, pagesOf } from './handlers.ts';
import type { RouteContext } from './route-context.ts';

export function storeRoutes(context: RouteContext): Route[] {
  const { hub, settings, log } = context;
  const json = pagesOf(context);
  const expectOwner = createOwnerCheck(settings);
  const recordings = new Set<Recording>();
  /** A file with all that the hub has: it changes nothing, but no page of another site may have it made. */
  const ownersFile = (path: string, serve: Handler): Route => ({
    path,
    need: 'manage',
    getWrites: true,
    get(response, request, visitor) {
      expectOwner(request, remoteAddressOf(response));
      serve(response, request, visitor);
    },
  });
  return [
    ownersFile('/hub/backup', (response, request, visitor) => serveBackup(context, visitor, response, request)),
    ownersFile('/hub/record', (response, _, visitor) => serveRecording(hub, recordings, visitor, response, log)),
    {
      path: '/hub/store',
      need: 'manage',
      get: later((response, request) => serveStore(hub, response, request, log), context),
    },
    { path: snapshotsPath, need: 'entry', get: json(({ visitor }) => snapshotsOf(hub, visitor)) },
    {
      path: `${snapshotsPath}/*`,
      need: 'entry',
      get: json(({ path, visitor }) => compareSnapshot(hub, path, visitor)),
    },
  ];
}
