// What browsers are served from dist/web: one file per entry, each a small module without imports.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig, type Plugin } from 'vite';

const outDir = 'dist/web';

/** A file that has not changed is not written: it keeps its ETag, and a hub that is serving it is not disturbed. */
const leaveUnchanged: Plugin = {
  name: 'leave-unchanged',
  generateBundle(_, bundle) {
    for (const [name, output] of Object.entries(bundle)) {
      const file = join(outDir, name);
      const content = output.type === 'chunk' ? output.code : output.source;
      if (existsSync(file) && readFileSync(file).equals(Buffer.from(content))) delete bundle[name];
    }
  },
};

export default defineConfig({
  plugins: [leaveUnchanged],
  build: {
    outDir,
    emptyOutDir: false,
    target: 'es2022',
    lib: { entry: { client: 'lib/client/index.ts' }, formats: ['es'], fileName: (_, name) => `${name}.js` },
    rolldownOptions: { output: { minify: true } },
  },
});
