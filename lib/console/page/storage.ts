// Storage of the browser, across visits or for a tab. A policy or a private window may forbid it: then a choice lasts as long as the
// page.

type Place = 'localStorage' | 'sessionStorage';

/** Returns the text stored under a key; null if there is none, or if the browser denies access. */
export function recall(key: string, place: Place = 'localStorage'): string | null {
  try {
    return globalThis[place].getItem(key);
  } catch {
    return null;
  }
}

/** Returns the texts stored under a key as a JSON list; none if something else is stored. */
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
    // the choice lasts as long as the page
  }
}
