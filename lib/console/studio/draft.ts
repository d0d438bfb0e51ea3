// The panel that is being edited: the text in the hub, the edits made since, and the hub's findings about the edits. The hub writes the
// text; the studio draws from the data, so that a drag is shown without delay.

import { batch, createMemo, createSignal, onCleanup } from 'solid-js';
import { messageOf } from '../../model/error.ts';
import type { EditResult } from '../../wire/http/editing-shapes.ts';
import { readJson5 } from '../editor/json5-text.ts';
import { type Conflict, conflictsOf, type EditError, readSource, sendEdit, sourcePath } from '../editor/source-file.ts';
import type { Op, SourceFile } from '../editor/source-tree.ts';
import { usePolled } from '../hub/polled.ts';
import { useDelay } from '../page/page-timers.ts';
import { applyOps, gridOf, type PanelData, pinned } from './panel-data.ts';

/** The pause in editing after which the hub checks the edits, in milliseconds. */
const checkAfterMs = 250;
const pollMs = 5000;
/** The number of edits above which the edits are combined into one edit, because a request may contain at most 1,000. */
const maxOps = 800;
const maxSteps = 500;

/** Edits that are undone together. All typing in one field is a single step. */
interface Step {
  readonly ops: readonly Op[];
  readonly field?: string | undefined;
}

export type Draft = ReturnType<typeof createDraft>;

/**
 * Creates the draft of a panel's file, owned by the calling reactive scope. `etag` is empty for a new file, which begins with the text of
 * `source`.
 */
export function createDraft(first: SourceFile) {
  const [source, setSource] = createSignal(first);
  const [steps, setSteps] = createSignal<readonly Step[]>([]);
  const [undone, setUndone] = createSignal<readonly Step[]>([]);
  const [answer, setAnswer] = createSignal<EditResult>();
  const [failure, setFailure] = createSignal('');
  const [note, setNote] = createSignal('');
  const [conflict, setConflict] = createSignal<Conflict>();
  const [isBusy, setBusy] = createSignal(false);
  const [isGone, setGone] = createSignal(false);
  let version = 0;
  const pause = useDelay();
  onCleanup(() => {
    version = Number.NaN;
  });

  const isNew = () => source().etag === '';
  const base = createMemo(() => (readJson5(source().text) ?? {}) as PanelData);
  const edits = () => steps().flatMap(({ ops }) => ops);
  const data = createMemo(() => applyOps(base(), edits()) as PanelData);
  const grid = createMemo(() => gridOf(data() ?? {}));
  const isChanged = () => isNew() || steps().length > 0;
  const ops = (): Op[] => (isNew() ? [{ path: '', text: source().text }, ...edits()] : edits());
  const send = (mode: 'check' | 'save', comment: string) =>
    sendEdit([{ file: source().file, base: source().etag, ops: ops() }], mode, comment);

  const check = async () => {
    const checked = version;
    try {
      const found = await send('check', '');
      if (checked !== version) return;
      batch(() => {
        setAnswer(found);
        setFailure('');
        if (ops().length > maxOps) setSteps([{ ops: [{ path: '', text: found.files[0]!.text }] }]);
      });
    } catch (error) {
      if (checked !== version) return;
      const [found] = conflictsOf(error);
      batch(() => {
        setAnswer(undefined);
        setConflict(found);
        setFailure(found === undefined ? messageOf(error) : '');
      });
    }
  };
  const checkSoon = () => {
    version++;
    setNote('');
    if (isChanged()) pause.start(checkAfterMs, check);
    else {
      pause.stop();
      setAnswer(undefined);
      setFailure('');
    }
  };
  const add = (step: Step) => {
    setUndone([]);
    setSteps((all) => {
      const last = all.at(-1);
      const isSame = step.field !== undefined && last?.field === step.field;
      return [...(isSame ? all.slice(0, -1) : all), step].slice(-maxSteps);
    });
    checkSoon();
  };
  const restart = (fresh: SourceFile, next: readonly Step[] = []) => {
    batch(() => {
      setSource(fresh);
      setSteps(next);
      setUndone([]);
      setAnswer(undefined);
      setFailure('');
      setConflict(undefined);
    });
    checkSoon();
  };
  if (isNew()) checkSoon();

  const polled = usePolled<SourceFile>(
    () => (isNew() || isGone() ? undefined : sourcePath(source().file)),
    'none',
    pollMs,
  );
  const isOutdated = () => {
    const now = polled.data();
    return now !== undefined && now.etag !== source().etag && now.etag !== savedEtag;
  };
  let savedEtag = '';

  return {
    source,
    data,
    grid,
    answer,
    failure,
    note,
    conflict,
    isBusy,
    isChanged,
    isNew,
    isOutdated,
    /** The text of the panel's file with the edits, as written by the hub. */
    text: () => typed() ?? answer()?.files[0]?.text ?? source().text,
    errorsAt: (path: string): readonly EditError[] => (answer()?.errors ?? []).filter((error) => isWithin(error, path)),
    /** Adds edits to the draft. Widgets without their own position stay where they are. */
    apply(made: readonly Op[], field?: string) {
      if (made.length === 0 || !source().canEdit) return;
      const after = applyOps(data(), made) as PanelData;
      const isPlaced = made.some((op) => /\.(?:at|size)$|\]$/.test(op.path));
      const kept = isPlaced ? pinned(grid(), gridOf(after)) : [];
      add({ ops: [...made, ...kept], field });
    },
    type(text: string) {
      add({ ops: [{ path: '', text }], field: 'text' });
    },
    /** The reason why the typed text is not valid JSON5. Empty if the text is valid, or was not typed. */
    typingError: () =>
      typed() !== undefined && readJson5(typed()!) === undefined ? failure() || 'This is not valid JSON5 yet.' : '',
    canUndo: () => steps().length > 0,
    canRedo: () => undone().length > 0,
    undo() {
      const last = steps().at(-1);
      if (last === undefined) return;
      batch(() => {
        setSteps((all) => all.slice(0, -1));
        setUndone((all) => [...all, last]);
      });
      checkSoon();
    },
    redo() {
      const next = undone().at(-1);
      if (next === undefined) return;
      batch(() => {
        setUndone((all) => all.slice(0, -1));
        setSteps((all) => [...all, next]);
      });
      checkSoon();
    },
    async save(comment: string): Promise<boolean> {
      pause.stop();
      setBusy(true);
      setFailure('');
      let isSaved = false;
      try {
        const found = await send('save', comment);
        setAnswer(found);
        if (found.isSaved) {
          savedEtag = found.files[0]!.etag;
          const isMerged = found.files[0]!.isMerged;
          restart(await readSource(source().file));
          setNote(isMerged ? 'Saved and merged with changes by others.' : 'Saved.');
          isSaved = true;
        } else setFailure('Not saved: see the errors.');
      } catch (error) {
        const [found] = conflictsOf(error);
        setConflict(found);
        if (found === undefined) setFailure(messageOf(error));
      }
      setBusy(false);
      return isSaved;
    },
    async remove(comment: string): Promise<boolean> {
      setBusy(true);
      try {
        const { file, etag } = source();
        if (etag !== '') await sendEdit([{ file, base: etag, ops: [{ path: '', remove: true }] }], 'save', comment);
        setGone(true);
        setSteps([]);
      } catch (error) {
        const [found] = conflictsOf(error);
        setConflict(found);
        if (found === undefined) setFailure(messageOf(error));
      }
      setBusy(false);
      return isGone();
    },
    isGone,
    /** Drops all edits. */
    async discard() {
      if (isNew()) setGone(true);
      else restart(await readSource(source().file));
    },
    /** Continues with the text that other users have saved. Edits are kept if the hub can merge them. */
    async takeTheirs() {
      const merged = answer()?.files[0];
      const fresh = await readSource(source().file);
      restart(fresh, isChanged() && merged?.isMerged ? [{ ops: [{ path: '', text: merged.text }] }] : []);
    },
    /** Continues with the user's own text instead of the text of other users, which is kept in the revisions. */
    async keepMine() {
      const mine = conflict()?.yours ?? answer()?.files[0]?.text;
      if (mine === undefined) return;
      restart(await readSource(source().file), [{ ops: [{ path: '', text: mine }] }]);
    },
  };

  /** Returns the text that the user has typed, or undefined unless the last edit was typed. */
  function typed(): string | undefined {
    const last = steps().at(-1);
    const op = last?.field === 'text' ? last.ops[0] : undefined;
    return op !== undefined && 'text' in op ? op.text : undefined;
  }
}

function isWithin({ path }: EditError, base: string): boolean {
  return path === base || (path.startsWith(base) && /^[.[]/.test(path.slice(base.length)));
}
