// What the browser keeps until the next visit. A policy or a private window may forbid it: then the choice lasts as long as the
// page.

/** Returns what is kept under a key; null: nothing, or the browser does not tell. */
export function recall(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function keep(key: string, text: string): void {
  try {
    localStorage.setItem(key, text);
  } catch {
    // the page goes on with what it has
  }
}
