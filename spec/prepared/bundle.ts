// Makes one file of each package that is hundreds (preload.mjs reads them): rxjs, zod and AVA take a process longer to read
// than most specs take to run.

import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** A bundle of these has the names that Node.js finds in them only if they are told. */
const commonJs = ['@nats-io/jetstream', '@nats-io/transport-node', 'pino', 'prom-client', 'saxes'];
/** The last one is the program that AVA starts for each file of specs. */
const names = [
  'rxjs',
  'rxjs/operators',
  'rxjs/testing',
  'zod',
  '@marcbachmann/cel-js',
  '@opentelemetry/api',
  'chokidar',
  'fastest-levenshtein',
  'json5',
  're2js',
  'commander',
  ...commonJs,
  'ava',
  'ava/lib/worker/base.js',
];
const root = join(import.meta.dirname, '../..');
const packages = join(root, 'node_modules');
const kept = join(packages, '.cache/bundled');
const index = join(kept, 'index.json');

const namesOfCommonJs = {
  name: 'names-of-common-js',
  resolveId: (id: string) => (id.startsWith('names:') ? id : undefined),
  load: (id: string) => (id.startsWith('names:') ? exportAll(id.slice('names:'.length)) : undefined),
};

/** What has been bundled before is left, unless other packages have been installed since. */
export async function bundle(): Promise<void> {
  const version = versionOf(join(packages, '.package-lock.json'), import.meta.filename);
  if (existsSync(index) && JSON.parse(readFileSync(index, 'utf8')).version === version) return;
  const { build } = await import('vite');
  await build({
    configFile: false,
    root,
    logLevel: 'warn',
    // What rxjs has for Node.js is CommonJS, whose names a bundle cannot export.
    ssr: { noExternal: true, resolve: { conditions: ['import', 'module', 'es2015'] } },
    build: {
      ssr: true,
      outDir: kept,
      rolldownOptions: {
        input: Object.fromEntries(names.map((name) => [name, entryOf(name)])),
        plugins: [namesOfCommonJs],
        output: { entryFileNames: 'node_modules/[name].mjs' }, // as AVA knows its own code in a stack
        preserveEntrySignatures: 'strict',
      },
    },
  });
  writeFileSync(index, JSON.stringify({ version, names }));
}

function entryOf(name: string): string {
  if (commonJs.includes(name)) return `names:${name}`;
  return name.endsWith('.js') ? join(packages, name) : name;
}

/** A module that exports what a package in CommonJS does. */
function exportAll(name: string): string {
  const exported = Object.keys(createRequire(import.meta.url)(name)).filter((key) => /^(?!default$)[\w$]+$/.test(key));
  return `export { ${exported.join(', ')} } from '${name}';`;
}

function versionOf(...files: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of files) hash.update(readFileSync(file));
  return hash.digest('hex');
}
