// What all code of a thread shares, and what a flow must leave as it is.

/** Every function of the language and of Node.js that all code shares, by name: `JSON.parse`, `Map.prototype.get`. */
export function readGlobals(): ReadonlyMap<string, unknown> {
  const found = new Map<string, unknown>();
  const read = (owner: object, prefix: string) => {
    for (const key of Reflect.ownKeys(owner)) {
      const { value } = Reflect.getOwnPropertyDescriptor(owner, key) ?? {};
      if (typeof value === 'function') found.set(`${prefix}${String(key)}`, value);
    }
  };
  read(globalThis, '');
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    const value: unknown = Reflect.getOwnPropertyDescriptor(globalThis, name)?.value;
    if (name === 'console' || value === globalThis) continue;
    if (typeof value === 'function') read(value, `${name}.`);
    if (typeof value === 'function' && typeof value.prototype === 'object' && value.prototype !== null)
      read(value.prototype, `${name}.prototype.`);
    if (typeof value === 'object' && value !== null) read(value, `${name}.`);
  }
  return found;
}
