// Snapshots: the values of a selection of parameters, saved under a name. Users save, compare and recall snapshots.

import { createSignal, Show } from 'solid-js';
import { counted } from '../../model/digits.ts';
import type { SavedSnapshot, Snapshot, SnapshotList, SnapshotSelection } from '../../wire/http/past-shapes.ts';
import { StoreFault } from '../history/no-store.tsx';
import { whyReadOnly } from '../hub/me.ts';
import { hub, isStale } from '../hub/page-hub.ts';
import { createAttempt } from '../hub/page-request.ts';
import { usePolled } from '../hub/polled.ts';
import { formatCount, t } from '../language/language.ts';
import { linkTo, route, setParams } from '../page/route.ts';
import { formatDate, formatValue } from '../page/units.ts';
import { createConfirmation } from '../parts/confirm.tsx';
import { GuardedFor } from '../parts/guarded.tsx';
import { TableHead } from '../parts/table-head.tsx';
import { Fault } from '../parts/view-bar.tsx';

type Verb = 'save' | 'recall' | 'forget';
type Ask = ReturnType<typeof createConfirmation>['ask'];

export default function SnapshotsView() {
  const { data, fault, refresh } = usePolled<SnapshotList>('/hub/snapshots', 'name');
  const { ask, Confirmation } = createConfirmation();
  return (
    <>
      <div class="bar">
        <h1>{t('Snapshots')}</h1>
      </div>
      <StoreFault fault={fault()} what="Snapshots are not available" />
      <div class="scroll snapshots" tabIndex={-1}>
        <Show when={data()?.selections.length === 0}>
          <p class="note">
            No selections yet. Define them in the store’s <code>snapshots</code> setting:{' '}
            <code>
              snapshots: {'{'} 'studio-1': {'{'} include: ['desk/**'] {'}'} {'}'}
            </code>
          </p>
        </Show>
        <GuardedFor each={data()?.selections}>
          {(selection) => <Selection {...{ selection, ask, refresh }} connection={data()!.connection} />}
        </GuardedFor>
      </div>
      <Confirmation />
    </>
  );
}

function Selection(props: {
  readonly selection: SnapshotSelection;
  readonly connection: string;
  readonly ask: Ask;
  refresh(): void;
}) {
  const { isBusy, failure, run } = createAttempt(() => props.refresh());
  const [name, setName] = createSignal('');
  const isPossible = () => !isStale() && !isBusy();
  const may = (verb: Verb) => !whyReadOnly(addressOf(verb));
  const addressOf = (verb: Verb) => `${props.connection}/${props.selection.name}/${verb}`;
  const isThere = (wanted: string) => props.selection.saved.some((saved) => saved.name === wanted);
  const act = (verb: Verb, wanted: string) =>
    run(async () => {
      await hub.set(addressOf(verb), wanted);
      if (verb === 'save') setName('');
    });
  const askFirst = (verb: Verb, wanted: string) =>
    props.ask({ ...questionOf(verb, wanted, props.selection.name), act: () => act(verb, wanted) });
  const save = () => {
    const wanted = name().trim();
    if (isThere(wanted)) askFirst('save', wanted);
    else void act('save', wanted);
  };
  return (
    <section class="panel" aria-label={`Snapshots of ${props.selection.name}`}>
      <form
        class="save"
        onSubmit={(event) => {
          event.preventDefault();
          save();
        }}
      >
        <h2>{props.selection.name}</h2>
        <Show
          when={may('save')}
          fallback={
            <small>
              {may('recall')
                ? 'You do not have permission to save snapshots.'
                : 'You only have permission to view snapshots.'}
            </small>
          }
        >
          <NewName selection={props.selection.name} name={name()} isPossible={isPossible()} setName={setName} />
        </Show>
      </form>
      <Show when={failure()}>
        <p role="alert" class="error">
          {failure()}
        </p>
      </Show>
      <ul>
        <GuardedFor each={props.selection.saved} as="li" fallback={<li class="muted">No snapshots yet.</li>}>
          {(saved) => (
            <Saved
              saved={saved}
              selection={props.selection}
              isPossible={isPossible()}
              may={may}
              recall={() => askFirst('recall', saved.name)}
              forget={() => askFirst('forget', saved.name)}
            />
          )}
        </GuardedFor>
      </ul>
    </section>
  );
}

/** Returns the question that the user has to confirm before an action on a snapshot. */
function questionOf(verb: Verb, wanted: string, selection: string) {
  switch (verb) {
    case 'save':
      return {
        title: `Replace ${wanted}?`,
        text: 'This overwrites the saved snapshot with this name.',
        verb: 'Replace',
      };
    case 'recall': {
      const text = `This sets all parameters of ${selection} to their saved values, in one step.`;
      return { title: `Recall ${wanted}?`, text, verb: 'Recall' };
    }
    case 'forget':
      return { title: `Forget ${wanted}?`, text: 'This deletes the saved values.', verb: 'Forget' };
  }
}

function NewName(props: {
  readonly selection: string;
  readonly name: string;
  readonly isPossible: boolean;
  setName(name: string): void;
}) {
  return (
    <>
      <input
        type="text"
        aria-label={`Name of a new snapshot of ${props.selection}`}
        placeholder="Name"
        value={props.name}
        onInput={(event) => props.setName(event.currentTarget.value)}
      />
      <button type="submit" disabled={!props.isPossible || props.name.trim() === ''}>
        Save
      </button>
    </>
  );
}

function Saved(props: {
  readonly saved: SavedSnapshot;
  readonly selection: SnapshotSelection;
  readonly isPossible: boolean;
  may(verb: Verb): boolean;
  recall(): void;
  forget(): void;
}) {
  const { name } = props.saved;
  const isCompared = () => route().params.selection === props.selection.name && route().params.name === name;
  const compare = () =>
    setParams(isCompared() ? { selection: undefined, name: undefined } : { selection: props.selection.name, name });
  return (
    <li data-snapshot={name}>
      <div class="saved">
        <strong class="grow">
          {name} <Show when={props.selection.matches === name}>{<span class="now">matches current values</span>}</Show>
        </strong>
        <span class="muted">
          <time datetime={props.saved.time}>{formatDate(props.saved.time)}</time>
          {sizeOf(props.saved)}
        </span>
        <span class="actions">
          <button type="button" aria-expanded={isCompared()} aria-label={`Compare ${name}`} onClick={compare}>
            Compare
          </button>
          <Show when={props.may('recall')}>
            <button
              type="button"
              disabled={!props.isPossible || props.selection.matches === name}
              aria-label={`Recall ${name}`}
              onClick={() => props.recall()}
            >
              Recall
            </button>
          </Show>
          <Show when={props.may('forget')}>
            <button
              type="button"
              disabled={!props.isPossible}
              aria-label={`Forget ${name}`}
              onClick={() => props.forget()}
            >
              Forget
            </button>
          </Show>
        </span>
      </div>
      <Show when={isCompared()}>
        <Comparison selection={props.selection.name} name={name} />
      </Show>
    </li>
  );
}

/** Returns the size of a snapshot as `, 3 parameters`, or an empty string if the user may not read all of its parameters. */
function sizeOf({ parameters }: SavedSnapshot): string {
  if (parameters === undefined) return '';
  return `, ${counted(parameters, 'parameter')}`;
}

// Compares a saved snapshot with the current values.

/** The maximum number of rows in the comparison. */
const mostRows = 500;

export function Comparison(props: { readonly selection: string; readonly name: string }) {
  const [isAll, setAll] = createSignal(false);
  const path = () => `/hub/snapshots/${encodeURIComponent(props.selection)}/${encodeURIComponent(props.name)}`;
  const { data, error } = usePolled<Snapshot>(path, 'parameter');
  const values = () => data()?.values ?? [];
  const differing = () => values().filter(({ differs }) => differs);
  const shown = () => (isAll() ? values() : differing());
  return (
    <div class="comparison">
      <Fault text={error()} />
      <Show when={data()}>
        <p>
          {formatCount(differing().length)} of {formatCount(values().length)} differ.{' '}
          <label>
            <input type="checkbox" checked={isAll()} onChange={(event) => setAll(event.currentTarget.checked)} /> show
            all
          </label>
        </p>
        <Show when={shown().length > 0}>
          <table>
            <TableHead columns={['Parameter', 'Saved', 'Now']} />
            <tbody>
              <GuardedFor each={shown().slice(0, mostRows)} as="tr">
                {(value) => (
                  <tr classList={{ differs: value.differs }}>
                    <td>
                      <a class="mono" href={linkTo('parameters', { address: value.parameter })}>
                        {value.parameter}
                      </a>
                    </td>
                    <td>
                      <strong>{formatValue(value.value)}</strong>
                    </td>
                    <td>
                      {value.present === undefined ? <span class="muted">unknown</span> : formatValue(value.present)}
                    </td>
                  </tr>
                )}
              </GuardedFor>
            </tbody>
          </table>
        </Show>
        <Show when={shown().length > mostRows}>
          <p class="muted">Only the first {formatCount(mostRows)} are shown.</p>
        </Show>
      </Show>
    </div>
  );
}
