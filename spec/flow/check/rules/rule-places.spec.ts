// Where rules stand in their files: also in folders, templates and instances, in TypeScript, and after a reload that has moved them.

import { symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import test from 'ava';
import { loadFlows } from '../../../../lib/hub/index.ts';
import { createFolder } from '../../../support/folder.ts';
import { startReloading } from '../../../support/reload.ts';

const root = resolve(import.meta.dirname, '../../../..');
const desk = "connections: { desk: { type: 'dummy', parameters: ['a', 'b', 'c'] } },";

const flow = `{
  ${desk}
  rules: [
    { name: 'first', from: 'desk/a', to: 'desk/b' },
    { folder: 'f', rules: [{ name: 'in a folder', from: 'desk/a', to: 'desk/b' },
      // the next one
      { folder: 'g', rules: [ /* as before */ { name: 'deeper', from: 'desk/a', to: 'desk/b' }] },
      { name: 'behind it', from: 'desk/a', to: 'desk/b' }] },
    { each: { to: ['b', 'c'] }, rules: [
      { name: 'to \${to}', from: 'desk/a', to: 'desk/\${to}' }] },
  ],
  instances: { template: './_studio.json5', each: { s1: {}, s2: {} } },
}`;
const studio = `{
  // a template
  rules: [{ name: 'of \${instance}', from: 'desk/a', to: 'desk/b' }],
}`;
const program = `import { defineFlow } from ${JSON.stringify(join(root, 'lib/index.ts'))};
export default defineFlow({
  rules: (on) => [
    { from: on.text('desk/a'), to: 'desk/b' },
    { name: 'with a name', from: on.text('desk/a'), to: 'desk/c' },
    { folder: 'f', rules: [{ name: 'as data', from: 'desk/b', to: 'desk/c' }] },
  ],
});
`;

test('a rule has its file, line and column, also within folders, templates and instances', async (t) => {
  const folder = await createFolder(t, { 'a.json5': flow, '_studio.json5': studio, 'b.ts': program });
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  const plan = await loadFlows([folder]);
  t.deepEqual(
    plan.rules.map((rule) => `${rule.name} ${plan.placeOf!(rule)!.replace(`${folder}/`, '')}`),
    [
      'first a.json5:4:5',
      'in a folder a.json5:5:28',
      'deeper a.json5:7:47',
      'behind it a.json5:8:7',
      'to b a.json5:10:7',
      'to c a.json5:10:7',
      'of s1 _studio.json5:3:11',
      'of s2 _studio.json5:3:11',
      '→ desk/b b.ts:4:7',
      'with a name b.ts:5:7',
      'as data b.ts:6:30',
    ],
  );
});

test('a rule moved by a save continues, and shows its new place', async (t) => {
  const { hub, folder, reload } = await startReloading(t, { 'a.json5': flow, '_studio.json5': studio });
  const places = () => hub.rules().map(({ place }) => place.replace(`${folder}/a.json5:`, ''));
  t.is(places()[0], '4:5');
  const { rules } = await reload('a.json5', flow.replace('rules: [', '\n  rules: [\n'));
  t.deepEqual(rules, { added: [], removed: [], changed: [] });
  t.deepEqual(places().slice(0, 4), ['6:5', '7:28', '9:47', '10:7']);
});
