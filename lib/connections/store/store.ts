// Store: keeps what the hub knows on the disk, and gives it back after a restart. It never keeps a hub from starting.
import { BehaviorSubject, defer, distinctUntilChanged, type Observable, of, type Subject, switchMap } from 'rxjs';
import { within } from '../../model/time/deadline.ts';
import { type ConnectionContext, defineGatewayType, type Log } from '../connection.ts';
import type { HubPort } from '../hub-port.ts';
import type { KeepingPort, KeptValue } from '../keeping.ts';
import type { ResolvePath } from '../setting.ts';
import { auditOf, type OpenedForStart, openForStart } from './audit/keep-audit.ts';
import { keepStorage } from './backup/backup-maker.ts';
import { historyOf } from './history/record-history.ts';
import { HourlyCopy } from './hourly-copy.ts';
import { type Part, runParts } from './parts.ts';
import { type ReadFile, readPast } from './reader/past-reader.ts';
import { createSelection } from './selection.ts';
import { roomOf, type StoreSettings, settingsSchema } from './settings.ts';
import { declareSnapshots, keepSnapshots } from './snapshots/keep-snapshots.ts';
import { maxBytesOfAll, SnapshotShelf } from './snapshots/shelf.ts';
import { filesOf, privateFilesOf } from './thread/database/files.ts';
import type { Opened, ValueRow } from './thread/values/values-messages.ts';
import { keepValues } from './values/keep-values.ts';
import { readCauses } from './values/kept-causes.ts';
import { ValuesWriter } from './values/values-writer.ts';

/** How long the start of the hub waits for the disk. */
const restoreDeadlineMs = 30_000;

/** A database that was opened for the start of the hub, until the connection runs. */
interface Restoring {
  readonly writer: ValuesWriter;
  readonly opened: Promise<Opened>;
  /** Undefined: the disk did not answer in time. */
  readonly result: Opened | undefined;
  readonly audit: OpenedForStart;
}

type Context = ConnectionContext<StoreSettings>;

export const store = defineGatewayType({
  type: 'store',
  isExternal: true,
  settingsSchema,
  parameters: ({ snapshots }) => declareSnapshots(snapshots),
  followsWork: ({ shared }) => shared,
  privateFiles: ({ folder }, resolvePath) => privateFilesOf(resolvePath(folder)),
  claims: () => [{ kind: 'store', name: 'the store of the hub', scope: '*' }],
  async restore({ settings, resolvePath }) {
    const writer = new ValuesWriter();
    const opening = writer.open(openRequest(settings, resolvePath, true));
    const audit = openForStart({ settings, resolvePath });
    const result = await within(
      opening.catch(() => undefined),
      restoreDeadlineMs,
    );
    const opened = result === undefined ? opening.then(tooLate) : opening;
    opened.catch(() => {}); // the connection tells it when it runs
    const { values, memories } = result?.held ?? { values: [], memories: [] };
    const left: Restoring = { writer, opened, result, audit };
    return { values: keptOf(values, createSelection(settings.values)), memories, log: audit.log, left };
  },
  run: (context, hub) =>
    defer(() => {
      const { settings, scheduler } = context;
      const restored = context.left as Restoring | undefined;
      const shelf = new SnapshotShelf(Math.min(maxBytesOfAll, valuesBytes(settings) / 4));
      if (restored?.result !== undefined) shelf.adopt(restored.result);
      let readersEnded: Promise<unknown> = Promise.resolve();
      const isOurs$ = new BehaviorSubject(false);
      return runParts(
        {
          values: valuesOf(context, hub, restored, shelf, isOurs$),
          history: whileOurs(
            isOurs$,
            historyOf(context, hub, () => readersEnded),
          ),
          audit: auditOf(context, hub, restored?.audit, () => readersEnded),
          snapshots: keepSnapshots({
            selections: settings.snapshots,
            context,
            hub,
            shelf,
            offer: (snapshots) => hub.keeping.offer({ snapshots }),
          }),
          past: readPast({
            history: readFileOf(context, hub, 'history'),
            audit: readFileOf(context, hub, 'audit'),
            scheduler,
            offer: (past) => hub.keeping.offer({ past }),
            finish: (work) => {
              readersEnded = work;
              context.finish(work);
            },
          }),
          storage: keepStorage(context, hub),
        },
        scheduler,
      );
    }),
});

/** A database that is read while a part writes it. */
function readFileOf({ settings, resolvePath }: Context, hub: HubPort, part: 'history' | 'audit'): ReadFile {
  const archive = () => hub.keeping.archive?.[part];
  return {
    path: filesOf(resolvePath(settings.folder), part).path,
    flush: async () => archive()?.flush(),
    onDamage: () => void archive()?.check(),
  };
}

/** The causes of a value are read when somebody asks why it is so. */
function keptOf(rows: readonly ValueRow[], isSelected: (address: string) => boolean): KeptValue[] {
  return rows
    .filter(([address]) => isSelected(address))
    .map(([address, type, value, time, causes]) => {
      return { address, value, time, readCause: () => readCauses({ address, type, value, time }, causes) };
    });
}

/** Runs a part while the folder is that of this hub: the database of values is open. */
function whileOurs(isOurs$: Observable<boolean>, part: Part): Part {
  return isOurs$.pipe(
    distinctUntilChanged(),
    switchMap((isOurs) => (isOurs ? part : of({ state: 'running' as const }))),
  );
}

function valuesOf(
  context: Context,
  hub: HubPort,
  restored: Restoring | undefined,
  snapshots: SnapshotShelf,
  isOurs$: Subject<boolean>,
): Part {
  const { id, settings, resolvePath, scheduler, finish, log } = context;
  let first = restored;
  const isSelected = createSelection(settings.values);
  const giveBack = settings.shared
    ? createGiveBack({ id, keeping: hub.keeping, log, keptOf: ({ values }) => keptOf(values, isSelected) })
    : () => {};
  return defer(() => {
    const opened = first?.opened;
    const writer = first?.writer ?? new ValuesWriter();
    first = undefined;
    return keepValues({
      hub,
      writer,
      copy: new HourlyCopy(filesOf(resolvePath(settings.folder), 'values')),
      snapshots,
      scheduler,
      opened,
      isSelected,
      maxBytes: valuesBytes(settings),
      log,
      open: () => writer.open(openRequest(settings, resolvePath, settings.shared)),
      giveBack,
      tellOpen: (isOpen) => isOurs$.next(isOpen),
      finish,
    });
  });
}

function tooLate(opened: Opened): Opened {
  const loss = `the disk did not answer within ${restoreDeadlineMs / 1000} s: the hub has started without the values kept there`;
  return { ...opened, losses: [...opened.losses, loss] };
}

function openRequest(settings: StoreSettings, resolvePath: ResolvePath, isRead: boolean) {
  return { folder: resolvePath(settings.folder), maxBytes: valuesBytes(settings), isRead };
}

function valuesBytes({ maxSize }: StoreSettings): number {
  return roomOf(maxSize).valuesBytes;
}

// Gives back what another hub of a pair has kept in the same folder, once the folder is this hub's.

interface GiveBackOptions {
  /** The Connection ID of the store. */
  readonly id: string;
  readonly keeping: KeepingPort;
  readonly log: Log;
  readonly keptOf: (held: NonNullable<Opened['held']>) => readonly KeptValue[];
}

/** To be called with what the database held whenever it was opened; the first time the hub may wait for it. */
function createGiveBack({ id, keeping, log, keptOf }: GiveBackOptions): (held: Opened['held']) => void {
  let isFirst = true;
  return (held) => {
    const values = held === undefined ? [] : keptOf(held);
    const isTaken = keeping.giveBack({ values, memories: held?.memories ?? [] }, id);
    if (isTaken) log.info({ values: values.length }, `gives back ${values.length} values`);
    else if (isFirst) log.warn({}, 'gives nothing back: connections have not waited any longer');
    isFirst = false;
  };
}
