// Revisions: the saved change sets of flow files, newest first, each with its difference. A change set is reverted as a whole after a
// preview; later changes are kept.

import { createSignal, For, Show } from 'solid-js';
import type { EditResult, RevisionList } from '../../wire/http/editing-shapes.ts';
import { createAttempt } from '../hub/page-request.ts';
import { usePolled } from '../hub/polled.ts';
import { linkTo, route, setParams } from '../page/route.ts';
import { formatDate } from '../page/units.ts';
import { Fault } from '../parts/view-bar.tsx';
import { ProbationNote, useProbation } from './probation.tsx';
import { Difference, Findings } from './save-panel.tsx';
import { postSlowly } from './source-file.ts';

type Revision = RevisionList['revisions'][number];

const everyMs = 5000;

export default function Revisions() {
  const file = () => route().params.file;
  const path = () => `/hub/revisions${file() === undefined ? '' : `?${new URLSearchParams({ file: file()! })}`}`;
  const { data, error, refresh } = usePolled<RevisionList>(path, 'revision', everyMs);
  return (
    <>
      <div class="bar">
        <h1>Revisions</h1>
        <a href={linkTo('flows')}>Flows</a>
        <Show when={file()}>
          <span class="muted">{file()}</span>
          <button type="button" onClick={() => setParams({ file: undefined })}>
            All files
          </button>
        </Show>
      </div>
      <Fault text={error()} />
      <div class="scroll sheet">
        <Show when={data()?.revisions.length === 0}>
          <p class="note">Nothing has been saved here yet.</p>
        </Show>
        <ol class="revisions">
          <For each={data()?.revisions}>{(one) => <Saved revision={one} refresh={refresh} />}</For>
        </ol>
      </div>
    </>
  );
}

function Saved(props: { readonly revision: Revision; refresh(): void }) {
  const [preview, setPreview] = createSignal<EditResult>();
  const { isBusy, failure, run } = createAttempt(() => props.refresh());
  const probation = useProbation();
  const { revision } = props.revision;
  const revert = (mode: 'check' | 'save') =>
    run(async () => {
      const comment = `undid revision ${revision}`;
      const answer = await postSlowly<EditResult>(`/hub/revisions/${revision}/revert`, { mode, comment });
      setPreview(mode === 'check' || answer.errors.length > 0 ? answer : undefined);
      probation.begin(answer);
    });
  return (
    <li class="panel">
      <h2>
        Revision {revision} <small>{formatDate(props.revision.time)}</small>
      </h2>
      <p>
        {props.revision.user} <Show when={props.revision.comment}>: {props.revision.comment}</Show>
      </p>
      <For each={props.revision.files}>
        {(one) => (
          <details>
            <summary>{one.file}</summary>
            <Difference text={one.difference} />
          </details>
        )}
      </For>
      <Show when={failure()}>
        {(text) => (
          <p role="alert" class="error">
            {text()}
          </p>
        )}
      </Show>
      <ProbationNote probation={probation} />
      <Show
        when={preview()}
        fallback={
          <p class="fields">
            <button
              type="button"
              disabled={isBusy()}
              onClick={() => revert('check')}
              aria-label={`Undo revision ${revision}`}
            >
              Undo …
            </button>
          </p>
        }
      >
        {(answer) => (
          <>
            <h3>Undo restores only this text, not values. To restore values, use snapshots.</h3>
            <Findings answer={answer()} />
            <p class="fields">
              <button
                type="button"
                class="main"
                disabled={isBusy() || answer().errors.length > 0}
                onClick={() => revert('save')}
              >
                Undo
              </button>
              <button type="button" onClick={() => setPreview(undefined)}>
                Cancel
              </button>
              <a href={linkTo('snapshots')}>Snapshots</a>
            </p>
          </>
        )}
      </Show>
    </li>
  );
}
