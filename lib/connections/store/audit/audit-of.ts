// The audit as a part of the store.

import { defer } from 'rxjs';
import { within } from '../../../model/time/deadline.ts';
import type { ConnectionContext } from '../../connection.ts';
import type { HubPort } from '../../hub-port.ts';
import type { KeptLog } from '../../keeping.ts';
import { HourlyCopy } from '../hourly-copy.ts';
import type { Part } from '../parts.ts';
import { roomOf } from '../room.ts';
import { createSelection } from '../selection.ts';
import type { StoreSettings } from '../settings.ts';
import { filesOf } from '../thread/database/files.ts';
import { AuditWriter } from './audit-writer.ts';
import { keepAudit } from './keep-audit.ts';
import type { OpenedAudit } from './messages.ts';

/** How long those who read the log wait for that of earlier runs. */
const logDeadlineMs = 5000;

type Context = Pick<ConnectionContext<StoreSettings>, 'settings' | 'resolvePath' | 'scheduler' | 'finish'>;
type OpenContext = Pick<Context, 'settings' | 'resolvePath'>;

/** A database that was opened for the start of the hub, until the connection runs. */
export interface OpenedForStart {
  readonly writer: AuditWriter;
  /** Resolves after `log` has. */
  readonly opened: Promise<OpenedAudit>;
  /** The log of earlier runs; undefined: there is none, or it cannot be read in time. */
  readonly log: Promise<KeptLog | undefined>;
}

/** Opens the database for a start of the hub. */
export function openForStart(context: OpenContext): OpenedForStart {
  const writer = new AuditWriter();
  const opening = writer.open(requestOf(context, { isRead: true, isSuspect: false }));
  const log = within(
    opening.catch(() => undefined),
    logDeadlineMs,
  ).then((opened) => opened?.held?.log);
  const opened = log.then(() => opening);
  opened.catch(() => {}); // the connection tells it when it runs
  return { writer, opened, log };
}

/** Notes who did what, and keeps the log. */
export function auditOf(
  context: Context,
  hub: HubPort,
  opened: OpenedForStart | undefined,
  readersEnded: () => Promise<unknown>,
): Part {
  const { settings, resolvePath, scheduler, finish } = context;
  let first = opened;
  return defer(() => {
    const { opened } = first ?? {};
    const writer = first?.writer ?? new AuditWriter();
    first = undefined;
    return keepAudit({
      hub,
      writer,
      copy: new HourlyCopy(filesOf(resolvePath(settings.folder), 'audit')),
      scheduler,
      opened,
      isSelected: createSelection(settings.audit),
      open: (isSuspect) => writer.open(requestOf(context, { isRead: false, isSuspect })),
      readersEnded,
      finish,
    });
  });
}

function requestOf({ settings, resolvePath }: OpenContext, how: { isRead: boolean; isSuspect: boolean }) {
  const { folder, maxSize, audit } = settings;
  return { folder: resolvePath(folder), maxBytes: roomOf(maxSize).auditBytes, keepMs: audit.keep, ...how };
}
