// Shapes of Virtual Cores: their outputs, and the value of the last output after x was written.

type Outputs = Readonly<Record<string, object>>;

interface CoreShape {
  readonly name: string;
  readonly outputs: Outputs;
  /** Number of outputs that change with every write of x. */
  readonly changing: number;
  readonly last: string;
  expected(x: number): number | boolean;
}

/** Number of outputs in a chain that follow x. */
const links = 3;

export const coreShapes = {
  /** Every output depends on x alone. */
  wide: (count: number): CoreShape => ({
    name: `${count.toLocaleString('en')} expressions over one input`,
    outputs: numbered(count, (index) => ({ type: 'F', expression: `x + ${index}` })),
    changing: count,
    last: `o${count - 1}`,
    expected: (x) => x + count - 1,
  }),
  /** Every output depends on two others, the previous one and the one halfway back. */
  deep: (count: number): CoreShape => ({
    name: `${count.toLocaleString('en')} expressions, each over two others`,
    outputs: numbered(count, (index) => {
      const [left, right] = index < 2 ? ['x', 'x'] : [`o${index - 1}`, `o${index >> 1}`];
      return { type: 'F', expression: `(${left} + ${right}) / 2 + 1` };
    }),
    changing: count,
    last: `o${count - 1}`,
    expected: (x) => deepValue(x, count),
  }),
  /** Every output is a latch that each write sets or resets. */
  latches: (count: number): CoreShape => ({
    name: `${count.toLocaleString('en')} latches`,
    outputs: {
      odd: { type: 'B', expression: 'x % 2 == 1' },
      even: { type: 'B', expression: '!odd' },
      ...numbered(count, () => ({ block: 'SR', set: 'odd', reset: 'even' })),
    },
    changing: count + 2,
    last: `o${count - 1}`,
    expected: (x) => x % 2 === 1,
  }),
  /** Three outputs depend on x; all others depend on y, which is never written. */
  chain: (count: number): CoreShape => ({
    name: `${links} outputs of ${count.toLocaleString('en')}`,
    outputs: {
      a: { type: 'F', expression: 'x + 1' },
      b: { type: 'F', expression: 'a + 1' },
      c: { type: 'F', expression: 'b + 1' },
      ...numbered(count - links, (index) => ({ type: 'F', expression: `y + ${index}` })),
    },
    changing: links,
    last: 'c',
    expected: (x) => x + links,
  }),
} satisfies Record<string, (count: number) => CoreShape>;

export type CoreShapeName = keyof typeof coreShapes;

/** A flow with a desk that has the inputs x and y, and a core that reads them. */
export function coreFlow(outputs: Outputs): object {
  return {
    connections: {
      desk: { type: 'dummy', parameters: ['x,F,0', 'y,F,0'] },
      core: { type: 'virtual-core', inputs: { x: 'desk/x', y: 'desk/y' }, outputs },
    },
  };
}

function numbered(count: number, make: (index: number) => object): Outputs {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`o${index}`, make(index)]));
}

function deepValue(x: number, count: number): number {
  const values: number[] = [];
  for (let index = 0; index < count; index++)
    values.push((index < 2 ? x + x : values[index - 1]! + values[index >> 1]!) / 2 + 1);
  return values.at(-1)!;
}
