// A flow in TypeScript that is saved again during its import: in the end, only the content of its file runs.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { versionOf } from '../../../lib/flow/programs/flow-code.ts';
import { FlowPrograms } from '../../../lib/flow/programs/flow-programs.ts';
import { MistakeList } from '../../../lib/json5/mistake.ts';
import { createFolder } from '../../support/folder.ts';

const flow = (scene: number) => `export default { scene: ${scene} };\n`;

/** Reads the flow with 1. After its trial and before its import, its file gets another text. */
async function readWhileSaved(t: ExecutionContext, text: string) {
  const path = join(await createFolder(t, { 'package.json': { type: 'module' }, 'flow.ts': flow(1) }), 'flow.ts');
  let isSaved = false;
  const programs = new FlowPrograms({
    protect: () => {
      if (!isSaved) writeFileSync(path, text);
      isSaved = true;
    },
  });
  t.teardown(() => programs.close());
  const read = async () => {
    const mistakes = new MistakeList();
    const program = await programs.read(path, versionOf(readFileSync(path)), mistakes);
    programs.rest();
    return { exported: program?.exported, mistakes: mistakes.items.map(({ message }) => message) };
  };
  const first = await read();
  return { path, first, read };
}

test('a file that an editor empties for a moment runs with its text', async (t) => {
  const { path, first, read } = await readWhileSaved(t, '');
  t.is(first.exported, undefined);
  writeFileSync(path, flow(1));
  const { exported, mistakes } = await read();
  t.like(exported, { scene: 1 });
  t.deepEqual(mistakes, []);
});

test('a file with a new text is never mistaken for the first text', async (t) => {
  const { path, first, read } = await readWhileSaved(t, flow(2));
  t.deepEqual(first, {
    exported: undefined,
    mistakes: ['cannot be loaded: it was saved again while it was loading'],
  });
  t.like((await read()).exported, { scene: 2 });
  writeFileSync(path, flow(1));
  t.like((await read()).exported, { scene: 1 });
});
