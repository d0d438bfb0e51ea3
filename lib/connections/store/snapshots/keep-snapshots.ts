// The part of a store that keeps snapshots. Each selection has the parameters `save`, `recall`, `forget` and `matches`.

import { Observable, Subscription } from 'rxjs';
import { unknownName } from '../../../json5/nearest-name.ts';
import { HubError } from '../../../model/error.ts';
import type { Change, Origin, ParameterDeclaration } from '../../../model/parameter.ts';
import type { Value } from '../../../model/value.ts';
import type { ConnectionContext, ConnectionEvent } from '../../connection.ts';
import type { HubPort } from '../../hub-port.ts';
import type { SnapshotArchive } from '../../persistence.ts';
import type { Part } from '../parts.ts';
import type { Selection } from '../selection.ts';
import { type Act, LiveSelection } from './live-selection.ts';
import type { SnapshotShelf } from './shelf.ts';

export type Selections = Readonly<Record<string, Selection>>;

export function declareSnapshots(selections: Selections): ParameterDeclaration[] {
  return Object.keys(selections).flatMap((name): ParameterDeclaration[] => [
    { id: `${name}/save`, type: 'S', access: 'write-only' },
    { id: `${name}/recall`, type: 'S', access: 'write-only' },
    { id: `${name}/forget`, type: 'S', access: 'write-only' },
    { id: `${name}/matches`, type: 'B', access: 'read-only', defaultValue: false },
  ]);
}

type Context = Pick<ConnectionContext<unknown>, 'id' | 'inbox' | 'atSettle' | 'scheduler' | 'log'>;

export interface KeepSnapshotsOptions {
  readonly selections: Selections;
  readonly context: Context;
  readonly hub: HubPort;
  readonly shelf: SnapshotShelf;
  /** Publishes the snapshots, and returns a function that withdraws them. */
  offer(archive: SnapshotArchive): () => void;
}

/** Serves the parameters of all selections, such as `save` and `recall`, until the subscriber unsubscribes. Cold; never errors. */
export function keepSnapshots({ selections, context, hub, shelf, offer }: KeepSnapshotsOptions): Part {
  return new Observable((subscriber) => {
    const store: Origin = { kind: 'connection', name: context.id };
    const served = Object.entries(selections).map(([name, selection]) => {
      const live = new LiveSelection({ name, selection, store, hub, shelf, log: context.log });
      return new ServedSelection(live, context, (event) => subscriber.next(event));
    });
    const serving = new Subscription();
    for (const one of served) serving.add(one.serve());
    let renewing: Subscription | undefined;
    const renew = () => {
      renewing = undefined;
      for (const one of served) one.renew();
    };
    const noteReload = () => {
      for (const { selection } of served) selection.noteReload();
      renewing ??= context.scheduler.schedule(renew);
    };
    if (served.length > 0) {
      const take = (change: Change) => {
        for (const one of served) one.take(change);
      };
      serving.add(hub.changes$.subscribe({ next: take }));
      for (const reloaded$ of [hub.declared$, hub.removed$]) serving.add(reloaded$.subscribe({ next: noteReload }));
    }
    shelf.onAdopted = renew;
    serving.add(
      offer(
        archiveOf(
          context.id,
          served.map(({ selection }) => selection),
        ),
      ),
    );
    serving.add(() => {
      shelf.onAdopted = () => {};
      renewing?.unsubscribe();
    });
    subscriber.next({ state: 'running' });
    for (const one of served) one.notify();
    return serving;
  });
}

/** Serves the parameters of one selection. */
class ServedSelection {
  readonly selection: LiveSelection;
  readonly #context: Context;
  readonly #settle: () => void;
  /** The requests in this turn, without consecutive duplicates. Their number is bounded, because the size of a turn is. */
  #acts: Act[] = [];
  /** The number of requests since the start. */
  #asked = 0;
  /** The value of `matches` that was last reported. */
  #reported = false;

  constructor(selection: LiveSelection, context: Context, emit: (event: ConnectionEvent) => void) {
    this.selection = selection;
    this.#context = context;
    this.#settle = context.atSettle(() => {
      if (selection.matches === this.#reported) return;
      this.#reported = selection.matches;
      emit({ set: `${selection.name}/matches`, value: selection.matches });
    });
  }

  serve(): Subscription {
    const serving = new Subscription();
    const { selection } = this;
    const { name } = selection;
    const on = (kind: Act['kind'], accept: (input: unknown) => string) => {
      const next = (snapshot: Value) => this.#actSoon({ kind, snapshot: String(snapshot) });
      serving.add(this.#context.inbox(`${name}/${kind}`, accept).subscribe({ next, error: () => {} }));
    };
    on('save', (input) => selection.nameToSave(input));
    on('recall', (input) => selection.knownName('recall', input));
    on('forget', (input) => selection.knownName('forget', input));
    return serving;
  }

  take(change: Change): void {
    this.selection.take(change);
    this.notify();
  }

  renew(): void {
    this.selection.renew();
    this.notify();
  }

  /**
   * Performs a request once the turn has settled, so that all requests in the turn share one pass over the parameters. The last request in
   * the turn counts as the cause.
   */
  #actSoon(act: Act): void {
    const before = this.#acts.at(-1);
    if (act.kind !== before?.kind || act.snapshot !== before.snapshot) this.#acts.push(act);
    const number = ++this.#asked;
    const settle = this.#context.atSettle(() => {
      if (number !== this.#asked) return;
      const acts = this.#acts;
      this.#acts = [];
      this.selection.act(acts);
      this.notify();
    });
    settle();
  }

  /** Updates `matches` once the turn has settled, so that a recall changes `matches` only once. */
  notify(): void {
    if (this.selection.matches !== this.#reported) this.#settle();
  }
}

function archiveOf(connection: string, selections: readonly LiveSelection[]): SnapshotArchive {
  return {
    connection,
    list: () => selections.map((selection) => selection.list()),
    compare(selection, name) {
      const found = selections.find((one) => one.name === selection);
      if (found !== undefined) return found.compare(name);
      const known = selections.map((one) => one.name);
      throw new HubError('not-found', unknownName('selection', selection, known));
    },
  };
}
