// What the browser keeps until the next visit, or in a tab until it is closed. A policy or a private window may forbid it: then the
// choice lasts as long as the page.

type Place = 'localStorage' | 'sessionStorage';

/** Returns what is kept under a key; null: nothing, or the browser does not tell. */
export function recall(key: string, place: Place = 'localStorage'): string | null {
  try {
    return globalThis[place].getItem(key);
  } catch {
    return null;
  }
}

/** Returns the texts that are kept under a key, as a list in JSON; none where something else is kept. */
export function recallTexts(key: string, place: Place = 'localStorage'): readonly string[] {
  try {
    const kept: unknown = JSON.parse(recall(key, place) ?? '[]');
    return Array.isArray(kept) ? kept.filter((one) => typeof one === 'string') : [];
  } catch {
    return [];
  }
}

export function keep(key: string, text: string, place: Place = 'localStorage'): void {
  try {
    globalThis[place].setItem(key, text);
  } catch {
    // the page goes on with what it has
  }
}
