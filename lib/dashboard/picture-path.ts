// The path of a picture on a dashboard. Pictures come only from the folder `documentRoot` on the same hub: another host would learn who
// looks at the panel, and loading an endpoint of the hub as a picture could change parameters.

const builtIn = ['update', 'parameters', 'ws', 'hub'];

/** Returns the reason why a path cannot lead to a picture, or undefined if the path is valid. */
export function whyNoPicture(path: string): string | undefined {
  const expected = 'expected a path such as "/pictures/logo.svg" on this hub';
  if (!/^\/(?![/\\])[^\\?#\s]{0,500}$/u.test(path)) return `${expected}, without host, spaces, "?" and "#"`;
  let names: string[];
  try {
    names = decodeURIComponent(path).split('/').slice(1);
  } catch {
    return `${expected}, in which "%" begins a percent-encoded character`;
  }
  if (names.some((name) => name === '.' || name === '..' || name.includes('\\'))) return `${expected}, without ".."`;
  if (builtIn.includes(names[0]!)) return `${expected}, got an endpoint, /${names[0]}`;
  return undefined;
}
