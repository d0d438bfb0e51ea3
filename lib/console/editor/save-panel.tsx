// The effects of an edit, and how the edit reaches the running hub: errors, the difference in the text, what restarts, tests, a trial in
// shadow, and applying the edit with a comment. If two people have changed the same part, both texts are shown.

import { createSignal, For, onMount, Show } from 'solid-js';
import { counted } from '../../model/digits.ts';
import { messageOf } from '../../model/error.ts';
import type { EditResult } from '../../wire/http/editing-shapes.ts';
import type { ShadowReport } from '../../wire/http/operation.ts';
import { mayManage } from '../hub/me.ts';
import { postJson } from '../hub/page-request.ts';
import { usePolled } from '../hub/polled.ts';
import { formatClock, formatValue } from '../page/units.ts';
import { type Conflict, conflictsOf, type Mode, missingPart } from './source-file.ts';

export interface SaveProps {
  /** The result of the last check; undefined if no check has been made, or if there is nothing to save. */
  readonly answer: EditResult | undefined;
  readonly isChanged: boolean;
  /** A hint about what the user can do, which is shown while nothing has been changed. */
  readonly hint?: string;
  /** A sentence about the result of the last save. Empty if nothing was saved. */
  readonly note: string;
  setNote(note: string): void;
  /** The reason why the check failed as a whole. Empty if the check did not fail. */
  readonly failure: string;
  /** Sends the edit to the hub. Errors: the same as for `sendEdit`. */
  send(mode: Mode, comment: string): Promise<EditResult>;
  saved(answer: EditResult): void;
  /** Bases the edit on the text that another user has saved. */
  rebase(conflict: Conflict): void;
  discard(): void;
}

export function SavePanel(props: SaveProps) {
  const [comment, setComment] = createSignal('');
  const [isBusy, setBusy] = createSignal(false);
  const [failure, setFailure] = createSignal('');
  const [conflicts, setConflicts] = createSignal<readonly Conflict[]>([]);
  const [isInShadow, setInShadow] = createSignal(false);
  const isReady = () => props.isChanged && props.answer !== undefined && props.answer.errors.length === 0 && !isBusy();
  const run = async (mode: Mode) => {
    setBusy(true);
    setFailure('');
    props.setNote('');
    setConflicts([]);
    const { hash } = location;
    try {
      const answer = await props.send(mode, comment());
      if (answer.errors.length > 0) setFailure('Not saved: see the errors.');
      else if (mode === 'shadow') setInShadow(true);
      else {
        setInShadow(false);
        props.setNote(
          answer.files.some(({ isMerged }) => isMerged)
            ? 'Saved and merged with changes by others.'
            : 'Saved and running.',
        );
        setComment('');
        if (location.hash === hash) props.saved(answer); // a user who has left the sheet in the meantime is not led back
      }
    } catch (error) {
      setConflicts(conflictsOf(error));
      if (conflictsOf(error).length === 0) setFailure(messageOf(error));
    }
    setBusy(false);
  };
  /**
   * Moves the focus to the result of a save. The form that was open before the save no longer exists and has lost the focus, so keyboard
   * users continue at the result.
   */
  const goOnHere = (status: HTMLElement) =>
    onMount(() => {
      if (props.note !== '' && document.activeElement === document.body) status.focus();
    });
  const leaveShadow = async () => {
    setBusy(true);
    await postJson('/hub/reload', {}).catch((error) => setFailure(messageOf(error)));
    setInShadow(false);
    setBusy(false);
  };
  return (
    <section class="save" aria-label="Save">
      <Show
        when={props.isChanged}
        fallback={<p class="muted">{props.note ? '' : (props.hint ?? 'No changes yet.')}</p>}
      >
        <Show when={props.failure || failure()}>
          {(text) => (
            <p class="error" role="alert">
              {text()}
            </p>
          )}
        </Show>
        <Show when={props.answer}>{(answer) => <Findings answer={answer()} />}</Show>
        <CommentField comment={comment()} take={setComment} />
        <p class="fields actions">
          <Show when={mayManage()}>
            <button type="button" disabled={!isReady()} onClick={() => run('shadow')}>
              {isInShadow() ? 'Try again in shadow' : 'Try in shadow'}
            </button>
          </Show>
          <button type="button" class="main" disabled={!isReady()} onClick={() => run('save')}>
            Apply
          </button>
          <button type="button" onClick={() => props.discard()}>
            Discard
          </button>
        </p>
      </Show>
      <p role="status" tabIndex={-1} ref={goOnHere}>
        {isBusy() ? 'Working …' : props.note}
      </p>
      <Show when={isInShadow()}>
        <InShadow leave={leaveShadow} />
      </Show>
      <For each={conflicts()}>
        {(conflict) => (
          <Conflicting
            conflict={conflict}
            rebase={() => {
              setConflicts([]);
              props.rebase(conflict);
            }}
            discard={() => {
              setConflicts([]);
              props.discard();
            }}
          />
        )}
      </For>
    </section>
  );
}

/** Shows the findings of a check, including the errors that are also shown at form fields. */
export function Findings(props: { readonly answer: EditResult }) {
  const restarts = () => {
    const { connections, rules } = props.answer.restarts;
    const lines: [string, readonly string[]][] = [
      ['Starts', [...connections.added, ...rules.added]],
      ['Restarts', [...connections.changed, ...rules.changed]],
      ['Stops', [...connections.removed, ...rules.removed]],
    ];
    return lines.filter(([, names]) => names.length > 0);
  };
  const tests = () => props.answer.tests;
  const difference = () => props.answer.files.map((one) => one.difference).join('\n');
  return (
    <div class="findings">
      <Show
        when={props.answer.errors.length === 0}
        fallback={
          <ul>
            <For each={props.answer.errors}>
              {(error) => (
                <Show
                  when={missingPart(error) === undefined}
                  fallback={<li>Choose a parameter under “{missingPart(error)}”.</li>}
                >
                  <li class="error">
                    <Show when={error.line}>
                      <code>
                        {error.line}:{error.column}
                      </code>{' '}
                    </Show>
                    <Show when={error.path}>
                      <code>{error.path}</code>:{' '}
                    </Show>
                    {error.message}
                  </li>
                </Show>
              )}
            </For>
          </ul>
        }
      >
        <p>
          <Show when={tests().failed.length > 0} fallback={<span class="holds">No errors</span>}>
            <span class="error">{counted(tests().failed.length, 'test')} failed</span>
          </Show>
          , {counted(tests().passed, 'test')} passed
          <Show when={tests().left > 0}>, {tests().left} not run</Show>.{' '}
          <For each={restarts()}>
            {([verb, names]) => (
              <>
                {verb}: <strong>{names.join(', ')}</strong>.{' '}
              </>
            )}
          </For>
        </p>
      </Show>
      <For each={props.answer.restarts.notes}>{(note) => <p class="warning">{note}</p>}</For>
      <For each={props.answer.warnings}>{(warning) => <p class="warning">{warning}</p>}</For>
      <For each={tests().failed}>
        {(failed) => (
          <details>
            <summary class="error">
              {failed.name} <small>{failed.place}</small>
            </summary>
            <pre class="mono">{failed.timeline}</pre>
          </details>
        )}
      </For>
      <Show when={difference()}>
        <Difference text={difference()} />
      </Show>
    </div>
  );
}

/** Shows a difference in unified diff format. */
export function Difference(props: { readonly text: string }) {
  const lines = () => props.text.split('\n').filter((line) => !/^(?:---|\+\+\+) /.test(line));
  const kindOf = (line: string) => (line.startsWith('+') ? 'added' : line.startsWith('-') ? 'removed' : undefined);
  return (
    <pre class="difference mono" tabIndex={0} aria-label="Text changes">
      <For each={lines()}>{(line) => <span class={kindOf(line)}>{`${line}\n`}</span>}</For>
    </pre>
  );
}

/** Shows how the rules in shadow have deviated from the live rules. */
function InShadow(props: { leave(): void }) {
  const { data, error } = usePolled<ShadowReport>('/hub/shadow', 'none');
  return (
    <section class="shadow" aria-label="In shadow">
      <h3>In shadow since {data() ? formatClock(data()!.since) : '…'}</h3>
      <Show when={error()}>
        <p class="error">{error()}</p>
      </Show>
      <p aria-live="polite">
        <Show
          when={(data()?.count ?? 0) > 0}
          fallback="No differences so far. Operate your equipment or set a source, then watch for differences here."
        >
          {counted(data()!.count, 'difference')} so far.
        </Show>
      </p>
      <For each={data()?.notInShadow}>
        {(id) => <p class="warning">{id} does not run in shadow: it acts outside the hub.</p>}
      </For>
      <ul>
        <For each={data()?.deviations.toReversed().slice(0, 20)}>
          {(one) => (
            <li>
              <time>{formatClock(one.time)}</time> <code>{one.parameter}</code> is{' '}
              <strong>{formatValue(one.done.value) || 'unknown'}</strong>, would be{' '}
              <strong>{formatValue(one.would.value) || 'unknown'}</strong>
            </li>
          )}
        </For>
      </ul>
      <button type="button" onClick={() => props.leave()}>
        End shadow run
      </button>
    </section>
  );
}

/** Shows both texts of a file in which two people have changed the same part. `verb` is the label for `rebase`. */
export function Conflicting(props: {
  readonly conflict: Conflict;
  readonly verb?: string;
  rebase(): void;
  discard(): void;
}) {
  return (
    <section class="conflict" role="alert" aria-label="Changed by somebody else">
      <h3>Somebody else has changed the same part</h3>
      <p>{props.conflict.file} has been saved in the meantime. Compare both texts, then choose.</p>
      <div class="both">
        <figure>
          <figcaption>Yours</figcaption>
          <pre class="mono" tabIndex={0}>
            <Marked text={props.conflict.yours ?? ''} base={props.conflict.base ?? props.conflict.theirs} />
          </pre>
        </figure>
        <figure>
          <figcaption>Theirs, as saved</figcaption>
          <pre class="mono" tabIndex={0}>
            <Marked text={props.conflict.theirs} base={props.conflict.base ?? props.conflict.yours ?? ''} />
          </pre>
        </figure>
      </div>
      <p class="fields">
        <button type="button" onClick={() => props.rebase()}>
          {props.verb ?? 'Apply my change to theirs'}
        </button>
        <button type="button" onClick={() => props.discard()}>
          Keep theirs
        </button>
      </p>
    </section>
  );
}

/** Shows a text, and marks the lines that are missing from another text. */
function Marked(props: { readonly text: string; readonly base: string }) {
  const known = () => new Set(props.base.split('\n'));
  return (
    <For each={props.text.split('\n')}>
      {(line) => <span class={known().has(line) ? undefined : 'added'}>{`${line}\n`}</span>}
    </For>
  );
}

/** Shows the field for the reason for a change, which is stored in the revision and the audit. */
export function CommentField(props: { readonly comment: string; take(comment: string): void }) {
  return (
    <label class="comment">
      Comment{' '}
      <input
        type="text"
        maxLength={1000}
        placeholder="reason, for the audit"
        title="The reason is kept with the revision and in the audit"
        value={props.comment}
        onInput={(event) => props.take(event.currentTarget.value)}
      />
    </label>
  );
}
