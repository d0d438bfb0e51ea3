// The theme: light, dark, or the system's theme. The browser stores the choice.

import { createSignal } from 'solid-js';
import { keep, recall } from './storage.ts';

const choices = ['system', 'light', 'dark'] as const;
export type Theme = (typeof choices)[number];

const storageKey = 'patchbay-theme';
const systemDark = matchMedia('(prefers-color-scheme: dark)');
const [choice, setChoice] = createSignal<Theme>(choices.find((one) => one === recall(storageKey)) ?? 'system');
const [isSystemDark, setSystemDark] = createSignal(systemDark.matches);
systemDark.addEventListener('change', () => setSystemDark(systemDark.matches));

export const theme = choice;
/** Returns whether the theme in effect is dark. Canvas drawings are redrawn when this changes. */
export const isDark = () => choice() === 'dark' || (choice() === 'system' && isSystemDark());

export function applyTheme(): void {
  if (choice() === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = choice();
}

/** Switches the theme: from the system's theme to light, to dark, and back. */
export function switchTheme(): void {
  const next = choices[(choices.indexOf(choice()) + 1) % choices.length]!;
  keep(storageKey, next);
  document.documentElement.dataset.theme = next;
  setChoice(next);
  applyTheme();
}

/**
 * Returns the current colour of a CSS variable such as `--accent` within an element, because a canvas cannot use the name of a variable.
 */
export function colourOf(element: HTMLElement, name: string): string {
  const { color } = element.style;
  element.style.color = `var(${name})`;
  const seen = getComputedStyle(element).color;
  element.style.color = color;
  return seen;
}
