// What browsers are served from dist/web: the client library, one small module without imports, and in `--mode console` the
// console, as a page whose files are named after their content.

import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { defineConfig, type Plugin, type UserConfig } from 'vite';
import solid from 'vite-plugin-solid';

const outDir = resolve(import.meta.dirname, 'dist/web');

const assetsDir = 'assets';

/** A file that has not changed is not written: it keeps its ETag, and a hub that is serving it is not disturbed. */
const leaveUnchanged: Plugin = {
  name: 'leave-unchanged',
  enforce: 'post',
  generateBundle: {
    order: 'post',
    handler(_, bundle) {
      for (const [name, output] of Object.entries(bundle)) {
        const file = join(outDir, name);
        const content = output.type === 'chunk' ? output.code : output.source;
        if (existsSync(file) && readFileSync(file).equals(Buffer.from(content))) delete bundle[name];
      }
    },
  },
};

/** Files of the console as it was before go. */
const dropOld: Plugin = {
  name: 'drop-old',
  enforce: 'post',
  generateBundle: {
    order: 'post',
    handler(_, bundle) {
      const assets = join(outDir, assetsDir);
      if (!existsSync(assets)) return;
      for (const name of readdirSync(assets)) if (!(`${assetsDir}/${name}` in bundle)) rmSync(join(assets, name));
    },
  },
};

const client: UserConfig = {
  plugins: [leaveUnchanged],
  build: {
    outDir,
    emptyOutDir: false,
    target: 'es2022',
    lib: { entry: { client: 'lib/client/index.ts' }, formats: ['es'], fileName: (_, name) => `${name}.js` },
    rolldownOptions: { output: { minify: true } },
  },
};

/** What every page loads, beside its own view: many small modules, which compress better together. */
const common = [
  /solid-js|preload-helper|lib\/(?:client|model|wire)\//,
  /console\/(?:page|hub|parts|language\/language|views\.ts)|history\/(?:time\/|no-store|plot\/strip)|parameters\/(?:recordings|edit\/(?:draft|typed-number))/,
  /alarms\/(?:alarms\.ts|sound)|controls\/(?:page-)?releases|start\/(?:installation|page-marks)|overrides\/(?:overrides\.ts|switch-off)/,
  /client-name|rule-text|editor\/probation/,
];
const groups = [
  { name: 'common', test: (id: string) => common.some((pattern) => pattern.test(id)) },
  { name: 'editing', test: /console\/(?:editor\/|parameters\/edit\/label)/ },
  { name: 'plot', test: /uplot|history\/(?:plot\/|timeline)/ },
  {
    name: 'widgets',
    test: /lib\/dashboard\/|dashboard\/(?:controls|readings\/(?!plot|samples)|showing|widget|ask-why)/,
  },
  { name: 'flows', test: /console\/flows\// },
  { name: 'lists', test: /console\/(?:audit|clients|connections|hubs|log|overrides|snapshots)\// },
  {
    name: 'operating',
    test: /console\/(?:alarms\/|start\/start-view|schedule\/|dashboard\/(?:dashboards-view|panel))/,
  },
  { name: 'values', test: /console\/parameters\// },
  { name: 'causes', test: /console\/(?:why|history)\// },
];

const console: UserConfig = {
  root: 'lib/console',
  base: '/hub/console/',
  publicDir: false,
  plugins: [solid(), dropOld, leaveUnchanged],
  build: {
    outDir,
    emptyOutDir: false,
    assetsDir,
    assetsInlineLimit: 0,
    target: 'es2022',
    cssTarget: ['chrome105', 'firefox105', 'safari16'],
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      checks: { pluginTimings: false },
      output: { codeSplitting: { includeDependenciesRecursively: false, groups } },
    },
  },
};

export default defineConfig(({ mode }) => (mode === 'console' ? console : client));
