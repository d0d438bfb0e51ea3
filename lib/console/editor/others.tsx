// Shows who else has the same rule open: a page reports its own sheet, and shows the sheets of other users.

import { createSignal, For, onCleanup, onMount } from 'solid-js';
import type { OtherSheets } from '../../wire/http/editing-shapes.ts';
import { postJson, request } from '../hub/page-request.ts';
import { usePolling } from '../hub/polled.ts';
import { useInterval } from '../page/page-timers.ts';
import { formatClock } from '../page/units.ts';

const reportEveryMs = 20_000;

export function Others(props: {
  readonly file: string;
  /** The name of the rule that is open. Empty if the rule is new. */
  readonly rule: string;
  /** The names of all rules that the item in the file creates. */
  readonly names: readonly string[];
  /** Words for what is open. The default is this rule. */
  readonly what?: string;
}) {
  const [others, setOthers] = createSignal<OtherSheets['others']>([]);
  const sheet = Math.random().toString(36).slice(2, 12);
  const body = (isOpen: boolean) => ({ file: props.file, rule: props.rule, sheet, isOpen });
  const report = async () => {
    const answer = await postJson<OtherSheets>('/hub/edit/sheet', body(true)).catch(() => undefined);
    if (answer !== undefined) setOthers(answer.others);
  };
  // A page in the background also reports: its draft is still open.
  useInterval(() => void (document.hidden && report()), reportEveryMs);
  usePolling(report, () => reportEveryMs)();
  const close = () =>
    void request('/hub/edit/sheet', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body(false)),
      keepalive: true,
    }).catch(() => {});
  onMount(() => addEventListener('pagehide', close));
  onCleanup(() => {
    removeEventListener('pagehide', close);
    close();
  });
  const same = () => others().filter(({ rule }) => rule !== '' && (rule === props.rule || props.names.includes(rule)));
  return (
    <div role="status" class="whole others">
      <For each={same()}>
        {({ user, since }) => (
          <p class="warning">
            {user} has had {props.what ?? 'this rule'} open since <time>{formatClock(since).slice(0, 5)}</time>. If you
            both save, the hub merges the changes, or shows both.
          </p>
        )}
      </For>
    </div>
  );
}
