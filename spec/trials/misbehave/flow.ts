// The misbehaving flow, and the installation that it is saved into.

/** What a flow is made of, beside what is the same in all of them. */
export interface Parts {
  /** What stands at the top level of the file. */
  readonly top?: string;
  /** What `rules(on)` does first. */
  readonly rules?: string;
  /** What the stream goes through. */
  readonly pipe?: string;
  /** Instead of all of it. */
  readonly text?: string;
}

/** What is added to desk/x, which stays below it, tells which flow runs. */
export const step = 1_000_000;

/** The neighbour: a rule of its own that must not notice anything. */
export const desk = {
  connections: {
    // Two of them: a client that is told 131,072 values at once gets the newest of each parameter alone, as it reads too slowly.
    api: { type: 'rest-api', port: 0, bindIp: '127.0.0.1', webSocketFilters: ['^desk/out$'] },
    own: { type: 'rest-api', port: 0, bindIp: '127.0.0.1', webSocketFilters: ['^desk/y$'] },
    desk: { type: 'dummy', parameters: ['in,I', 'out,I', 'x,I', 'y,I'] },
  },
  rules: [{ name: 'neighbour', from: 'desk/in', to: 'desk/out' }],
};

/** What else is in its folder, by name. */
export const furtherFiles = {
  'package.json': '{ "type": "module" }',
  '_circle.ts': "import { mine } from './flow.ts';\nconsole.log(mine);\n",
  '_bad.ts': "// bad\nthrow new Error('bad');\n",
};

/** A flow of which lines 6, 9 and 10 are the parts; desk/y becomes desk/x and a multiple of `step`. */
export function flowOf(
  { top = '', rules = '', pipe = 'map((v) => v)', text }: Parts,
  plus: number,
  library: string,
): string {
  return (
    text ??
    `import { EventEmitter } from 'node:events'; import { connect } from 'node:net'; import { Worker } from 'node:worker_threads';
import { execSync } from 'node:child_process'; import { appendFileSync, writeFileSync } from 'node:fs';
import { concatMap, map, mergeMap, range, tap } from 'rxjs';
import { defineFlow } from ${JSON.stringify(library)};
const wrong = (text = 'wrong') => { throw new Error(text); };
${top}
export default defineFlow({
  rules: (on) => {
    ${rules}
    return [{ name: 'sum', from: on.integer('desk/x').pipe(${pipe}, map((v) => v + ${plus})), to: 'desk/y' }];
  },
});
`
  );
}
