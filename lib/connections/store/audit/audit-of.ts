// The audit as a part of the store.

import { defer } from 'rxjs';
import { within } from '../../../model/deadline.ts';
import type { ConnectionContext } from '../../connection.ts';
import type { HubPort } from '../../hub-port.ts';
import type { KeptLog } from '../../keeping.ts';
import { HourlyCopy } from '../hourly-copy.ts';
import type { Part } from '../parts.ts';
import type { ReadFile } from '../reader/past-reader.ts';
import { createSelection } from '../selection.ts';
import type { StoreSettings } from '../settings.ts';
import { filesOf } from '../thread/files.ts';
import { AuditWriter } from './audit-writer.ts';
import { type AuditKeeper, keepAudit } from './keep-audit.ts';
import type { OpenAudit, OpenedAudit } from './messages.ts';
import { logBytes } from './tables.ts';

/** How long the start of the hub waits for the log of earlier runs. */
const logDeadlineMs = 2000;
/** The share of the store that the audit has: for its database, the copy of it, and the next copy while it is made. */
const auditShare = 1 / 4;

type Context = Pick<ConnectionContext<StoreSettings>, 'settings' | 'resolvePath' | 'scheduler' | 'finish'>;
type OpenContext = Pick<Context, 'settings' | 'resolvePath'>;

/** A database that was opened for the start of the hub, until the connection runs. */
export interface OpenedForStart {
  readonly writer: AuditWriter;
  readonly opened: Promise<OpenedAudit>;
}

/** Opens the database for a start of the hub. */
export function openForStart(context: OpenContext): OpenedForStart {
  const writer = new AuditWriter();
  const opened = writer.open(requestOf(context, { isRead: true, isSuspect: false }));
  opened.catch(() => {}); // the connection tells it when it runs
  return { writer, opened };
}

/** The log of earlier runs; undefined: there is none, or it cannot be read in time. */
export async function logOf({ opened }: OpenedForStart): Promise<KeptLog | undefined> {
  const result = await within(
    opened.catch(() => undefined),
    logDeadlineMs,
  );
  return result?.held?.log;
}

/** Notes who did what, and keeps the log: the part, and its file for those who read. */
export function auditOf(
  context: Context,
  hub: HubPort,
  opened: OpenedForStart | undefined,
): { part: Part; file: ReadFile } {
  const { settings, resolvePath, scheduler, finish } = context;
  const files = filesOf(resolvePath(settings.folder), 'audit');
  let first = opened;
  let keeper: AuditKeeper | undefined;
  const offer = (one: AuditKeeper) => {
    keeper = one;
    return hub.keeping.offer({ audit: one });
  };
  const part = defer(() => {
    const { opened } = first ?? {};
    const writer = first?.writer ?? new AuditWriter();
    first = undefined;
    const open = (how: Pick<OpenAudit, 'isSuspect'>) => writer.open(requestOf(context, { isRead: false, ...how }));
    const isSelected = createSelection(settings.audit);
    return keepAudit({ hub, writer, copy: new HourlyCopy(files), scheduler, opened, isSelected, open, finish, offer });
  });
  const file = {
    path: files.path,
    flush: async () => keeper?.flush(),
    onDamage: () => keeper?.suspect(),
  };
  return { part, file };
}

function requestOf({ settings, resolvePath }: OpenContext, how: { isRead: boolean; isSuspect: boolean }) {
  const { folder, maxSize, audit } = settings;
  const maxBytes = Math.floor((maxSize * auditShare - logBytes) / 3);
  return { folder: resolvePath(folder), maxBytes, keepMs: audit.keep, ...how };
}
