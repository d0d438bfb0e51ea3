// The flow files, and what the last load said about them.

import { For, Show } from 'solid-js';
import type { LoadReport } from '../../wire/http/operation.ts';
import { formatDate } from '../page/units.ts';
import { GuardedFor } from '../parts/guarded.tsx';

export function Files(props: { readonly report: LoadReport }) {
  const mistakes = () => props.report.files.reduce((sum, { mistakes }) => sum + mistakes.length, 0);
  return (
    <details class="files" open={!props.report.loaded || mistakes() > 0}>
      <summary>
        {props.report.files.length} {props.report.files.length === 1 ? 'file' : 'files'},{' '}
        <Show
          when={mistakes() > 0}
          fallback={props.report.loaded ? 'no mistakes' : <span class="error">not loaded</span>}
        >
          <span class="error">
            {mistakes()} {mistakes() === 1 ? 'mistake' : 'mistakes'}
          </span>
        </Show>
        , {formatDate(props.report.time)}
      </summary>
      <Show when={props.report.reason}>
        <p class="error">{props.report.reason}</p>
      </Show>
      <Show when={!props.report.loaded}>
        <p>What ran before runs on.</p>
      </Show>
      <ul>
        <GuardedFor each={props.report.files} as="li">
          {({ path, connections, rules, mistakes }) => (
            <li>
              <code>{path}</code>{' '}
              <span class="muted">
                {connections} connections, {rules} rules
              </span>
              <For each={mistakes}>{(mistake) => <pre class="error">{mistake}</pre>}</For>
            </li>
          )}
        </GuardedFor>
      </ul>
    </details>
  );
}
