// The sheet of a rule: a form and its JSON5, in both directions, with current values, errors at their location, and the effects of a save.
// The file remains the source of truth: the hub edits its text as a person would.

import {
  batch,
  createEffect,
  createMemo,
  createResource,
  createSignal,
  For,
  on,
  onCleanup,
  onMount,
  Show,
} from 'solid-js';
import { messageOf } from '../../model/error.ts';
import type { EditResult, SeparationAnswer, SourceList } from '../../wire/http/editing-shapes.ts';
import { createLiveValues } from '../hub/live-values.ts';
import { mayEdit } from '../hub/me.ts';
import { getJson } from '../hub/page-request.ts';
import { usePolled } from '../hub/polled.ts';
import { useDelay } from '../page/page-timers.ts';
import { linkTo, navigate, route, setParams } from '../page/route.ts';
import { Fault } from '../parts/view-bar.tsx';
import { readJson5 } from './json5-text.ts';
import { LastRuns, readRecorded } from './last-runs.tsx';
import { Others } from './others.tsx';
import type { RecordedEvent } from './rehearsal.ts';
import { type Rule, sourcesOf, targetsOf, withSettings } from './rule-fields.ts';
import { AfterPart, OnlyIfPart, type PartProps, ToPart, WhenPart, WritePart } from './rule-parts.tsx';
import { SavePanel } from './save-panel.tsx';
import {
  additionOf,
  type Conflict,
  changedPart,
  type EditError,
  missingPart,
  nodeAt,
  postSlowly,
  type Rehearse,
  readSource,
  ruleAt,
  rulesOf,
  sendEdit,
  sourcePath,
  splitPlace,
} from './source-file.ts';
import { dataOf, type Op, type SourceFile, withoutIndent } from './source-tree.ts';
import { TextField } from './template-field.tsx';
import { expandText, separate, variablesAt } from './templates.ts';

/** The pause in typing after which the hub checks an edit, in milliseconds. */
const checkAfterMs = 400;
const valuesPerSecond = 4;
/** The maximum number of additional sources whose recorded events are used in a rehearsal. */
const mostRecorded = 4;

export default function RuleSheet() {
  const isNew = () => route().params.new !== undefined;
  return (
    <>
      <div class="bar">
        <h1>{isNew() ? 'New rule' : 'Rule'}</h1>
        <a href={linkTo('flows', isNew() ? {} : { rule: route().params.rule })}>Flows</a>
        <Show when={mayEdit() && route().params.place}>
          {(place) => (
            <a class="button" href={linkTo('rule', { new: 'yes', file: splitPlace(place()).file })}>
              + Rule
            </a>
          )}
        </Show>
      </div>
      <div class="scroll sheet">
        <Show when={isNew()} fallback={<Opened place={route().params.place ?? ''} />}>
          <Show when={route().params.file} fallback={<ChooseFile />} keyed>
            {(file) => <Loaded file={file} find={() => undefined} />}
          </Show>
        </Show>
      </div>
    </>
  );
}

/** Lets the user choose the file for a new rule. If only one file can be edited, that file is chosen automatically. */
function ChooseFile() {
  const [sources] = createResource(() => getJson<SourceList>('/hub/sources'));
  const files = () => sources()?.files.filter(({ canEdit }) => canEdit) ?? [];
  const folder = () => commonFolder(files().map(({ file }) => file));
  createEffect(() => files().length === 1 && setParams({ file: files()[0]!.file }));
  return (
    <Show when={!sources.error} fallback={<Fault text={messageOf(sources.error)} />}>
      <Show when={sources()} fallback={<p class="note">Loading …</p>}>
        <p class="note">
          <Show when={files().length === 0} fallback="Which file should contain the rule?">
            <Show when={sources()?.files[0]} fallback="You do not have permission to edit any flow files.">
              {(known) => (
                <span role="alert" class="warning">
                  Read-only: {known().reason}
                </span>
              )}
            </Show>
          </Show>
        </p>
        <ul class="choices">
          <For each={files()}>
            {({ file }) => (
              <li>
                <button type="button" title={file} onClick={() => setParams({ file })}>
                  {file.slice(folder().length)}
                </button>
              </li>
            )}
          </For>
        </ul>
      </Show>
    </Show>
  );
}

/** Returns the folder that paths have in common, including its final slash, or an empty string if there is no such folder. */
function commonFolder([first = '', ...others]: readonly string[]): string {
  let folder = first.replace(/[^\\/]*$/, '');
  while (others.some((path) => !path.startsWith(folder))) folder = folder.replace(/[^\\/]*[\\/]$/, '');
  return folder;
}

function Opened(props: { readonly place: string }) {
  const place = () => splitPlace(props.place);
  return (
    <Show when={props.place} fallback={<p class="note">Open a rule from Flows, Why, or a parameter.</p>} keyed>
      <Loaded
        file={place().file}
        find={(source) => {
          const { line, column } = place();
          return (ruleAt(source, line, column) ?? byName(source, route().params.rule ?? ''))?.path;
        }}
      />
    </Show>
  );
}

function byName({ tree }: SourceFile, name: string) {
  return rulesOf(tree).find((node) => node.children?.some(({ key, value }) => key === 'name' && value === name));
}

/** Shows the sheet of the rule at the given path in a file; an undefined path stands for a new rule. */
function Loaded(props: { readonly file: string; find(source: SourceFile): string | undefined }) {
  const [opened, { refetch }] = createResource(async () => {
    const source = await readSource(props.file);
    const path = props.find(source);
    const node = path === undefined ? undefined : nodeAt(source.tree, path);
    return { source, path, name: String((node && (dataOf(node) as Rule).name) ?? '') };
  });
  const isMissing = () => route().params.new === undefined && opened()?.path === undefined;
  return (
    <Show when={!opened.error} fallback={<Fault text={messageOf(opened.error)} />}>
      <Show when={opened()} fallback={<p class="note">Loading …</p>} keyed>
        {(known) => (
          <Show
            when={!isMissing()}
            fallback={<p class="note">The file no longer contains this rule. Open a rule from Flows.</p>}
          >
            <Sheet source={known.source} path={known.path} name={known.name} reload={() => void refetch()} />
          </Show>
        )}
      </Show>
    </Show>
  );
}

const newRuleHint = 'Choose a parameter under “When” and another under “to”. The effects of the rule then appear here.';

/** The result of the last save, for the sheet that opens again after the save. */
let lastSave = '';

function takeLastSave(): string {
  const note = lastSave;
  lastSave = '';
  return note;
}

interface SheetProps {
  readonly source: SourceFile;
  /** The path of the rule in its file; undefined for a new rule. */
  readonly path: string | undefined;
  /** The name of the rule as written in the file. */
  readonly name: string;
  reload(): void;
}

function Sheet(props: SheetProps) {
  const draft = useDraft(props, { expand: (text) => expand(text), liveName: () => liveName() });
  const { rule, change } = draft;
  const [note, setNote] = createSignal(takeLastSave());
  const made = () => props.source.made.find(({ path }) => path === (draft.isSeparate() ? props.path : draft.path()));
  const madeIndex = () => Math.max(0, made()?.names.indexOf(route().params.rule ?? '') ?? 0);
  /** The name under which the rule is currently running. Empty if the rule is new. */
  const liveName = () =>
    props.path === undefined ? '' : (made()?.names[madeIndex()] ?? route().params.rule ?? props.name);
  const variables = createMemo(() =>
    draft.isSeparate() ? {} : variablesAt(draft.source(), draft.path(), madeIndex()),
  );
  const expand = (text: string) => expandText(text, variables());
  const addresses = createMemo(() => {
    const texts = [rule().when, rule().map].join(' ');
    const lookedUp = [...texts.matchAll(/(['"])([^'"\s]+\/[^'"]+)\1/g)].map(([, , address]) => address!);
    const ends = [...sourcesOf(rule()), ...targetsOf(rule())].map(({ address }) => address);
    return [...new Set([...ends, ...lookedUp])].filter((address) => address.includes('/')).map(expand);
  });
  const values = createLiveValues(addresses, () => valuesPerSecond);
  const part: PartProps = {
    get rule() {
      return rule();
    },
    values,
    expand,
    errorsOf: draft.errorsOf,
    change,
  };
  const rename = (name: string) => change(withSettings(rule(), { name: name || undefined }));
  const file = () => props.source.file.replace(/^.*[\\/]/, '');
  return (
    <form
      class="rule-sheet"
      onSubmit={(event) => event.preventDefault()}
      onKeyDown={goToPart}
      aria-label={rule().name ?? 'New rule'}
    >
      <Show when={draft.whyReadOnly()}>
        {(reason) => (
          <p role="alert" class="warning whole">
            Read-only: {reason()}
          </p>
        )}
      </Show>
      <Show when={made()}>
        {(known) => (
          <Made
            names={known().names}
            by={known().by}
            chosen={madeIndex()}
            isSeparate={draft.isSeparate()}
            canSeparate={
              known().by === 'instances' || separate(props.source, props.path ?? '', madeIndex()) !== undefined
            }
            separate={() => draft.separate(madeIndex(), known().by)}
            together={draft.together}
          />
        )}
      </Show>
      <Show when={props.source.canEdit}>
        <Others file={props.source.file} rule={liveName()} names={made()?.names ?? []} />
      </Show>
      <Show when={draft.isOutdated()}>
        <p role="status" class="warning whole">
          {file()} was changed by somebody else. Your changes will be merged with theirs.
        </p>
      </Show>
      <fieldset class="plain" disabled={!props.source.canEdit || draft.isWhole()}>
        <p class="fields">
          <span class="grow">
            <span aria-hidden="true">Name</span>
            <TextField
              label="Name"
              text={rule().name ?? ''}
              expand={expand}
              change={rename}
              plain={
                <input
                  type="text"
                  class="wide"
                  ref={(input) => {
                    if (props.path === undefined) queueMicrotask(() => input.focus());
                  }}
                  aria-label="Name"
                  value={rule().name ?? ''}
                  onInput={(event) => rename(event.currentTarget.value)}
                />
              }
            />
          </span>
          <span class="muted" title={props.source.file}>
            in {file()}
          </span>
        </p>
        <div class="parts">
          <WhenPart {...part} rule={rule()} />
          <OnlyIfPart {...part} rule={rule()} scope={rule().from} />
          <WritePart {...part} rule={rule()} scope={rule().from} />
          <AfterPart {...part} rule={rule()} />
          <ToPart {...part} rule={rule()} scope={rule().from} />
        </div>
        <p class="keys">
          <small>
            <kbd>F6</kbd> moves to the next part, Shift+F6 to the previous one.
          </small>
        </p>
        <More rule={rule()} change={change} />
        <details class="json5" open>
          <summary>JSON5</summary>
          <textarea
            class="mono"
            aria-label="JSON5 of the rule"
            aria-invalid={draft.typingError() !== ''}
            spellcheck={false}
            rows={Math.min(24, Math.max(3, draft.text().split('\n').length))}
            value={draft.text()}
            onInput={(event) => draft.type(event.currentTarget.value)}
          />
          <p class="result">
            <Show
              when={draft.typingError()}
              fallback={
                <small>This is exactly the text that the file will contain. Comments and formatting are kept.</small>
              }
            >
              <span class="error">{draft.typingError()}</span>
            </Show>
          </p>
        </details>
      </fieldset>
      <div class="side">
        <SavePanel
          note={note()}
          setNote={setNote}
          answer={draft.answer()}
          isChanged={draft.isChanged()}
          {...(props.path === undefined && { hint: newRuleHint })}
          failure={draft.failure()}
          send={draft.send}
          rebase={draft.rebase}
          discard={props.reload}
          saved={() => {
            lastSave = note();
            draft.saved();
          }}
        />
        <Show when={!draft.isWhole()}>
          <LastRuns
            rehearsal={draft.answer()?.rehearsal ?? draft.rehearsal()}
            isChanged={draft.isChanged()}
            isNew={props.path === undefined}
            again={draft.again}
          />
        </Show>
      </div>
      <Show when={props.path !== undefined && props.source.canEdit}>
        <p class="fields">
          <button type="button" class="cut" onClick={() => draft.remove()}>
            {draft.isRemoved() ? 'Keep the rule' : 'Delete the rule'}
          </button>
          <a href={linkTo('revisions', { file: props.source.file })}>Revisions of {file()}</a>
        </p>
      </Show>
    </form>
  );
}

/** Moves the focus to the next part of the rule on F6, and to the previous part on Shift+F6, skipping all fields in between. */
function goToPart(event: KeyboardEvent & { readonly currentTarget: HTMLFormElement; readonly target: Element }): void {
  if (event.key !== 'F6') return;
  event.preventDefault();
  const parts = [...event.currentTarget.querySelectorAll('.parts > fieldset, .json5, .side')];
  const at = parts.findIndex((part) => part.contains(event.target));
  const next = event.shiftKey ? Math.max(at, 0) + parts.length - 1 : at + 1;
  const all = parts[next % parts.length]!.querySelectorAll<HTMLElement>('input, select, textarea, summary, button');
  const fields = [...all].filter((field) => !field.matches(':disabled') && field.checkVisibility());
  (fields.find((field) => field.matches('.address, select, textarea')) ?? fields[0])?.focus();
}

/** Explains that a template has created the rule, and asks whether a change applies to all rules that the template creates. */
function Made(props: {
  readonly names: readonly string[];
  readonly by: 'each' | 'instances';
  readonly chosen: number;
  readonly isSeparate: boolean;
  readonly canSeparate: boolean;
  separate(): void;
  together(): void;
}) {
  return (
    <div class="made whole">
      <p>
        One of {props.names.length} rules created by <code>{props.by}</code>: {props.names.slice(0, 8).join(', ')}
        {props.names.length > 8 ? ' …' : ''}.{' '}
        <Show when={!props.canSeparate}>
          <strong>A change here changes all of them.</strong>
        </Show>
      </p>
      <Show when={props.canSeparate}>
        <div class="segments" role="group" aria-label="Scope of changes">
          <button type="button" aria-pressed={!props.isSeparate} onClick={() => props.together()}>
            Change all
          </button>
          <button type="button" aria-pressed={props.isSeparate} onClick={() => !props.isSeparate && props.separate()}>
            Make “{props.names[props.chosen]}” separate
          </button>
        </div>
        <Show when={props.isSeparate && props.by === 'instances'}>
          <p>The instance gets its own file. Apply the change, then edit the rule in that file.</p>
        </Show>
      </Show>
    </div>
  );
}

/** Shows the settings of a rule that are rarely needed. */
function More(props: { readonly rule: Rule; change(rule: Rule): void }) {
  const Flag = (flag: { readonly setting: string; readonly on: unknown; readonly label: string }) => (
    <label class="fields">
      <input
        type="checkbox"
        checked={props.rule[flag.setting] === flag.on}
        onChange={(event) =>
          props.change(withSettings(props.rule, { [flag.setting]: event.currentTarget.checked ? flag.on : undefined }))
        }
      />{' '}
      {flag.label}
    </label>
  );
  const isUsed = () => ['atStart', 'hear', 'enabled', 'shadow'].some((setting) => props.rule[setting] !== undefined);
  return (
    <details open={isUsed()}>
      <summary>More</summary>
      <Flag setting="atStart" on={true} label="Also run once when the hub starts" />
      <Flag setting="hear" on="writes" label="Also run when a source is written but its value stays the same" />
      <Flag setting="enabled" on={false} label="Switched off in the file" />
      <Flag setting="shadow" on={true} label="In shadow: record its writes, but do not make them" />
    </details>
  );
}

// The edit in progress: the rule as data and as text, what the hub finds in the edit, and how the edit is sent.

function useDraft(props: SheetProps, options: { expand(text: string): string; liveName(): string }) {
  const [source, setSource] = createSignal(props.source);
  const [path, setPath] = createSignal(props.path);
  const [rule, setRule] = createSignal<Rule>(firstRule(props));
  /** The text that the user has typed as JSON5; undefined if the text follows the form. */
  const [typed, setTyped] = createSignal<string>();
  const [version, setVersion] = createSignal(0);
  const [answer, setAnswer] = createSignal<EditResult>();
  const [failure, setFailure] = createSignal('');
  const [isRemoved, setRemoved] = createSignal(false);
  /** The edits that separate the rule from its template. They precede the edit of the rule. */
  const [before, setBefore] = createSignal<readonly Op[]>([]);
  /** The change set that turns the whole instance into a separate file. */
  const [whole, setWhole] = createSignal<SeparationAnswer>();
  const [rehearsal, setRehearsal] = createSignal<EditResult['rehearsal']>();
  const records = new Map<string, Promise<readonly RecordedEvent[]>>();
  const original = createMemo(() => {
    const found = path() === undefined ? undefined : nodeAt(source().tree, path()!);
    return found === undefined ? '' : source().text.slice(found.start, found.end);
  });
  const [shown, setShown] = createSignal(original());
  const pause = useDelay();
  const isChanged = () => version() > 0;
  const isSeparate = () => before().length > 0 || whole() !== undefined;

  /** Returns the typed text with the indentation that the sheet hides. */
  const typedText = () => {
    const { indent } = withoutIndent(shown());
    return typed()!.replace(/\n(?=[^\n])/g, `\n${indent}`);
  };
  const ops = (): readonly Op[] => {
    if (path() === undefined) {
      const addition = additionOf(source(), rule());
      return typed() === undefined ? addition.ops : [...addition.ops, { path: addition.path, text: typedText() }];
    }
    if (isRemoved()) return [{ path: path()!, remove: true }];
    return [...before(), typed() === undefined ? { path: path()!, set: rule() } : { path: path()!, text: typedText() }];
  };
  const send = (mode: 'check' | 'shadow' | 'save', comment: string, rehearse?: Rehearse) =>
    sendEdit(whole()?.files ?? [{ file: source().file, base: source().etag, ops: ops() }], mode, comment, { rehearse });
  /**
   * Returns the request for a rehearsal. The hub knows the runs of the current rule, and a store knows the events of the rule's other
   * sources.
   */
  const asked = async (): Promise<Rehearse> => {
    const known = props.path === undefined ? [] : sourcesOf(firstRule(props)).map(({ address }) => address);
    const further = sourcesOf(rule()).flatMap(({ address }) =>
      known.includes(address) ? [] : [options.expand(address)],
    );
    const lists = further
      .filter((address) => address.includes('/'))
      .slice(0, mostRecorded)
      .map((address) => records.get(address) ?? remembered(address));
    return { rule: options.liveName(), recorded: (await Promise.all(lists)).flat() };
  };
  const remembered = (address: string) => {
    const read = readRecorded(address);
    records.set(address, read);
    return read;
  };
  const check = async () => {
    const checked = version();
    try {
      const found = await send('check', '', isRemoved() || whole() ? undefined : await asked());
      if (checked !== version()) return;
      batch(() => {
        setRehearsal(found.rehearsal);
        if (!isChanged()) return;
        setAnswer(found);
        setFailure('');
        const [edited] = found.files;
        if (typed() === undefined && edited !== undefined && !isSeparate() && !isRemoved())
          setShown(partOf(source(), path(), edited.text));
      });
    } catch (error) {
      if (checked !== version() || !isChanged()) return;
      batch(() => {
        setAnswer(undefined);
        setFailure(messageOf(error));
      });
    }
  };
  const checkSoon = () => {
    setVersion((number) => number + 1);
    pause.start(checkAfterMs, check);
  };
  onCleanup(() => pause.stop());

  const polled = usePolled<SourceFile>(sourcePath(props.source.file), 'none', 5000);
  createEffect(
    on(source, () => {
      if (!isChanged()) setShown(original());
    }),
  );
  if (props.path === undefined && (rule().from !== '' || rule().to !== '')) checkSoon();
  else if (props.path !== undefined && source().canEdit) onMount(check);

  return {
    source,
    path: () => path() ?? '',
    rule,
    answer,
    rehearsal,
    again: () => void check(),
    failure,
    isChanged,
    isRemoved,
    text: () => typed() ?? withoutIndent(shown()).text,
    /** The reason why the file currently cannot be saved. Empty if the file can be saved. */
    whyReadOnly: () => (polled.data() ?? props.source).reason,
    isOutdated: () =>
      polled.data() !== undefined &&
      polled.data()!.etag !== source().etag &&
      !isChangedBySave(polled.data()!, answer()),
    change(next: Rule) {
      batch(() => {
        setRule(next);
        setTyped(undefined);
      });
      checkSoon();
    },
    type(text: string) {
      batch(() => {
        setTyped(text);
        const data = readJson5(text);
        if (typeof data === 'object' && data !== null && !Array.isArray(data)) setRule(data as Rule);
      });
      checkSoon();
    },
    /** The reason why the typed text is not a rule. Empty if the text is a rule, or comes from the form. */
    typingError(): string {
      if (typed() === undefined) return '';
      return readJson5(typed()!) === undefined
        ? failure() || answer()?.errors[0]?.message || 'This is not valid JSON5 yet.'
        : '';
    },
    remove() {
      setRemoved(!isRemoved());
      checkSoon();
    },
    isSeparate,
    isWhole: () => whole() !== undefined,
    separate(made: number, by: string) {
      if (by === 'instances') {
        void postSlowly<SeparationAnswer>('/hub/edit/separate', { file: source().file, path: path(), made }).then(
          (answer) => {
            setWhole(answer);
            checkSoon();
          },
          (error) => {
            setVersion(1);
            setFailure(messageOf(error));
          },
        );
        return;
      }
      const edit = separate(source(), path()!, made);
      if (edit === undefined) return;
      batch(() => {
        setBefore(edit.ops);
        setPath(edit.path);
        setTyped(undefined);
        setRule(edit.rule as Rule);
        setShown(JSON.stringify(edit.rule, null, 2));
      });
      checkSoon();
    },
    /** Reverts the separation from the template, including all changes made since. */
    together() {
      if (!isSeparate()) return;
      pause.stop();
      batch(() => {
        setBefore([]);
        setWhole();
        setPath(props.path);
        setTyped(undefined);
        setRule(firstRule(props));
        setVersion(0);
        setAnswer(undefined);
        setShown(original());
      });
    },
    /** Returns the errors in a setting of the rule, and in everything within that setting. */
    errorsOf(setting: string): readonly string[] {
      const base = path() ?? additionOf(source(), rule()).path;
      return (answer()?.errors ?? [])
        .filter((error) => isWithin(error, `${base}.${setting}`) && missingPart(error) === undefined)
        .map(({ message }) => message);
    },
    send,
    rebase({ etag }: Conflict) {
      setVersion((number) => number + 1);
      setAnswer(undefined); // the answer concerns the earlier text: nothing can be saved until the new text is checked
      void readSource(source().file).then((fresh) => {
        const found =
          path() === undefined ? undefined : (byName(fresh, rule().name ?? '') ?? nodeAt(fresh.tree, path()!));
        batch(() => {
          setSource({ ...fresh, etag: fresh.etag || etag });
          if (found !== undefined) setPath(found.path);
        });
        checkSoon();
      });
    },
    saved() {
      if (isRemoved()) {
        takeLastSave();
        navigate('flows');
      } else if (whole()) navigate('rule', { rule: rule().name, place: whole()!.place });
      else reopen(source().file, rule(), props.reload);
    },
  };
}

/** Opens the sheet of a saved rule at its location in the new text, unless the user has left the sheet in the meantime. */
function reopen(file: string, rule: Rule, reload: () => void): void {
  const { hash } = location;
  void readSource(file).then((fresh) => {
    if (location.hash !== hash) return;
    const found =
      rulesOf(fresh.tree).find((node) => JSON.stringify(dataOf(node)) === JSON.stringify(rule)) ??
      byName(fresh, rule.name ?? '');
    const { params } = route();
    if (found === undefined) return reload();
    const place = `${file}:${found.line}:${found.column}`;
    if (params.place === place && params.new === undefined) reload();
    else navigate('rule', { rule: rule.name, place });
  });
}

function isChangedBySave({ etag }: SourceFile, answer: EditResult | undefined): boolean {
  return answer?.isSaved === true && answer.files.some((one) => one.etag === etag);
}

function isWithin({ path }: EditError, base: string): boolean {
  return path === base || (path.startsWith(base) && /^[.[]/.test(path.slice(base.length)));
}

function firstRule({ source, path }: SheetProps): Rule {
  const node = path === undefined ? undefined : nodeAt(source.tree, path);
  if (node !== undefined) return dataOf(node) as Rule;
  const { from = '', to = '' } = route().params;
  return { from, to };
}

/** Returns the text of the rule at a path in the edited text of its file. */
function partOf({ text, tree }: SourceFile, path: string | undefined, edited: string): string {
  const node = path === undefined ? undefined : nodeAt(tree, path);
  if (node !== undefined) return edited.slice(node.start, edited.length - (text.length - node.end));
  const part = changedPart(text, edited);
  const start = part.indexOf('{');
  return start < 0 ? part : part.slice(start, part.lastIndexOf('}') + 1);
}
