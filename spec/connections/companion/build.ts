// Driver modules as they are distributed: one bundled file and a manifest, in a folder or as .tgz.

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { encodeHeader, endBytes, paddingOf } from '../../../lib/backup/tar-header.ts';

const bundles = new Map<1 | 2, Promise<string>>();

/** The bundled code of a module; its way to misbehave is still `__MODE__`. */
function bundled(api: 1 | 2): Promise<string> {
  let bundle = bundles.get(api);
  if (bundle === undefined) {
    bundle = bundle1(api);
    bundles.set(api, bundle);
  }
  return bundle;
}

async function bundle1(api: 1 | 2): Promise<string> {
  const bundle = await rolldown({
    input: join(import.meta.dirname, `module-${api}.ts`),
    platform: 'node',
    logLevel: 'silent',
  });
  const { output } = await bundle.generate({ format: api === 1 ? 'cjs' : 'es', codeSplitting: false });
  await bundle.close();
  return output[0].code;
}

export interface ModuleOptions {
  readonly api: 1 | 2;
  /** How it misbehaves: `crash at init`. */
  readonly mode?: string;
  readonly manifest?: object;
}

/** The files of a module, by path. */
export async function moduleFiles({ api, mode = '', manifest = {} }: ModuleOptions): Promise<Record<string, string>> {
  const runtime = {
    type: 'node22',
    api: 'nodejs-ipc',
    apiVersion: api === 1 ? '1.14.1' : '2.0.4',
    entrypoint: '../main.js',
  };
  const about = { id: 'spec-device', name: 'Device', version: '1.2.3', manufacturer: 'Spec', products: ['Device'] };
  return {
    'package.json': JSON.stringify({ name: 'spec-device', version: '1.2.3', type: api === 1 ? 'commonjs' : 'module' }),
    'companion/manifest.json': JSON.stringify({ type: 'connection', ...about, runtime, ...manifest }),
    'main.js': (await bundled(api)).replaceAll('__MODE__', mode),
  };
}

/** Writes a module into a folder. */
export async function writeModule(folder: string, options: ModuleOptions): Promise<void> {
  for (const [path, content] of Object.entries(await moduleFiles(options))) {
    await mkdir(join(folder, path, '..'), { recursive: true });
    await writeFile(join(folder, path), content);
  }
}

/** Writes a module as .tgz, below the folder `pkg` as in those of the store. */
export async function writeTgz(file: string, files: Readonly<Record<string, string>>): Promise<void> {
  const parts = Object.entries(files).flatMap(([path, content]) => {
    const bytes = Buffer.from(content);
    return [encodeHeader({ path: `pkg/${path}`, size: bytes.length }, 0), bytes, Buffer.alloc(paddingOf(bytes.length))];
  });
  await writeFile(file, gzipSync(Buffer.concat([...parts, Buffer.alloc(endBytes)])));
}
