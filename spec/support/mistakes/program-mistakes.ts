// Mistakes of flows in TypeScript, as rule authors make them.

import { join, resolve } from 'node:path';
import type { Made } from './mistake.ts';

const root = resolve(import.meta.dirname, '../../..');

/** A flow file: what stands at its top level, and what its rules are. */
const flow = (rules: string, top = '') => `import { map } from 'rxjs';
import { defineFlow } from ${JSON.stringify(join(root, 'lib/index.ts'))};
${top}
export default defineFlow({
  rules: (on) => {
    ${rules}
  },
});
`;

const row = (title: string, text: string, ...reported: string[]): Made => ({ title, text, reported });

export const programMistakes: readonly Made[] = [
  row(
    'an unknown parameter',
    flow("return [{ from: on.¦flag('desk/mik'), to: 'desk/lamp' }];"),
    'unknown parameter "desk/mik", did you mean "desk/mic"?',
  ),
  row(
    'another type',
    flow("return [{ from: on.¦flag('desk/level'), to: 'desk/lamp' }];"),
    'desk/level is a float (F): use on.float("desk/level")',
  ),
  row(
    'an unknown destination',
    flow("return [{ from: on.flag('desk/mic'), ¦to: 'desk/lmap' }];"),
    'did you mean "desk/lamp"?',
  ),
  row(
    'a method of on that is none',
    flow("return [{ from: on.¦bool('desk/mic'), to: 'desk/lamp' }];"),
    'unknown on.bool, expected one of text, flag, integer, float, trigger, all, peek',
  ),
  row(
    'a source that is no stream',
    flow("return [{ ¦from: on.flag, to: 'desk/lamp' }];"),
    'expected a stream, such as on.flag("desk/mic-open"), got a function',
  ),
  row(
    'a rule of data with a misspelt parameter, below another rule',
    flow("return [{ from: 'desk/level', map: 'value', to: 'desk/level' }, { from: 'desk/mic', ¦to: 'desk/lmap' }];"),
    'rules[1].to: unknown parameter "desk/lmap", did you mean "desk/lamp"?',
  ),
  row(
    'a mistake in an expression of a rule of data',
    flow("return [{ folder: 'f', rules: [{ from: 'desk/level', map: 'value * ¦rond(2)', to: 'desk/level' }] }];"),
    'unknown function rond(…), did you mean round(number)?',
  ),
  row(
    'a mistake in the expression of a destination of a rule of data',
    flow("return [{ from: 'desk/level', to: { 'desk/level': '¦vlaue' } }];"),
    'unknown name "vlaue", did you mean "value"?',
  ),
  row(
    'a look at a value before anything is known',
    flow("return [{ from: on.flag('desk/mic').pipe(map(() => ¦lamp)), to: 'desk/lamp' }];")
      .replace('¦lamp', 'lamp')
      .replace('return', "const lamp = on.¦peek('desk/lamp'); return"),
    'no value is known yet: call on.peek within a stream, such as map(() => on.peek("desk/lamp"))',
  ),
  row(
    'hear with another word',
    flow("return [{ from: on.¦flag('desk/mic', { hear: 'all' }), to: 'desk/lamp' }];"),
    'hear: expected "changes" or "writes", got "all"',
  ),
  row(
    'a misspelt setting',
    flow("return [{ ¦naem: 'x', from: on.flag('desk/mic'), to: 'desk/lamp' }];"),
    'unknown setting "naem", did you mean "name"?',
  ),
  row(
    'an operator that stands beside from',
    flow("return [{ from: on.flag('desk/mic'), ¦debounceTime: 50, to: 'desk/lamp' }];"),
    'use an operator of the stream, from: ….pipe(debounceTime(…))',
  ),
  row(
    'a condition of a stream',
    flow("return [{ from: on.flag('desk/mic'), ¦when: 'value', to: 'desk/lamp' }];"),
    'use an operator of the stream, from: ….pipe(filter(…))',
  ),
  row(
    'no destination',
    flow("return [{ from: on.flag('desk/mic') }];").replace('rules:', '¦rules:'),
    'to: expected an address',
    'got nothing',
  ),
  row('no list', flow("on.flag('desk/mic');").replace('rules:', '¦rules:'), 'expected a list of rules, got nothing'),
  row(
    'async rules',
    flow("return [{ from: on.flag('desk/mic'), to: 'desk/lamp' }];").replace('rules: (on)', '¦rules: async (on)'),
    'expected rules without async: (on) => [ … ]',
  ),
  row('throw new Error', flow("throw ¦new Error('wrong');"), 'failed: wrong'),
  row('throw null', flow('¦throw null;'), 'null was thrown, which is not an Error'),
  row('throw of text', flow("¦throw 'wrong';"), 'wrong was thrown, which is not an Error'),
  row(
    'an error at import',
    flow('return [];', "const settings: { a: string } = JSON.¦parse('{');"),
    'cannot be loaded: ',
  ),
  row(
    'a file to import that is not there',
    flow('return [];', "import { lamp } from ¦'./lamp.ts';"),
    'cannot be loaded: the file "./lamp.ts" does not exist',
  ),
  row(
    'a file to import whose name is misspelt',
    flow('return [];', "const { lamp } = await import(¦'../flows/_lapm.ts');"),
    'the file "../flows/_lapm.ts" does not exist, did you mean "../flows/_lamp.ts"?',
  ),
  row(
    'a package to import that is not there',
    flow('return [];', "import ¦'nix-of-that';"),
    'no package "nix-of-that" is installed here',
  ),
  row(
    'a folder to import',
    flow('return [];', "export * from ¦'../flows';"),
    'expected a file to import, got a folder',
  ),
  row(
    'an await that never settles',
    flow('return [];', 'const lamp = await Promise.resolve(1);\n¦await new Promise(() => {});'),
    'expected a file that loads within 2 s: a top-level await is still pending',
  ),
  row('a mistake in the syntax', flow('return [').replace('\n  },', '\n¦  },'), 'cannot be loaded: '),
  row(
    'a stream that is subscribed to',
    flow("on.flag('desk/mic').¦subscribe(); return [];"),
    'only the hub subscribes to the streams in a flow file',
  ),
  row(
    'no default export',
    '¦export const flow = { rules: () => [] };\n',
    'expected export default defineFlow({ … }), got nothing',
  ),
  row(
    'a module that Node.js does not have',
    flow('return [];', "import ¦'node:nope';"),
    'Node.js has no module "node:nope"',
  ),
  row(
    'an import that is a link to nowhere',
    flow('return [];', "import ¦'./_gone.ts';"),
    '_gone.ts: expected a file to import, got a broken link',
  ),
  row(
    'an import without its ending',
    flow('return [];', "import ¦'./_lamp';"),
    'the file "./_lamp" does not exist, did you mean "./_lamp.ts"?',
  ),
];
