// What the browser keeps until the next visit. It may refuse to, by a policy or in a private window: then it is kept as long as
// the page.

/** What was kept under a key; null: nothing, or the browser does not tell. */
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
    // its caller goes on with what it has
  }
}
