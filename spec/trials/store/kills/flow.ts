// The flow of a hub that is killed: parameters that are changed, a rule on every one of them, and an XML file.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTemporaryFolder, type TemporaryFolder } from '../../../support/temporary-folder.ts';

/** A round of load has so many values of its own. */
export const roundValues = 1_000_000;

export const placeholders = ['A', 'B', 'C', 'D', 'E'];

/** Creates a folder with the flow file; the store and the XML file come to be in it too. */
export async function createKilledFolder(parameters: number): Promise<TemporaryFolder> {
  const folder = await createTemporaryFolder('kills');
  await writeFile(join(folder.path, 'flow.json5'), JSON.stringify(flowOf(parameters)));
  return folder;
}

/** What a rule has written into `fired` is not kept: what is known there after a start was fired by it. */
function flowOf(parameters: number): object {
  const ids = Array.from({ length: parameters }, (_, index) => `p${index}`);
  const texts = placeholders.map((name) => `<${name.toLowerCase()}>$${name}</${name.toLowerCase()}>`);
  return {
    connections: {
      api: { type: 'rest-api', port: 0, bindIp: '127.0.0.1' },
      store: { type: 'store', folder: 'data', values: { exclude: ['fired/**'] } },
      desk: { type: 'dummy', parameters: ids.map((id) => `${id},I,0`) },
      fired: { type: 'dummy', parameters: [...ids, ...placeholders].map((id) => `${id},S`) },
      file: { type: 'xml-file-output', filename: 'out.xml', template: `<all>${texts.join('')}</all>` },
    },
    rules: [
      ...ids.map((id) => ({ name: `rule of ${id}`, from: `desk/${id}`, to: `fired/${id}` })),
      ...placeholders.map((name) => ({ name: `rule of ${name}`, from: `file/${name}`, to: `fired/${name}` })),
    ],
  };
}
