// `npm run build`: makes the package's JavaScript from lib/, in dist/. All code is bundled into a few pieces in dist/code, which
// dist/code-loader.cjs loads. A file that is imported, or started as a thread, by name gets a stub of that name, which loads its piece.

import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix, relative, resolve } from 'node:path';
import { type OutputOptions, type Plugin, type RolldownOptions, rolldown } from 'rolldown';

const root = resolve(import.meta.dirname, '..');
const lib = join(root, 'lib');
const dist = join(root, 'dist');
/** Files of lib that are imported, or started, by name. */
const modules = ['main', 'patchbay', 'index', 'authoring', 'flow/rxjs', 'flow/rxjs-operators'];
/** The command, and the threads and processes of the hub. They are CommonJS, which costs Node.js less memory and time. */
const programs = [
  'patchbay',
  'flow/programs/trial-thread',
  'command/run/watchdog-thread',
  'connections/companion/process/main',
  'connections/keyboard/process/main',
  'connections/midi/process/main',
  'connections/rest-api/dashboards/dashboard-checker',
  ...['audit', 'backup', 'copy', 'history', 'reader', 'second-reader', 'values'].map(
    (name) => `connections/store/thread/${name}-thread`,
  ),
];
const entries = [...new Set([...modules, ...programs])];
/** Native code and optional packages, which are not bundled. */
const external = [
  /^uws-/,
  'pino-pretty',
  '@julusian/midi',
  '@nut-tree-fork/nut-js',
  'serialport',
  'uiohook-napi',
  'ws',
];
const rxjs = join(root, 'node_modules/rxjs/dist/esm');
const shared = {
  cwd: root,
  onwarn(warning) {
    throw new Error(warning.message);
  },
  platform: 'node',
  external,
  resolve: { alias: { 'rxjs/operators': join(rxjs, 'operators/index.js'), rxjs: join(rxjs, 'index.js') } },
} satisfies RolldownOptions;
/** Names and line breaks stay, for readable stacks. */
const minify = {
  compress: true,
  mangle: false,
  codegen: { removeWhitespace: false },
} satisfies OutputOptions['minify'];

const pieceOf = (entry: string) => entry.replaceAll('/', '-');

/** Matches files that start programs, whose names have the same extension as their own. */
const startsPrograms = /\bnew Worker\(|\bfork\(|\bspawn\(\s*execPath/;

/** Lets a file find its neighbours in `dist` as in `lib`, although its code is in `dist/code`. */
const places: Plugin = {
  name: 'places',
  transform: {
    filter: { id: new RegExp(`^${lib}/.*\\.ts$`), code: /import\.meta\./ },
    handler(code, id) {
      const path = JSON.stringify(relative(lib, id).replace(/\.ts$/, '.js'));
      return code
        .replace(/\bimport\.meta\.url\b/g, `$url(${path})`)
        .replace(
          /\bimport\.meta\.filename\b/g,
          `$file(${startsPrograms.test(code) ? path.replace('.js', '.cjs') : path})`,
        )
        .replace(/\bimport\.meta\.resolve\b/g, '$resolve')
        .replace(/\bimport\.meta\.keepCode\b/g, '$keep')
        .replace(/\bimport\.meta\.dirname\b/g, `$file(${path}, '..')`);
    },
  },
};

/** Escapes other characters: V8 uses two bytes per character for text that has any of them. */
const asAscii = (code: string) =>
  code.replace(/[^\0-\x7f]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

if (existsSync(dist))
  for (const name of readdirSync(dist)) if (name !== 'web') rmSync(join(dist, name), { recursive: true });
await bundlePieces();
await bundleFile('code-loader.ts', { format: 'cjs', file: join(dist, 'code-loader.cjs') });
await bundleFile('client/index.ts', { format: 'es', file: join(dist, 'client/index.js') });

async function bundlePieces(): Promise<void> {
  const bundle = await rolldown({
    ...shared,
    input: Object.fromEntries(entries.map((entry) => [pieceOf(entry), join(lib, `${entry}.ts`)])),
    plugins: [places],
    preserveEntrySignatures: 'strict',
  });
  const { output } = await bundle.generate({
    format: 'cjs',
    exports: 'named',
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name].cjs',
    minify,
    comments: false,
    codeSplitting: { groups: [{ name: 'rxjs', test: /node_modules\/rxjs\// }] },
  });
  await bundle.close();
  mkdirSync(join(dist, 'code'), { recursive: true });
  for (const chunk of output) {
    if (chunk.type !== 'chunk') throw new Error(`${chunk.fileName}: expected nothing but code`);
    const code = asAscii(chunk.code.replace(/^#!.*/, '').replace(/(?<=[\s(])import\(/g, '$import('));
    const piece = `(function (exports, require, module, $file, $url, $resolve, $import, $keep) {${code}})\n`;
    writeFileSync(join(dist, 'code', chunk.fileName), piece);
    const entry = entries.find((entry) => chunk.isEntry && pieceOf(entry) === chunk.name);
    if (entry !== undefined) writeStubs(entry, chunk.exports);
  }
}

/** Writes the stubs in `dist` for a file of `lib`. */
function writeStubs(entry: string, names: readonly string[]): void {
  const path = posix.relative(posix.dirname(entry), 'code-loader.cjs');
  const loader = `'${path.startsWith('.') ? path : `./${path}`}'`;
  const first = entry === 'patchbay' || entry === 'main' ? '#!/usr/bin/env node\n' : '';
  const load = `load('${pieceOf(entry)}');\n`;
  const exported = names.length === 0 ? '' : `export const { ${names.join(', ')} } = `;
  mkdirSync(join(dist, dirname(entry)), { recursive: true });
  if (modules.includes(entry))
    writeFileSync(join(dist, `${entry}.js`), `${first}import loader from ${loader};\n${exported}loader.${load}`);
  if (programs.includes(entry)) writeFileSync(join(dist, `${entry}.cjs`), `${first}require(${loader}).${load}`);
}

async function bundleFile(file: string, output: OutputOptions): Promise<void> {
  const bundle = await rolldown({ ...shared, input: join(lib, file) });
  await bundle.write(output);
  await bundle.close();
}
