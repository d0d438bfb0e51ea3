// A form for an item of a connection, such as an entry of a schedule or an alarm. The settings are read from the flow file that declares
// the connection, and the edits to that file are as small as possible.

import { type Accessor, createEffect, createResource, createSignal, type JSX, on, onCleanup, Show } from 'solid-js';
import { messageOf } from '../../model/error.ts';
import type { EditResult } from '../../wire/http/editing-shapes.ts';
import { useDelay } from '../page/page-timers.ts';
import { SavePanel } from './save-panel.tsx';
import { type FileEdit, findSource, partOf, sendEdit } from './source-file.ts';
import { dataOf, type Op } from './source-tree.ts';

/** The pause in typing after which the hub checks an edit, in milliseconds. */
const pauseMs = 300;

/** The place of an item in a flow file: `{connection: 'opening', list: 'entries', name: 'office'}`. Without a name, the item is new. */
export interface ItemPlace {
  readonly connection: string;
  readonly list: 'entries' | 'alarms';
  readonly name: string | undefined;
}

type Settings = Readonly<Record<string, unknown>>;

export interface ItemDraft {
  /** The reason why the item cannot be edited. Empty if the item can be edited; undefined while the files are being read. */
  readonly whyNot: Accessor<string | undefined>;
  readonly isNew: Accessor<boolean>;
  readonly isChanged: Accessor<boolean>;
  readonly setting: (key: string) => unknown;
  /** Changes settings of the item; undefined removes a setting. */
  readonly set: (changed: Settings) => void;
  /** The form around the item's fields. It contains the data and saves the item. */
  readonly Form: (props: { readonly title: string; readonly children: JSX.Element; close(): void }) => JSX.Element;
}

export interface EditCheck {
  /** The hub's answer to the current edits; undefined if there are no edits, or the hub has not answered yet. */
  readonly answer: Accessor<EditResult | undefined>;
  /** Why the check failed as a whole. Empty if the check did not fail. */
  readonly failure: Accessor<string>;
  /** Drops the answer, which belongs to an earlier text. */
  forget(): void;
}

/** Lets the hub check edits whenever they change, after a pause in typing, until the calling reactive scope is disposed. */
export function createEditCheck(edits: Accessor<readonly FileEdit[]>): EditCheck {
  const [answer, setAnswer] = createSignal<EditResult>();
  const [failure, setFailure] = createSignal('');
  const pause = useDelay();
  let asked = 0;
  const check = async () => {
    const number = ++asked;
    const sent = edits();
    setAnswer(undefined);
    setFailure('');
    if (sent.length === 0) return;
    try {
      const found = await sendEdit(sent, 'check');
      if (number === asked) setAnswer(found);
    } catch (error) {
      if (number === asked) setFailure(messageOf(error));
    }
  };
  createEffect(
    on(
      () => JSON.stringify(edits()),
      () => pause.start(pauseMs, check),
    ),
  );
  onCleanup(() => asked++);
  const forget = () => {
    asked++;
    setAnswer(undefined);
  };
  return { answer, failure, forget };
}

/** Follows the item at a place until the calling reactive scope is disposed. `saved` is called after each save with the item's name. */
export function createItemDraft(place: Accessor<ItemPlace>, saved: (name: string | undefined) => void): ItemDraft {
  const [source, { refetch }] = createResource(
    () => place().connection,
    (connection) => findSource(['connections', connection]).catch((error) => messageOf(error)),
  );
  const [changes, setChanges] = createSignal<Settings>({});
  const [newName, setNewName] = createSignal('');
  const [isRemoved, setRemoved] = createSignal(false);
  const [note, setNote] = createSignal('');
  const file = () => {
    const found = source();
    return typeof found === 'string' ? undefined : found;
  };
  const list = () => partOf(file()?.tree, 'connections', place().connection, place().list);
  const own = () => (place().name === undefined ? undefined : partOf(list(), place().name!));
  const written = (): Settings => (own() ? (dataOf(own()!) as Settings) : {});
  const setting = (key: string) => (key in changes() ? changes()[key] : written()[key]);
  const isNew = () => place().name === undefined;
  const whyNot = () => {
    if (source.loading) return undefined;
    if (typeof source() === 'string') return source() as string;
    const { connection, name } = place();
    if (list() === undefined) return `No flow file that you may edit declares ${connection}.`;
    return isNew() || own() ? '' : `${name} is created by a template: edit the flow file.`;
  };
  const ops = (): readonly Op[] => {
    if (whyNot() !== '') return [];
    if (isRemoved()) return [{ path: own()!.path, remove: true }];
    const changed = Object.entries(changes()).filter(
      ([key, value]) => JSON.stringify(value) !== JSON.stringify(written()[key]),
    );
    if (!isNew())
      return changed.map(([key, value]) => {
        const path = `${own()!.path}.${key}`;
        return value === undefined ? { path, remove: true } : { path, set: value };
      });
    if (newName() === '') return [];
    const given = Object.fromEntries(changed.filter(([, value]) => value !== undefined));
    return [{ path: `${list()!.path}[${JSON.stringify(newName())}]`, set: given }];
  };
  const edits = (): readonly FileEdit[] =>
    ops().length === 0 ? [] : [{ file: file()!.file, base: file()!.etag, ops: ops() }];
  const isChanged = () => isRemoved() || Object.keys(changes()).length > 0 || newName() !== '';
  const discard = () => {
    setChanges({});
    setNewName('');
    setRemoved(false);
  };
  createEffect(on(() => [place().connection, place().name].join('/'), discard));
  const { answer, failure, forget } = createEditCheck(edits);
  const Form: ItemDraft['Form'] = (props) => (
    <aside class="detail rule-sheet item" aria-label={props.title}>
      <header>
        <h2>{props.title}</h2>
        <button type="button" class="quiet" aria-label="Close" onClick={() => props.close()}>
          ✕
        </button>
      </header>
      <Show when={whyNot()}>
        <p class="note">{whyNot()}</p>
      </Show>
      <Show when={whyNot() === ''}>
        <form class="item-fields" onSubmit={(event) => event.preventDefault()}>
          <Show when={isNew()}>
            <label>
              <span>Name</span>
              <input
                type="text"
                class="mono"
                spellcheck={false}
                autocomplete="off"
                placeholder="letters, digits, -"
                ref={(field) => queueMicrotask(() => field.focus())}
                value={newName()}
                onInput={({ currentTarget: { value } }) => setNewName(value.trim())}
              />
            </label>
          </Show>
          {props.children}
        </form>
        <Show when={!isNew() && !isRemoved()}>
          <p>
            <button type="button" class="cut" onClick={() => setRemoved(true)}>
              Remove
            </button>
          </p>
        </Show>
        <SavePanel
          note={note()}
          setNote={setNote}
          answer={answer()}
          isChanged={isChanged()}
          failure={failure()}
          send={async (mode, comment) => sendEdit(edits(), mode, comment)}
          rebase={() => {
            forget();
            void refetch();
          }}
          discard={discard}
          saved={() => {
            const name = isRemoved() ? undefined : (place().name ?? newName());
            discard();
            void refetch();
            saved(name);
          }}
        />
      </Show>
    </aside>
  );
  return { whyNot, isNew, isChanged, setting, set: (changed) => setChanges({ ...changes(), ...changed }), Form };
}
