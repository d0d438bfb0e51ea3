// Sorts things so that each comes after all that it depends on, and finds the cycles that make this impossible.

export interface DependencyOrder<Key> {
  /** Every key once, each after its dependencies; members of a cycle in some order. */
  readonly order: readonly Key[];
  /** Each cycle as its members, every one depending on the next and the last on the first; at most 100 of them. */
  readonly cycles: readonly (readonly Key[])[];
}

const maxCycles = 100;
const maxNamesInText = 20;

/** Sorts the keys and all that they depend on; keeps the given order where it is free to. Depth is no limit. */
export function sortByDependency<Key>(
  keys: Iterable<Key>,
  dependenciesOf: (key: Key) => Iterable<Key>,
): DependencyOrder<Key> {
  const order = new Set<Key>();
  const cycles: Key[][] = [];
  const path = new Map<Key, Iterator<Key>>();
  for (const key of keys) {
    if (order.has(key)) continue;
    const stack = [key];
    path.set(key, dependenciesOf(key)[Symbol.iterator]());
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

/** The cycle as text, shortened when it is long: `a → b → a`. */
export function formatCycle(names: readonly string[]): string {
  const more = names.length - maxNamesInText;
  const shown = more > 0 ? [...names.slice(0, maxNamesInText), `… ${more} more …`] : names;
  return [...shown, names[0]].join(' → ');
}
