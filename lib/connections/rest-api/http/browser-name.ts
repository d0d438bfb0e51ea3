// The name of a browser as people know it, from the `User-Agent` header.

/** The names, keyed by browser and system. There are few different names, so all clients with the same browser share one string. */
const names = new Map<string, string>();

/**
 * Returns the name of the browser that sent a `User-Agent`, such as `Firefox on Linux`; an empty string for a program that is not a
 * browser.
 */
export function browserName(userAgent: string): string {
  const browser = /(Firefox|Edg|OPR|Chrome|Safari)\//.exec(userAgent)?.[1];
  if (browser === undefined) return '';
  const system = /(Windows|Android|iPhone|iPad|Mac OS X|Linux)/.exec(userAgent)?.[1];
  const key = `${browser} ${system}`;
  let name = names.get(key);
  if (name === undefined) {
    const shown = known.get(browser) ?? browser;
    name = system === undefined ? shown : `${shown} on ${system === 'Mac OS X' ? 'macOS' : system}`;
    names.set(key, name);
  }
  return name;
}

const known: ReadonlyMap<string, string> = new Map([
  ['Edg', 'Edge'],
  ['OPR', 'Opera'],
]);
