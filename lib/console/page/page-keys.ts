// Keyboard shortcuts in the console: / searches, g followed by a letter opens a view, ? opens the help. Users whose speech input or tremor
// would trigger single keys can switch the shortcuts off (WCAG 2.1.4).
import { createSignal, onCleanup } from 'solid-js';
import { listedViews } from '../views.ts';
import { navigate } from './route.ts';
import { keep, recall } from './storage.ts';

const storageKey = 'patchbay-keys';
const secondKeyMs = 1500;
const [enabled, setEnabled] = createSignal(recall(storageKey) !== 'off');

export const areKeysOn = enabled;

export function switchKeys(isOn: boolean): void {
  keep(storageKey, isOn ? 'on' : 'off');
  setEnabled(isOn);
}

/** Handles the keyboard shortcuts until the calling reactive scope is disposed. */
export function useKeys(openHelp: () => void): void {
  let afterG = Number.NEGATIVE_INFINITY;
  const press = (event: KeyboardEvent) => {
    if (!enabled() || event.ctrlKey || event.altKey || event.metaKey || isTyping(event.target)) return;
    if (document.querySelector('dialog[open]')) return;
    const view = performance.now() - afterG < secondKeyMs && listedViews().find(({ key }) => key === event.key);
    afterG = event.key === 'g' ? performance.now() : Number.NEGATIVE_INFINITY;
    if (view) navigate(view.name);
    else if (event.key === '?') openHelp();
    else if (event.key === '/') document.querySelector<HTMLInputElement>('[data-search]')?.focus();
    else return;
    event.preventDefault();
  };
  document.addEventListener('keydown', press);
  onCleanup(() => document.removeEventListener('keydown', press));
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('input:not([type=checkbox], [type=radio]), textarea, select');
}
