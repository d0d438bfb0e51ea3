// The state that outlives a run of the hub: values that a store may keep, and unfinished work of connections. Without a store, only a
// shadow run receives unfinished work.
import { isAbsolute, resolve } from 'node:path';
import { type Observable, Subject } from 'rxjs';
import type {
  Archive,
  AuditEvent,
  Installation,
  Kept,
  KeptMemory,
  KeptValue,
  Memory,
  NamedFile,
  PersistencePort,
  Rename,
} from '../../../connections/persistence.ts';
import { type Graph, withShortTexts } from '../../../graph/graph.ts';
import { connectionIdOf, formatAddress } from '../../../model/address.ts';
import type { Change, Parameter, ParameterDeclaration } from '../../../model/parameter.ts';
import { within } from '../../../model/time/deadline.ts';
import { convert, type Value } from '../../../model/value.ts';
import { type ConnectionPlan, hubId, type Plan } from '../../plan.ts';
import { privateFilesOf } from '../../private-files.ts';

const nothing: ReadonlyMap<string, Value> = new Map();

/** The maximum number of values that are kept for parameters that no flow file currently declares. */
const maxAside = 10_000;
/** The maximum length of the text of such a value, in characters. */
const maxAsideLength = 4096;

/**
 * The tolerance when comparing the time of day with the clock, in milliseconds. The time of day counts whole milliseconds, so the
 * difference varies slightly.
 */
const clockToleranceMs = 20;

type Read = () => unknown;

export class HubPersistence implements PersistencePort {
  readonly #graph: Graph;
  readonly #clock: () => number;
  readonly #timeOfDay: () => number;
  #connections: ReadonlySet<string> = new Set();
  /** The IDs of connections whose values a store may keep. */
  #kept: ReadonlySet<string> = new Set();
  /** The IDs of connections that report external events. */
  #outside: ReadonlySet<string> = new Set();
  readonly #auditEvents = new Subject<AuditEvent>();
  readonly auditEvents$: Observable<AuditEvent> = this.#auditEvents.asObservable();
  readonly #renamed = new Subject<Rename>();
  readonly renamed$: Observable<Rename> = this.#renamed.asObservable();
  /** The renames in the current reload, keyed by the address that the reload removes. */
  #renames: ReadonlyMap<string, Rename> = new Map();
  readonly #restored = new Subject<void>();
  /** Emits when a store has restored its values. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly restored$: Observable<void> = this.#restored.asObservable();
  /** The Connection ID of the store; undefined if the hub has no store. */
  #store: string | undefined;
  /**
   * The stored values whose parameters are not declared, keyed by address, the oldest first. A parameter receives its value when a reload
   * declares it again, for example after a mistake in a flow file has been corrected.
   */
  readonly #aside = new Map<string, { readonly kept: KeptValue; readonly store: string }>();
  #installation = installationOf({ connections: [], files: [], templates: [], furtherFiles: [] });
  /** The archives that the parts of a store have offered, the latest one last. */
  readonly #offered = new Set<Archive>();
  #archive: Archive | undefined;
  #lastOffset = Number.NaN;
  /** Ends the wait for the store's values; undefined if the hub is not waiting for a store. */
  #endWait: (() => void) | undefined;
  /** The unfinished work of connections from the hub's last run, keyed by Connection ID and name, until each connection starts. */
  readonly #recalled = new Map<string, ReadonlyMap<string, unknown>>();
  /** Functions that return the unfinished work, keyed by Connection ID and name. */
  readonly #known = new Map<string, Map<string, Read>>();
  readonly #changed = new Map<string, Set<string>>();
  /** The state left by stopped connections for their next runs, keyed by Connection ID. */
  readonly #left = new Map<string, { readonly type: string; readonly what: unknown }>();

  /** `clock` returns the time that connections use, in milliseconds; `timeOfDay` returns milliseconds since 1970. */
  constructor(graph: Graph, clock: () => number, timeOfDay: () => number = Date.now) {
    this.#graph = graph;
    this.#clock = clock;
    this.#timeOfDay = timeOfDay;
  }

  /** Adopts the connections and files in a plan. */
  plan(plan: Pick<Plan, 'connections' | 'files' | 'templates' | 'paths' | 'furtherFiles'>): void {
    const { connections } = plan;
    this.#installation = installationOf(plan);
    this.#connections = new Set(connections.map(({ id }) => id));
    this.#kept = new Set(connections.filter(({ type }) => type.isKept).map(({ id }) => id));
    this.#outside = new Set(connections.filter(({ type }) => type.isExternal && !type.isGateway).map(({ id }) => id));
    this.#store = connections.find(({ type }) => type.isGateway && type.restore !== undefined)?.id;
    this.#left.clear();
  }

  /** Keeps the state that a stopped connection has left for its next run, until the end of the next reload. */
  leave({ id, type: { type } }: ConnectionPlan, what: unknown): void {
    this.#left.set(id, { type, what });
  }

  /** Returns the state left by a connection with the same ID and type, or undefined if there is none. The state is returned only once. */
  takeLeft({ id, type: { type } }: ConnectionPlan): unknown {
    const left = this.#left.get(id);
    this.#left.delete(id);
    return left?.type === type ? left.what : undefined;
  }

  /** Adopts the unfinished work from the last run, except for connections that no longer exist. */
  recall(memories: readonly KeptMemory[]): void {
    for (const { connection, name, memory } of memories) {
      if (connection !== hubId && !this.#connections.has(connection)) {
        this.#change(connection, name, () => undefined);
        continue;
      }
      const recalled = new Map(this.#recalled.get(connection)).set(name, memory);
      this.#recalled.set(connection, recalled);
      this.#know(connection, name, () => memory);
    }
  }

  /** Discards the unfinished work from the last run, because another hub has continued it. */
  forgetRecalled(): void {
    this.#recalled.clear();
  }

  /** Resolves when a store has restored its values, or has taken longer than `patienceMs`. */
  async expectRestore(patienceMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#endWait = resolve;
    await within(promise, patienceMs);
    if (this.#endWait === resolve) this.#endWait = undefined;
  }

  giveBack({ values, memories }: Pick<Kept, 'values' | 'memories'>, store: string): boolean {
    if (this.#endWait === undefined) {
      for (const { connection, name } of memories)
        if (!this.#known.get(connection)?.has(name)) this.#change(connection, name, () => undefined);
      return false;
    }
    this.#graph.turn(() => {
      for (const value of values) this.#giveBack(value, store);
    });
    this.recall(memories);
    this.#restored.next();
    this.#endWait();
    this.#endWait = undefined;
    return true;
  }

  #giveBack(kept: KeptValue, store: string): void {
    const node = this.#graph.find(kept.address);
    if (node === undefined) this.setAside(kept, store);
    else if (this.isKept(node) && (isUnchanged(node) || kept.time > node.lastChange!.time))
      this.#graph.giveBack(node, kept, { kind: 'restored', name: store });
  }

  /** Announces the renames in the next reload. An empty list ends the announcement. */
  expectRenames(renames: readonly Rename[]): void {
    this.#renames = new Map(renames.map((rename) => [rename.from, rename]));
  }

  /**
   * Sets aside the values of a connection's parameters that are about to be removed. The value of a renamed parameter is set aside under
   * both addresses, so that it returns as well when the rename is reverted.
   */
  setAsideLeaving({ type }: ConnectionPlan, nodes: Iterable<Parameter>): void {
    const store = this.#store;
    for (const node of nodes) {
      const { address, value, lastChange } = node;
      const rename = this.#renames.get(address);
      if (rename !== undefined) {
        this.#renamed.next(rename);
        this.#aside.delete(rename.to); // the value of an earlier parameter with this address
      }
      if (store === undefined || !type.isKept) continue;
      if (value === undefined || lastChange === undefined || !hasState(node) || isUnchanged(node)) continue;
      for (const kept of [address, ...(rename === undefined ? [] : [rename.to])])
        this.setAside(
          { address: kept, value, time: lastChange.time, readCause: () => withShortTexts(lastChange) },
          store,
        );
    }
  }

  /** Sets aside a stored value whose parameter is not declared. */
  setAside(kept: KeptValue, store: string): void {
    this.#aside.delete(kept.address);
    if (typeof kept.value === 'string' && kept.value.length > maxAsideLength) return;
    this.#aside.set(kept.address, { kept, store });
    if (this.#aside.size <= maxAside) return;
    const [oldest] = this.#aside.keys();
    this.#aside.delete(oldest!);
  }

  /** Returns whether a value was set aside for a parameter that is about to be declared, and the parameter accepts the value. */
  canReturn(
    { id, type: { isKept } }: ConnectionPlan,
    { id: parameterId, type, access, accept }: ParameterDeclaration,
  ): boolean {
    const address = formatAddress(id, parameterId);
    const aside = this.#aside.get(address);
    if (aside === undefined || !isKept || type === 'T' || access === 'read-only') return false;
    if (this.#graph.find(address) !== undefined) return false;
    try {
      if (accept === undefined) convert(type, aside.kept.value);
      else accept(aside.kept.value);
      return true;
    } catch {
      return false;
    }
  }

  /**
   * Restores the values that were set aside for the parameters of a connection. Call this before the connection starts, because a running
   * connection would treat a restored value as a write.
   */
  takeAside({ id, parameters }: ConnectionPlan): void {
    if (this.#aside.size === 0) return;
    this.#graph.turn(() => {
      for (const parameter of parameters) {
        const address = formatAddress(id, parameter.id);
        const aside = this.#aside.get(address);
        if (aside === undefined) continue;
        this.#aside.delete(address);
        this.#giveBack(aside.kept, aside.store);
      }
    });
  }

  installation(): Installation {
    return this.#installation;
  }

  get archive(): Archive | undefined {
    return this.#archive;
  }

  offer(part: Archive): () => void {
    this.#offered.add(part);
    this.#archive = Object.assign({}, ...this.#offered);
    return () => {
      this.#offered.delete(part);
      this.#archive = this.#offered.size === 0 ? undefined : Object.assign({}, ...this.#offered);
    };
  }

  isKept(parameter: Parameter): boolean {
    return hasState(parameter) && this.#kept.has(connectionIdOf(parameter.address));
  }

  isFromOutside({ depth, origin: { kind, name, reportedBy }, previous, parameter: { type, remote } }: Change): boolean {
    if (reportedBy !== undefined && remote === undefined) return true; // another hub requested the write, whatever its origin and cause
    if (depth > 0) return false;
    if (reportedBy !== undefined) return kind === 'client';
    return (
      kind === 'client' ||
      (kind === 'connection' && this.#outside.has(name) && (type === 'T' || previous !== undefined))
    );
  }

  /** Reports an audit event about the hub itself, so that a store can keep it. */
  note(auditEvent: AuditEvent): void {
    this.#auditEvents.next(auditEvent);
  }

  /** Returns the kept values that a connection receives when it starts. */
  valuesOf({ id, type, parameters }: ConnectionPlan): ReadonlyMap<string, Value> {
    if (!this.hasStore || !type.isKept) return nothing;
    const values = new Map<string, Value>();
    for (const parameter of parameters) {
      const node = this.#graph.find(formatAddress(id, parameter.id));
      if (node?.value !== undefined && this.isKept(node)) values.set(parameter.id, node.value);
    }
    return values;
  }

  /**
   * Returns the memory for a connection that is about to start. Data is recalled only for the connection's first run after the hub has
   * started.
   */
  memoryOf({ id: connection, type: { isExternal } }: ConnectionPlan): Memory | undefined {
    if (!this.hasStore && isExternal) return undefined;
    const hasStore = () => this.hasStore;
    const recalled = this.#recalled.get(connection);
    this.#recalled.delete(connection);
    if (recalled === undefined)
      for (const name of this.#known.get(connection)?.keys() ?? []) this.#change(connection, name, () => undefined);
    return {
      recalled: recalled ?? nothing,
      get isKept() {
        return hasStore();
      },
      changed: (name, read) => this.#change(connection, name, read),
      timeOf: (clockMs) => clockMs + this.#offset(),
      clockOf: (timeMs) => timeMs - this.#offset(),
    };
  }

  /** Whether a store keeps data about the hub itself. */
  get hasStore(): boolean {
    return this.#store !== undefined;
  }

  /** Stores data about the hub itself under a name; undefined deletes the data. */
  remember(name: string, read: Read): void {
    if (this.hasStore) this.#change(hubId, name, read);
  }

  /** Returns the data that an earlier run of the hub stored about itself, keyed by name. The data is returned only once. */
  takeRemembered(): ReadonlyMap<string, unknown> {
    const recalled = this.#recalled.get(hubId);
    this.#recalled.delete(hubId);
    return recalled ?? nothing;
  }

  /** Returns the current unfinished work of the given connections. */
  memoriesOf(connections: ReadonlySet<string>): readonly KeptMemory[] {
    return [...this.#known]
      .filter(([connection]) => connections.has(connection))
      .flatMap(([connection, known]) => [...known].map(([name, read]) => ({ connection, name, memory: read() })))
      .filter(({ memory }) => memory !== undefined);
  }

  takeMemories(): readonly KeptMemory[] {
    if (this.#changed.size === 0) return [];
    const taken: KeptMemory[] = [];
    for (const [connection, names] of this.#changed) {
      const known = this.#known.get(connection)!;
      for (const name of names) {
        const memory = known.get(name)!();
        if (memory === undefined) known.delete(name);
        taken.push({ connection, name, memory });
      }
    }
    this.#changed.clear();
    return taken;
  }

  renewMemories(): void {
    for (const [connection, known] of this.#known)
      for (const [name, read] of known) this.#change(connection, name, read);
  }

  /** Returns the difference between the time of day and the clock of connections, which changes only if the machine's clock is set. */
  #offset(): number {
    const offset = this.#timeOfDay() - this.#clock();
    if (!(Math.abs(offset - this.#lastOffset) < clockToleranceMs)) this.#lastOffset = offset;
    return this.#lastOffset;
  }

  #change(connection: string, name: string, read: Read): void {
    this.#know(connection, name, read);
    if (!this.hasStore) return;
    let changed = this.#changed.get(connection);
    if (changed === undefined) {
      changed = new Set();
      this.#changed.set(connection, changed);
    }
    changed.add(name);
  }

  #know(connection: string, name: string, read: Read): void {
    let known = this.#known.get(connection);
    if (known === undefined) {
      known = new Map();
      this.#known.set(connection, known);
    }
    known.set(name, read);
  }
}

function hasState({ type, access }: Parameter): boolean {
  return type !== 'T' && access !== 'read-only';
}

/** Returns whether a parameter has never had a value other than its default in this hub. */
function isUnchanged({ address, lastChange }: Parameter): boolean {
  if (lastChange === undefined) return true;
  const { kind, name, hub } = lastChange.origin;
  return kind === 'connection' && hub === undefined && address.startsWith(`${name}/`);
}

// The files of a hub: its flow files, and files named by connections.

type Parts = Pick<Plan, 'files' | 'connections' | 'templates' | 'paths' | 'furtherFiles'>;

function installationOf(plan: Parts): Installation {
  const { files, connections, templates, paths } = plan;
  const flows = files.map(({ path }) => path);
  const named = [...flows, ...templates].map((path) => ({ path: resolve(path), isAbsolute: false }));
  return {
    startedIn: resolve('.'),
    paths: paths ?? flows,
    files: [...named, ...connections.flatMap(filesOf)],
    privateFiles: privateFilesOf(plan),
  };
}

function filesOf({ type, settings, folder }: ConnectionPlan): NamedFile[] {
  const asNamed = (path: string) => path;
  const names = [...(type.files?.(settings, asNamed) ?? []), ...(type.belongings?.(settings, asNamed) ?? [])];
  return names.map((name) => ({ path: resolve(folder, name), isAbsolute: isAbsolute(name) }));
}
