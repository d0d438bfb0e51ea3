// GET /hub/store: the store's disk usage and write lag.
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type StoreFile, type StorePart, type StoreStatus, storeStatus } from '../../../wire/http/past-shapes.ts';
import { toIsoTime } from '../../../wire/time.ts';
import type { HubPort } from '../../hub-port.ts';
import type { Archive } from '../../persistence.ts';
import { archived, page } from './endpoint.ts';

export const endpoints = [
  page({
    path: '/hub/store',
    need: 'manage',
    id: 'readStore',
    tag: 'past',
    summary: 'The disk usage of the store, and its write lag',
    answer: storeStatus,
    errors: { 404: 'The hub has no store' },
    read: ({ hub }) => statusOf(hub),
  }),
];

const parts: readonly StorePart[] = ['values', 'history', 'audit'];

/** Resolves to the disk usage and the write lag of the hub's store. Errors: `not-found` if the hub has no store. */
async function statusOf(hub: HubPort): Promise<StoreStatus> {
  const { folder, shownFolder, maxBytes } = archived(hub, 'storage');
  const archive = hub.persistence.archive!;
  const files = await filesIn(folder);
  return {
    folder: shownFolder,
    maxBytes,
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    files,
    rows: parts.flatMap((part) => {
      const status = archive[part]?.status();
      return status ? [{ part, perSecond: status.perSecond, lagMs: Math.round(status.lagMs), lost: status.lost }] : [];
    }),
    oldest: { history: oldestOf(archive, 'history'), audit: oldestOf(archive, 'audit') },
  };
}

function oldestOf(archive: Archive, part: 'history' | 'audit') {
  const oldest = archive[part]?.status().oldest;
  return oldest === undefined ? undefined : toIsoTime(oldest);
}

/**
 * Resolves to the names and sizes of the files in a folder, sorted by name; to an empty list if the folder does not exist. Files that
 * disappear in the meantime are omitted.
 */
async function filesIn(folder: string): Promise<StoreFile[]> {
  const names = await readdir(folder).catch(() => []);
  const found = await Promise.all(
    names.sort().map(async (name) => {
      const stats = await stat(join(folder, name)).catch(() => undefined);
      return stats?.isFile() ? [{ name, bytes: stats.size }] : [];
    }),
  );
  return found.flat();
}
