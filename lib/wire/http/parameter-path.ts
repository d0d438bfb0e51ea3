// Addresses in paths: `/parameters/<address>`, `/hub/explain/<address>`.

/** An address as a part of a path: its segments are percent-encoded, its slashes are not. `desk/a b` → `desk/a%20b`. */
export function pathOf(address: string): string {
  return address.split('/').map(encodeURIComponent).join('/');
}
