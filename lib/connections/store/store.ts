// Store: keeps the hub's values, history and audit on disk, and restores values after a restart. A store never prevents a hub from
// starting.
import { BehaviorSubject, defer, distinctUntilChanged, Observable, of, switchMap } from 'rxjs';
import { z } from 'zod';
import { type ConnectionContext, type ConnectionEvent, defineGatewayType } from '../connection.ts';
import type { HubPort } from '../hub-port.ts';
import { AuditQueue } from './audit/audit-queue.ts';
import { auditOf, listenForEntries, type OpenedLog, openAudit, packAudit } from './audit/keep-audit.ts';
import { keepStorage } from './backup/backup-maker.ts';
import { createRuleFinder } from './history/history-rules.ts';
import { historyOf } from './history/keep-history.ts';
import { Recorder } from './history/recorder.ts';
import { buffersOf, packRows } from './packed-rows.ts';
import { type Part, runParts } from './parts.ts';
import { type ReadFile, readPast } from './reader/past-reader.ts';
import { createSelection } from './selection.ts';
import { historySetting, roomOf, rulesOf, type StoreSettings, settingsSchema } from './settings.ts';
import { declareSnapshots, keepSnapshots } from './snapshots/keep-snapshots.ts';
import { maxBytesOfAll, SnapshotShelf } from './snapshots/shelf.ts';
import { filesOf, privateFilesOf } from './thread/database/files.ts';
import { gather } from './values/gather.ts';
import { keptOf, type OpenedValues, openValues, prepareValues, valuesOf } from './values/keep-values.ts';
import { CausesWriter } from './values/kept-causes.ts';

/** The databases as opened during the start of the hub, before the connection is running. */
interface Restoring {
  readonly values: OpenedValues;
  readonly audit: OpenedLog;
}

type Context = ConnectionContext<StoreSettings>;

export const store = defineGatewayType({
  type: 'store',
  isExternal: true,
  settingsSchema,
  parameters: ({ snapshots }) => declareSnapshots(snapshots),
  flushesLast: ({ shared }) => shared,
  privateFiles: ({ folder }, resolvePath) => privateFilesOf(resolvePath(folder)),
  records({ history, snapshots }) {
    const isRecorded = createRuleFinder(rulesOf(history));
    const selections = Object.entries(snapshots).map(
      ([name, one]) => [`snapshot ${name}`, createSelection(one)] as const,
    );
    return (address) => [
      ...(isRecorded(address) === undefined ? [] : ['history']),
      ...selections.filter(([, isSelected]) => isSelected(address)).map(([name]) => name),
    ];
  },
  claims: () => [{ kind: 'store', name: 'the store of the hub', scope: '*' }],
  prepare: prepareValues,
  async restore(context) {
    const opened = await openValues(context);
    const audit = openAudit(context);
    const { values, memories } = opened.read?.held ?? { values: [], memories: [] };
    const left: Restoring[] = [{ values: opened, audit }];
    return { values: keptOf(values, createSelection(context.settings.values)), memories, log: audit.log, left };
  },
  run: (context, hub) =>
    defer(() => {
      const { settings, scheduler } = context;
      const restored = (context.left as Restoring[] | undefined)?.pop(); // popped, so that the context no longer holds all values in memory
      const shelf = new SnapshotShelf(Math.min(maxBytesOfAll, roomOf(settings.maxSize).valuesBytes / 4));
      if (restored?.values.read !== undefined) shelf.adopt(restored.values.read);
      let readersEnded: Promise<unknown> = Promise.resolve();
      const isOurs$ = new BehaviorSubject(false);
      return runParts(
        {
          values: valuesOf(context, hub, restored?.values, shelf, (isOpen) => isOurs$.next(isOpen)),
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
            offer: (snapshots) => hub.persistence.offer({ snapshots }),
          }),
          past: readPast({
            history: readFileOf(context, hub, 'history'),
            audit: readFileOf(context, hub, 'audit'),
            scheduler,
            offer: (past) => hub.persistence.offer({ past }),
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

/** The interval at which a rehearsal packs changes, in milliseconds. */
const rehearsedMs = 10;

/**
 * A connection type that does the same work per change on the hub's thread as a store, but without threads and files, so that V8 compiles
 * the code before the hub is under load.
 */
export const storeRehearsal = defineGatewayType({
  type: 'store-rehearsal',
  isExternal: true,
  settingsSchema: z.strictObject({}),
  parameters: () => [],
  run: ({ id, scheduler }, hub) =>
    new Observable<ConnectionEvent>((subscriber) => {
      const isOwn = (address: string) => address.startsWith(`${id}/`);
      const recorder = new Recorder(hub, rulesOf(historySetting.parse(undefined)), isOwn, () => {});
      const queue = new AuditQueue();
      const listening = listenForEntries(
        hub,
        (address) => !isOwn(address),
        queue,
        () => {},
      );
      const causes = new CausesWriter();
      let written = hub.revision;
      const pack = () => {
        const { values, revision } = gather(hub, written, (one) => hub.persistence.isKept(one), causes);
        written = revision;
        buffersOf(packRows(values));
        packAudit({ rows: queue.take(), log: [], run: { seen: 0, isClean: false, count: '' } });
        recorder.queue.giveBack(recorder.take(scheduler.now()).transfer);
      };
      const packing = scheduler.schedule(function () {
        pack();
        this.schedule(undefined, rehearsedMs);
      }, rehearsedMs);
      subscriber.next({ state: 'running' });
      return () => {
        packing.unsubscribe();
        listening.unsubscribe();
        recorder.end();
      };
    }),
});

/** Returns the database file of a part, for readers. */
function readFileOf({ settings, resolvePath }: Context, hub: HubPort, part: 'history' | 'audit'): ReadFile {
  const archive = () => hub.persistence.archive?.[part];
  return {
    path: filesOf(resolvePath(settings.folder), part).path,
    flush: async () => archive()?.flush(),
    onDamage: () => void archive()?.check(),
  };
}

/** Runs a part only while this hub owns the folder of the store, that is, while the database of values is open. */
function whileOurs(isOurs$: Observable<boolean>, part: Part): Part {
  return isOurs$.pipe(
    distinctUntilChanged(),
    switchMap((isOurs) => (isOurs ? part : of({ state: 'running' as const }))),
  );
}
