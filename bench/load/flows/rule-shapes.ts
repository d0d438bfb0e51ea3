// Shapes of installations with many rules. Each makes a flow with a given number of rules, and lists the writes that run every rule once.

export interface Rule {
  readonly from: string | readonly string[] | Readonly<Record<string, string>>;
  readonly when?: string;
  readonly map?: string;
  readonly pipe?: readonly object[];
  readonly to: string | readonly string[];
}

export interface RuleShape {
  readonly connections: Readonly<Record<string, unknown>>;
  readonly rules: readonly Rule[];
  /** The rules as the flow file contains them; omitted: one entry per rule. */
  readonly written?: readonly object[];
  /** The addresses that one round writes, in order. */
  readonly writes: readonly string[];
}

/** Stays below the hop limit. */
const rulesPerChain = 50;

/**
 * All shapes by name, each a function of the number of rules; `first` is the number of the first rule, for shapes whose expressions must
 * differ between hubs.
 */
export const ruleShapes = {
  copy: (rules) => shape(rules, () => ({})),
  map: (rules) => shape(rules, () => ({ map: 'value + 1' })),
  when: (rules) => shape(rules, () => ({ when: 'value > 0', map: 'value + 1' })),
  param: (rules) => {
    const { connections, ...others } = shape(rules, (index) => ({ map: `value + param('p/${(index * 7) % rules}')` }));
    return { connections: { ...connections, p: connections.a }, ...others };
  },
  scan: (rules) => shape(rules, () => ({ pipe: [{ scan: { seed: 0, expression: 'sum + value' } }] })),
  'list of 5': (rules) => shape(rules, (index) => ({ from: around(index, rules, 5), map: 'value' }), 5),
  '2 named sources': (rules) => named(rules, 2),
  '5 named sources': (rules) => named(rules, 5),
  '50 named sources': (rules) => named(rules, 50),
  'named sources on one source': (rules) =>
    onOne(rules, (index) => ({ from: { x: 's/x', a: `a/${index}` }, map: 'x + a' })),
  'named sources in chains': (rules) => chains(rules, (from) => ({ from: { x: from, y: 's/x' }, map: 'x + 1' })),
  'one source': (rules) => onOne(rules, () => ({ from: 's/x', map: 'value + 1' })),
  'one destination': (rules) => shape(rules, () => ({ map: "value + param('s/x')", to: 's/x' })),
  'expressions of their own': (rules, first = 0) => shape(rules, (index) => ({ map: `value * 3 + ${first + index}` })),
  'many destinations': (rules) => ({
    ...shape(rules, () => ({})),
    rules: [{ from: 's/x', map: 'value + 1', to: Array.from({ length: rules }, (_, index) => `b/${index}`) }],
    writes: ['s/x'],
  }),
  chains: (rules) => chains(rules, (from) => ({ from, map: 'value + 1' })),
  'uses of a template': (rules) => ({
    ...shape(rules, () => ({ map: 'value + 1' })),
    written: [
      {
        each: { n: Array.from({ length: rules }, (_, index) => index) },
        from: 'a/${n}',
        map: 'value + 1',
        to: 'b/${n}',
      },
    ],
  }),
} satisfies Record<string, (rules: number, first?: number) => RuleShape>;

export type RuleShapeName = keyof typeof ruleShapes;

/** Gives each rule a source of its own unless `part` overrides it; only one source in `every` is written. */
function shape(rules: number, part: (index: number) => Partial<Rule>, every = 1): RuleShape {
  const numbers = Array.from({ length: rules }, (_, index) => index);
  const dummy = (ids: readonly (string | number)[]) => ({ type: 'dummy', parameters: ids.map((id) => `${id},F,1`) });
  return {
    connections: { s: dummy(['x']), a: dummy(numbers), b: dummy(numbers) },
    rules: numbers.map((index) => ({ from: `a/${index}`, to: `b/${index}`, ...part(index) })),
    writes: numbers.filter((index) => index % every === 0).map((index) => `a/${index}`),
  };
}

function onOne(rules: number, part: (index: number) => Partial<Rule>): RuleShape {
  return { ...shape(rules, part), writes: ['s/x'] };
}

/** Each write runs as many rules as each rule has sources. */
function named(rules: number, sources: number): RuleShape {
  const part = (index: number): Partial<Rule> => {
    const names = around(index, rules, sources).map((address, at) => [`n${at}`, address] as const);
    return { from: Object.fromEntries(names), map: names.map(([name]) => name).join(' + ') };
  };
  return shape(rules, part, sources);
}

/** The addresses of an index and its successors, in a ring. */
function around(index: number, rules: number, count: number): string[] {
  return Array.from({ length: count }, (_, more) => `a/${(index + more) % rules}`);
}

/** Each rule feeds the next. */
function chains(rules: number, part: (from: string) => Partial<Rule>): RuleShape {
  const from = (index: number) => (index % rulesPerChain === 0 ? `a/${index}` : `b/${index - 1}`);
  return shape(rules, (index) => part(from(index)), rulesPerChain);
}
