// A mistake as people make it in a flow file, and what they have to be told.

/** A small flow file with one mistake. */
export interface Made {
  readonly title: string;
  /** The file. The sign ¦ is not part of it: it stands where the mistake has to be told to be. */
  readonly text: string;
  /** What the message contains: what to write instead, or the nearest name. */
  readonly reported: readonly string[];
  /** An editor with the JSON Schema does not mark it: it is about what a schema cannot know. */
  readonly schema?: 'cannot' | undefined;
}

const desk = `desk: { type: 'dummy', parameters: ['mic,B', 'lamp,B', 'level,F', 'out,F', 'text,S', 'go,T', 'count,I'] }`;

/** A flow file with a desk, and what stands in the lists beside it. */
const file = ({ connections = '', rules = '', tests = '' }) => `{
  connections: {
    ${desk},
    clock: { type: 'timer', timers: [1000], pulses: [{ interval: 500 }] },
    ${connections}
  },
  rules: [
    ${rules}
  ],
  tests: [${tests}],
}
`;

type Row = readonly [title: string, part: string, reported: string | readonly string[], schema?: 'cannot'];

const made =
  (make: (part: string) => string) =>
  ([title, part, reported, schema]: Row): Made => ({
    title,
    text: make(part),
    reported: typeof reported === 'string' ? [reported] : reported,
    schema,
  });

/** Mistakes of whole files. */
export const inFiles = (rows: readonly Row[]): Made[] => rows.map(made((part) => part));
/** Mistakes of rules. */
export const inRules = (rows: readonly Row[]): Made[] => rows.map(made((rules) => file({ rules })));
/** Mistakes of `map`, over `value`, which is desk/level. */
export const inMaps = (rows: readonly Row[]): Made[] =>
  rows.map(made((part) => file({ rules: `{ from: 'desk/level', to: 'desk/out', map: ${JSON.stringify(part)} }` })));
/** Mistakes of one step, after desk/level. */
export const inSteps = (rows: readonly Row[]): Made[] =>
  rows.map(made((part) => file({ rules: `{ from: 'desk/level', pipe: [${part}], to: 'desk/out' }` })));
/** Mistakes of connections. */
export const inConnections = (rows: readonly Row[]): Made[] => rows.map(made((connections) => file({ connections })));
/** Mistakes of the steps of a test. */
export const inTests = (rows: readonly Row[]): Made[] =>
  rows.map(made((part) => file({ tests: `{ name: 'it', steps: [${part}] }` })));
/** Mistakes of outputs of a Virtual Core, whose inputs are mic and level. */
export const inCores = (rows: readonly Row[]): Made[] =>
  rows.map(
    made((part) =>
      file({
        connections: `core: { type: 'virtual-core', inputs: { mic: 'desk/mic', level: 'desk/level' }, outputs: { ${part} } },`,
      }),
    ),
  );

/** The text without its mark, and where the mark is. */
export function readMark(text: string): { text: string; line: number; column: number } {
  const before = text.slice(0, text.indexOf('¦')).split('\n');
  return { text: text.replace('¦', ''), line: before.length, column: before.at(-1)!.length + 1 };
}
