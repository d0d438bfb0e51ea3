// The studio that the hub and its contenders run: parameters, rules that compute, and the changes that follow from each write. These are
// known in advance, so the load generators check every change that arrives.

/** A rule that sets `to` to `factor * value + offset` whenever `from` changes. */
export interface StudioRule {
  readonly from: string;
  readonly to: string;
  readonly factor: number;
  readonly offset: number;
}

export interface Studio {
  readonly sources: readonly string[];
  readonly rules: readonly StudioRule[];
}

export type StudioName = keyof typeof studios;

/** The hub's connection that holds all parameters. */
const connection = 'studio';

function createStudio(sources: number, rules: number): Studio {
  const names = Array.from({ length: sources }, (_, index) => `${connection}/in/${index}`);
  return {
    sources: names,
    rules: Array.from({ length: rules }, (_, offset) => ({
      from: names[offset % sources]!,
      to: `${connection}/out/${offset}`,
      factor: 2,
      offset,
    })),
  };
}

/** `studio`: 100 parameters and 60 rules; `one source`: 1,000 rules on one source. */
export const studios = {
  studio: createStudio(40, 60),
  'one source': createStudio(1, 1000),
} as const;

/** The hub's flow for a studio. */
export function studioFlow({ sources, rules }: Studio): {
  connections: Record<string, unknown>;
  rules: readonly unknown[];
} {
  const addresses = [...sources, ...rules.map(({ to }) => to)];
  const parameters = addresses.map((address) => `${address.slice(connection.length + 1)},F`);
  return {
    connections: { [connection]: { type: 'dummy', parameters } },
    rules: rules.map(({ from, to, factor, offset }, index) => ({
      name: `rule ${index}`,
      from,
      map: `value * ${factor} + ${offset}`,
      to,
    })),
  };
}

export interface StudioChange {
  readonly p: string;
  readonly v: number;
}

/** Each source cycles through this many values. */
const valuesOfSource = 50;

/** The writes of a cycle that repeats forever, each with the changes that follow from it. */
export function studioWrites({ sources, rules }: Studio): readonly (readonly StudioChange[])[] {
  const bySource = Map.groupBy(rules, ({ from }) => from);
  return Array.from({ length: valuesOfSource * sources.length }, (_, index) => {
    const p = sources[index % sources.length]!;
    const v = Math.floor(index / sources.length);
    const followed = bySource.get(p)!.map(({ to, factor, offset }) => ({ p: to, v: v * factor + offset }));
    return [{ p, v }, ...followed];
  });
}
