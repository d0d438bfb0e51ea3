// What all code of a thread shares, and what a flow must leave as it is.

/** Every function of the language and of Node.js that all code shares, by name: `JSON.parse`, `Map.prototype.get`. */
export function readGlobals(): ReadonlyMap<string, unknown> {
  const found = new Map<string, unknown>();
  visitGlobals((owner, prefix) => {
    for (const [key, { value }] of functionsOf(owner)) found.set(`${prefix}${String(key)}`, value);
  });
  return found;
}

/**
 * Makes an assignment to `JSON.parse`, `Date.now` and the like an error at that place. The methods of prototypes, such as
 * `Map.prototype.get`, stay as they are: V8 makes slower code where these are locked.
 */
export function lockGlobals(): void {
  visitGlobals((owner, prefix) => {
    if (prefix.endsWith('.prototype.')) return;
    for (const [key, { configurable }] of functionsOf(owner))
      if (configurable) Object.defineProperty(owner, key, { writable: false, configurable: false });
  });
}

function visitGlobals(visit: (owner: object, prefix: string) => void): void {
  visit(globalThis, '');
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    const value: unknown = Reflect.getOwnPropertyDescriptor(globalThis, name)?.value;
    if (name === 'console' || value === globalThis) continue;
    if (typeof value === 'function') visit(value, `${name}.`);
    if (typeof value === 'function' && typeof value.prototype === 'object' && value.prototype !== null)
      visit(value.prototype, `${name}.prototype.`);
    if (typeof value === 'object' && value !== null) visit(value, `${name}.`);
  }
}

function functionsOf(owner: object): [key: string | symbol, descriptor: PropertyDescriptor][] {
  return Reflect.ownKeys(owner).flatMap((key) => {
    const descriptor = Reflect.getOwnPropertyDescriptor(owner, key) ?? {};
    return typeof descriptor.value === 'function' ? [[key, descriptor]] : [];
  });
}
