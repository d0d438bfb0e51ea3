// A change to a REST API or to users is on probation: the hub reverts the change unless the user who made it confirms it over the same
// link.

import { createSignal, onCleanup, Show } from 'solid-js';
import { messageOf } from '../../model/error.ts';
import type { EditResult } from '../../wire/http/editing-shapes.ts';
import { postJson, Refusal } from '../hub/page-request.ts';

export interface Probation {
  /** Begins the countdown if the saved change is on probation. */
  begin(answer: EditResult): void;
  readonly secondsLeft: () => number;
  /** The reason why the change is not confirmed yet, or the outcome of the probation. Empty if no change is or was on probation. */
  readonly note: () => string;
  readonly isOpen: () => boolean;
  keep(): Promise<void>;
}

const countEveryMs = 250;
/** How long the hub waits for a confirmation, in milliseconds. */
const lastsMs = 30_000;

/** Counts down the time within which a change on probation must be confirmed, until the calling reactive scope is disposed. */
export function useProbation(): Probation {
  const [open, setOpen] = createSignal<{ readonly revision: number; readonly untilMs: number }>();
  const [secondsLeft, setSecondsLeft] = createSignal(0);
  const [note, setNote] = createSignal('');
  let timer: ReturnType<typeof setInterval> | undefined;
  const end = (text: string) => {
    clearInterval(timer);
    setOpen(undefined);
    setNote(text);
  };
  onCleanup(() => clearInterval(timer));
  const count = () => {
    const leftMs = (open()?.untilMs ?? 0) - performance.now();
    setSecondsLeft(Math.max(0, Math.ceil(leftMs / 1000)));
    if (leftMs <= 0) end('The change was not confirmed, so the hub has reverted it.');
  };
  return {
    begin({ revision, probation }) {
      if (revision === undefined || probation === undefined) return;
      clearInterval(timer);
      const leftMs = Date.parse(probation.until) - Date.now();
      // the hub's clock may differ from the browser's clock
      const isPlausible = leftMs > 0 && leftMs <= lastsMs;
      setOpen({ revision, untilMs: performance.now() + (isPlausible ? leftMs : lastsMs) });
      setNote('');
      count();
      timer = setInterval(count, countEveryMs);
    },
    secondsLeft,
    note,
    isOpen: () => open() !== undefined,
    async keep() {
      const kept = open();
      if (kept === undefined) return;
      try {
        await postJson('/hub/edit/confirm', { revision: kept.revision });
        end('The change has been kept.');
      } catch (error) {
        if (error instanceof Refusal && error.code === 'not-found') end('The hub has reverted the change.');
        else setNote(`The change has not been kept yet: ${messageOf(error)}.`);
      }
    },
  };
}

export function ProbationNote(props: { readonly probation: Probation }) {
  const { isOpen, note, secondsLeft, keep } = props.probation;
  return (
    <div class="whole probation">
      <Show when={isOpen()}>
        <p>The change affects access to the hub. If this button works, you can reach the hub with the new settings.</p>
        <button type="button" class="main" aria-label="Keep this change" onClick={() => void keep()}>
          Keep this change: <span aria-hidden="true">{secondsLeft()} s</span>
        </button>
      </Show>
      <p role="status">{note()}</p>
    </div>
  );
}
