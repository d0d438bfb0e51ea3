// The studio that the hub and others run: parameters, rules that compute, and the changes that each write leads to. Loads know them
// beforehand, so that every change that arrives is checked.

/** A destination becomes `factor * value + offset` whenever its source changes. */
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

/** A connection of the hub has all parameters. */
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

/** The flow of the hub that runs a studio. */
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

/** Each source has so many values in turn. */
const valuesOfSource = 50;

/** The writes of a cycle, which repeats for ever, each with the changes that it leads to. */
export function studioWrites({ sources, rules }: Studio): readonly (readonly StudioChange[])[] {
  const bySource = Map.groupBy(rules, ({ from }) => from);
  return Array.from({ length: valuesOfSource * sources.length }, (_, index) => {
    const p = sources[index % sources.length]!;
    const v = Math.floor(index / sources.length);
    const followed = bySource.get(p)!.map(({ to, factor, offset }) => ({ p: to, v: v * factor + offset }));
    return [{ p, v }, ...followed];
  });
}
