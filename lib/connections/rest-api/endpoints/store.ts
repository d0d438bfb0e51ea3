// GET /hub/store: how much room the store takes, and how well it keeps up.

import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { HttpRequest, HttpResponse } from '../../../net/uws.ts';
import { type StoreFile, type StorePart, type StoreStatus, storeStatus } from '../../../wire/http/past.ts';
import { toIsoTime } from '../../../wire/time.ts';
import type { Archive } from '../../archive.ts';
import type { Log } from '../../connection.ts';
import type { HubPort } from '../../hub-port.ts';
import { acceptOf, wantsJsonErrors } from '../http/answer/accept.ts';
import { preconditionsOf } from '../http/answer/conditional.ts';
import { jsonAnswerOf, jsonTextOf, replyJson } from '../http/answer/reply.ts';
import { keepResponse } from '../http/exchange.ts';
import { asHubError } from '../input/fault-gate.ts';
import { archived, type Endpoint, fresh, later } from './endpoint.ts';

export const storeEndpoints: Endpoint[] = [
  {
    method: 'GET',
    path: '/hub/store',
    need: 'manage',
    id: 'readStore',
    tag: 'past',
    summary: 'How much room the store takes, and how well it keeps up',
    answers: fresh({ 'application/json': storeStatus }),
    errors: { 404: 'The hub has no store' },
    serve: (context) => later((response, request) => serveStore(context.hub, response, request, context.log), context),
  },
];

const parts: readonly StorePart[] = ['values', 'history', 'audit'];

/** Answers with the status of the store. Errors: `not-found`. */
async function serveStore(hub: HubPort, response: HttpResponse, request: HttpRequest, log: Log): Promise<void> {
  const preconditions = preconditionsOf(request);
  const asJson = wantsJsonErrors(request.getUrl(), acceptOf(request));
  const exchange = keepResponse(response);
  try {
    const status = await statusOf(hub);
    const made = jsonAnswerOf(jsonTextOf(status), preconditions);
    exchange.reply(() => replyJson(response, made));
  } catch (error) {
    exchange.fail(asHubError(error, log), asJson);
  }
}

async function statusOf(hub: HubPort): Promise<StoreStatus> {
  const { folder, shownFolder, maxBytes } = archived(hub, 'storage');
  const archive = hub.keeping.archive!;
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

/** The files of a folder, by name; empty: there is no such folder. A file that goes meanwhile is left out. */
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
