// Browser storage, either across visits or for one tab. A policy or a private window may forbid storage, in which case choices last as long
// as the page.

type Place = 'localStorage' | 'sessionStorage';

/** Returns the string stored under a key, or null if no string is stored or the browser denies access. */
export function recall(key: string, place: Place = 'localStorage'): string | null {
  try {
    return globalThis[place].getItem(key);
  } catch {
    return null;
  }
}

/** Returns the strings that are stored under a key as a JSON list, or an empty list if anything else is stored. */
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
    // the choice then lasts as long as the page
  }
}
