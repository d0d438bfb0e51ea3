// Sorts items so that each item follows its dependencies, and finds the cycles that make this impossible.

export interface DependencyOrder<Key> {
  /** Each key once, after its dependencies. The members of a cycle are in any order. */
  readonly order: readonly Key[];
  /** At most 100 cycles. Each member depends on the next member, and the last member on the first. */
  readonly cycles: readonly (readonly Key[])[];
}

const maxCycles = 100;
const maxNamesInText = 20;

/**
 * Sorts the keys, and all their direct and indirect dependencies, so that each key follows its dependencies. Keeps the given order where
 * possible.
 */
export function sortByDependency<Key>(
  keys: Iterable<Key>,
  dependenciesOf: (key: Key) => Iterable<Key>,
): DependencyOrder<Key> {
  const order = new Set<Key>();
  const cycles: Key[][] = [];
  const path = new Map<Key, Iterator<Key>>();
  for (const key of keys) {
    if (order.has(key)) continue;
    const dependencies = dependenciesOf(key);
    if (Array.isArray(dependencies) && dependencies.length === 0) {
      order.add(key);
      continue;
    }
    const stack = [key];
    path.set(key, dependencies[Symbol.iterator]());
    while (stack.length > 0) {
      const top = stack.at(-1)!;
      const { value: next, done } = path.get(top)!.next();
      if (done) {
        stack.pop();
        path.delete(top);
        order.add(top);
      } else if (path.has(next)) {
        if (cycles.length < maxCycles) cycles.push(stack.slice(stack.indexOf(next)));
      } else if (!order.has(next)) {
        stack.push(next);
        path.set(next, dependenciesOf(next)[Symbol.iterator]());
      }
    }
  }
  return { order: [...order], cycles };
}

/** Formats a cycle, shortened if it is long: `a → b → a`. */
export function formatCycle(names: readonly string[]): string {
  const more = names.length - maxNamesInText;
  const shown = more > 0 ? [...names.slice(0, maxNamesInText), `… ${more} more …`] : names;
  return [...shown, names[0]].join(' → ');
}
