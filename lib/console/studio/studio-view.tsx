// The panel studio: dashboards created by mouse from a palette and parameters. The file remains the source of truth: the hub edits its text
// as a person would, and the studio shows the result.

import { createEffect, createMemo, createResource, createSignal, For, lazy, onCleanup, onMount, Show } from 'solid-js';
import { messageOf } from '../../model/error.ts';
import type { SourceList } from '../../wire/http/editing-shapes.ts';
import { writeJson5 } from '../editor/json5-text.ts';
import { CommentField, Conflicting, Difference } from '../editor/save-panel.tsx';
import { readSource } from '../editor/source-file.ts';
import type { SourceFile } from '../editor/source-tree.ts';
import { createLiveValues } from '../hub/live-values.ts';
import { getJson } from '../hub/page-request.ts';
import { holdRoute, linkTo, navigate, route } from '../page/route.ts';
import { createConfirmation } from '../parts/confirm.tsx';
import { Fault } from '../parts/view-bar.tsx';
import { Canvas, type Drag, followPointer, type Screen, screens, type Target, targetAt } from './canvas.tsx';
import { createDraft } from './draft.ts';
import { useEdits } from './edits.ts';
import { type Offer, Palette } from './palette.tsx';
import { allItems, type Item, textOf } from './panel-data.ts';
import { SettingsForm, TabsForm } from './settings-form.tsx';
import { addressesIn, type Kinds, readKinds, type Schema } from './widget-kinds.ts';

const Others = lazy(async () => ({ default: (await import('../editor/others.tsx')).Others }));

const valuesPerSecond = 10;

export default function StudioView() {
  const [sources] = createResource(() => getJson<SourceList>('/hub/sources'));
  const [kinds] = createResource(async () => readKinds(await getJson<Schema>('/hub/dashboard-schema')));
  const failure = () => sources.error ?? kinds.error;
  return (
    <Show when={failure() === undefined} fallback={<Fault text={messageOf(failure())} />}>
      <Show when={sources() && kinds()} fallback={<p class="note">Loading …</p>}>
        <Show when={sources()!.dashboards} fallback={<NoFolder />}>
          {(folder) => (
            <Show when={route().params.name} keyed fallback={<NewPanel folder={folder()} />}>
              {(name) => <Loaded folder={folder().folder} name={name} kinds={kinds()!} />}
            </Show>
          )}
        </Show>
      </Show>
    </Show>
  );
}

function NoFolder() {
  return (
    <p class="note">
      This hub has no folder of editable dashboards: set <code>dashboards</code> in the REST API connection.
    </p>
  );
}

/** Returns the file name for a title: `Studio 1` becomes `studio-1`. */
function nameOf(title: string): string {
  return title
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, 80);
}

function NewPanel(props: { readonly folder: NonNullable<SourceList['dashboards']> }) {
  const [title, setTitle] = createSignal('');
  const isTaken = () =>
    props.folder.files.some(({ file }) => file === `${props.folder.folder}/${nameOf(title())}.json5`);
  const isReady = () => nameOf(title()) !== '' && !isTaken() && props.folder.canEdit;
  return (
    <>
      <div class="bar">
        <h1>New panel</h1>
        <a href={linkTo('dashboards')}>Dashboards</a>
      </div>
      <form
        class="scroll new-panel"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady()) navigate('studio', { name: nameOf(title()), title: title().trim() });
        }}
      >
        <Show when={!props.folder.canEdit}>
          <p role="alert" class="warning">
            Read-only: {props.folder.reason}
          </p>
        </Show>
        <label>
          Title{' '}
          <input
            type="text"
            maxLength={80}
            ref={(input) => queueMicrotask(() => input.focus())}
            placeholder="Studio 1"
            value={title()}
            onInput={(event) => setTitle(event.currentTarget.value)}
          />
        </label>
        <p class="muted">
          <Show when={!isTaken()} fallback={<span class="error">A panel with this name already exists.</span>}>
            <Show when={nameOf(title())}>
              File <code>{`${props.folder.folder}/${nameOf(title())}.json5`}</code>
            </Show>
          </Show>
        </p>
        <button type="submit" class="main" disabled={!isReady()}>
          Create
        </button>
      </form>
    </>
  );
}

function emptyPanel(file: string, title: string): SourceFile {
  const text = `{\n  title: ${writeJson5(title)},\n  columns: 6,\n  widgets: [\n  ],\n}\n`;
  return { file, etag: '', text, canEdit: true, reason: '', made: [] };
}

function Loaded(props: { readonly folder: string; readonly name: string; readonly kinds: Kinds }) {
  const file = () => `${props.folder}/${props.name}.json5`;
  const { title } = route().params;
  const [source] = createResource(async () =>
    title === undefined ? readSource(file()) : readSource(file()).catch(() => emptyPanel(file(), title)),
  );
  return (
    <Show when={!source.error} fallback={<Fault text={messageOf(source.error)} />}>
      <Show when={source()} fallback={<p class="note">Loading …</p>} keyed>
        {(found) => <Studio source={found} name={props.name} kinds={props.kinds} />}
      </Show>
    </Show>
  );
}

function Studio(props: { readonly source: SourceFile; readonly name: string; readonly kinds: Kinds }) {
  const { kinds } = props;
  const draft = createDraft(props.source);
  const [screen, setScreen] = createSignal<Screen>('fit');
  const [target, setTarget] = createSignal<Target>();
  const { ask, Confirmation } = createConfirmation();
  const edits = useEdits(draft, kinds);
  const { selected, select, selectedItems } = edits;
  const items = createMemo(() => allItems(draft.grid()));
  const addresses = createMemo(
    () =>
      items().flatMap(({ shown }) => {
        const kind = kinds.of(shown.type);
        return kind === undefined ? [] : addressesIn(kind, shown);
      }),
    [] as string[],
    { equals: (one, other) => one.join() === other.join() },
  );
  const values = createLiveValues(addresses, () => valuesPerSecond);
  let page!: HTMLDivElement;

  const isLocked = () => !draft.source().canEdit;
  const drag = (one: Drag, event: PointerEvent) => {
    const item = items().find(({ key }) => key === one.key);
    setTarget(targetAt(page.querySelector('.stage')!, draft.grid(), one, item, event));
  };
  const drop = (one: Drag, hasDragged: boolean) => {
    const found = target();
    setTarget(undefined);
    if (hasDragged && found?.isFree) edits.drop(one, found);
  };
  const take = (offer: Offer, event: PointerEvent) => {
    if (screen() === 'phone') setScreen('fit');
    const one: Drag = { kind: 'new', key: '', size: offer.kind.size, grip: [0, 0], holds: offer.kind.holds };
    event.preventDefault();
    followPointer(
      event,
      (now) => drag(one, now),
      (hasDragged) => {
        const found = target();
        setTarget(undefined);
        if (!hasDragged && found === undefined) edits.put(offer);
        else if (found?.isFree) edits.add(offer, found.list, found.at, found.size);
      },
    );
  };

  const leave = (act: () => void) =>
    ask({
      title: 'Leave without saving?',
      text: `Your changes to ${props.name} are not saved and will be lost.`,
      verb: 'Discard changes',
      act,
    });
  const isUnsaved = () => draft.isChanged() && !draft.isGone();
  holdRoute((next, go) => {
    const isHere = next.view === 'studio' && next.params.name === props.name;
    if (isHere || !isUnsaved()) return false;
    leave(go);
    return true;
  });
  onMount(() => {
    const warn = (event: BeforeUnloadEvent) => isUnsaved() && event.preventDefault();
    addEventListener('beforeunload', warn);
    onCleanup(() => removeEventListener('beforeunload', warn));
  });
  createEffect(() => draft.isGone() && navigate('dashboards'));

  const keys = (event: KeyboardEvent) => {
    const { target: from } = event;
    if (from instanceof HTMLElement && from.closest('input, textarea, select, dialog')) return;
    if (edits.press(event)) event.preventDefault();
  };
  return (
    <div class="studio" ref={page} onKeyDown={keys}>
      <Bar
        name={props.name}
        screen={screen()}
        setScreen={setScreen}
        draft={draft}
        remove={() =>
          ask({
            title: `Delete ${props.name}?`,
            text: 'This removes the panel for everybody. Revisions can restore it.',
            verb: 'Delete the panel',
            act: () => void draft.remove(''),
          })
        }
      />
      <Show when={isLocked()}>
        <p role="alert" class="note warning">
          Read-only: {draft.source().reason}
        </p>
      </Show>
      <Show when={!draft.isNew() && !isLocked()}>
        <Others file={draft.source().file} rule="panel" names={[]} what="this panel" />
      </Show>
      <Show when={draft.isOutdated()}>
        <p role="status" class="note warning">
          Somebody else has saved this panel.{' '}
          <button type="button" onClick={() => void draft.takeTheirs()}>
            {draft.isChanged() ? 'Apply my changes to theirs' : 'Show it'}
          </button>
        </p>
      </Show>
      <Palette kinds={kinds} isLocked={isLocked()} take={take} put={edits.put} />
      <Canvas
        grid={draft.grid()}
        kinds={kinds}
        values={values}
        screen={screen()}
        selected={selected()}
        target={target()}
        isLocked={isLocked()}
        hasError={({ path }) => draft.errorsAt(path).length > 0}
        select={select}
        drag={drag}
        drop={drop}
      />
      <aside class="side">
        <Show when={draft.conflict()}>
          {(found) => (
            <Conflicting
              conflict={found()}
              rebase={() => void draft.keepMine()}
              discard={() => void draft.discard()}
              verb="Save mine instead; theirs stays in the revisions"
            />
          )}
        </Show>
        <Settings draft={draft} kinds={kinds} items={selectedItems()} edits={edits} isLocked={isLocked()} />
        <SaveBox draft={draft} />
      </aside>
      <Confirmation />
    </div>
  );
}

function Bar(props: {
  readonly name: string;
  readonly screen: Screen;
  readonly draft: ReturnType<typeof createDraft>;
  setScreen(screen: Screen): void;
  remove(): void;
}) {
  const { draft } = props;
  return (
    <div class="bar">
      <h1 class="truncate">{textOf(draft.data()?.title, props.name)}</h1>
      <div class="segments" role="group" aria-label="Screen">
        <For each={Object.keys(screens) as Screen[]}>
          {(one) => (
            <button type="button" aria-pressed={props.screen === one} onClick={() => props.setScreen(one)}>
              {one}
            </button>
          )}
        </For>
      </div>
      <button type="button" disabled={!draft.canUndo()} onClick={draft.undo} title="Undo (Ctrl+Z)">
        Undo
      </button>
      <button type="button" disabled={!draft.canRedo()} onClick={draft.redo} title="Redo (Ctrl+Y)">
        Redo
      </button>
      <span class="grow" />
      <Show when={!draft.isNew()}>
        <a href={linkTo('dashboards', { name: props.name })}>Open</a>
        <a href={linkTo('revisions', { file: draft.source().file })}>Revisions</a>
        <button type="button" class="cut" disabled={!draft.source().canEdit} onClick={() => props.remove()}>
          Delete
        </button>
      </Show>
      <a href={linkTo('dashboards')}>Dashboards</a>
    </div>
  );
}

/** Shows the settings of the selected widget, of several selected widgets, or of the panel. */
function Settings(props: {
  readonly draft: ReturnType<typeof createDraft>;
  readonly kinds: Kinds;
  readonly items: readonly Item[];
  readonly edits: ReturnType<typeof useEdits>;
  readonly isLocked: boolean;
}) {
  const { draft, edits } = props;
  const single = () => (props.items.length === 1 ? props.items[0] : undefined);
  const kind = () => props.kinds.of(single()?.shown.type);
  const path = () => single()?.path;
  return (
    <section class="panel" aria-label="Settings">
      <Show
        when={props.items.length > 0}
        fallback={
          <>
            <h2>Panel</h2>
            <SettingsForm
              settings={props.kinds.panel}
              values={draft.data() as Readonly<Record<string, unknown>>}
              isLocked={props.isLocked}
              errorsOf={(name) => draft.errorsAt(name).map(({ message }) => message)}
              change={(name, value) => edits.setting(undefined, name, value)}
            />
          </>
        }
      >
        <h2>{single() ? textOf(single()!.shown.type, 'widget') : `${props.items.length} widgets`}</h2>
        <p class="fields">
          <button type="button" disabled={props.isLocked} onClick={edits.copy} title="Ctrl+D">
            Copy
          </button>
          <Show when={edits.canGroup()}>
            <button
              type="button"
              disabled={props.isLocked || edits.whyNoGroup() !== ''}
              onClick={edits.group}
              title={edits.whyNoGroup() || 'Ctrl+G'}
            >
              Group
            </button>
          </Show>
          <Show when={single()?.inner && single()?.made === 0}>
            <button type="button" disabled={props.isLocked} onClick={edits.ungroup}>
              Ungroup
            </button>
          </Show>
          <button type="button" class="cut" disabled={props.isLocked} onClick={edits.remove} title="Delete">
            Remove
          </button>
        </p>
        <Show when={(single()?.made ?? 0) > 0}>
          <p class="warning">
            <code>each</code> makes {single()!.made} copies, and a change applies to all of them. To move the widget,
            edit the text.
          </p>
        </Show>
        <Show when={single()?.tabs && single()}>
          {(item) => (
            <TabsForm
              item={item()}
              isLocked={props.isLocked}
              errorsOf={(index) => draft.errorsAt(`${item().path}.tabs[${index}].label`).map(({ message }) => message)}
              edits={edits}
            />
          )}
        </Show>
        <Show when={path()} keyed>
          {(at) => (
            <Show when={kind()} keyed fallback={<Errors draft={draft} path={at} />}>
              {(known) => (
                <SettingsForm
                  settings={known.settings}
                  values={single()?.widget ?? {}}
                  isLocked={props.isLocked}
                  errorsOf={(name) => draft.errorsAt(`${at}.${name}`).map(({ message }) => message)}
                  change={(name, value) => edits.setting(at, name, value)}
                />
              )}
            </Show>
          )}
        </Show>
      </Show>
    </section>
  );
}

function Errors(props: { readonly draft: ReturnType<typeof createDraft>; readonly path: string }) {
  return <For each={props.draft.errorsAt(props.path)}>{({ message }) => <p class="error">{message}</p>}</For>;
}

/** Shows the changes that a save of the panel would make, and the text of the file. */
function SaveBox(props: { readonly draft: ReturnType<typeof createDraft> }) {
  const { draft } = props;
  const [comment, setComment] = createSignal('');
  const errors = () => draft.answer()?.errors ?? [];
  const difference = () => (draft.isNew() ? '' : (draft.answer()?.files[0]?.difference ?? ''));
  const isReady = () => draft.isChanged() && draft.answer() !== undefined && errors().length === 0 && !draft.isBusy();
  const save = async () => {
    if (await draft.save(comment())) setComment('');
  };
  return (
    <section class="save" aria-label="Save">
      <Show when={draft.failure()}>
        {(text) => (
          <p class="error" role="alert">
            {text()}
          </p>
        )}
      </Show>
      <Show when={errors().length > 0}>
        <ul class="errors">
          <For each={errors()}>
            {(error) => (
              <li class="error">
                <code>
                  {error.line}:{error.column} {error.path}
                </code>
                : {error.message}
              </li>
            )}
          </For>
        </ul>
      </Show>
      <For each={draft.answer()?.warnings}>{(warning) => <p class="warning">{warning}</p>}</For>
      <Show when={draft.isChanged()} fallback={<p class="muted">{draft.note() ? '' : 'No changes yet.'}</p>}>
        <CommentField comment={comment()} take={setComment} />
        <p class="fields actions">
          <button type="button" class="main" disabled={!isReady()} onClick={save}>
            Save
          </button>
          <button type="button" disabled={draft.isBusy()} onClick={() => void draft.discard()}>
            Discard
          </button>
        </p>
      </Show>
      <p role="status">{draft.isBusy() ? 'Saving …' : draft.note()}</p>
      <Show when={difference()}>
        <details>
          <summary>Difference</summary>
          <Difference text={difference()} />
        </details>
      </Show>
      <details>
        <summary>JSON5</summary>
        <textarea
          class="mono"
          aria-label="JSON5 of the panel"
          aria-invalid={draft.typingError() !== ''}
          spellcheck={false}
          readOnly={!draft.source().canEdit}
          wrap="off"
          rows={Math.min(24, Math.max(4, draft.text().split('\n').length))}
          value={draft.text()}
          onInput={(event) => draft.type(event.currentTarget.value)}
        />
        <p class="error">{draft.typingError()}</p>
      </details>
    </section>
  );
}
