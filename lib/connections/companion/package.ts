// A driver module as it is distributed: a .tgz file, or a folder with the same files. `companion/manifest.json` names the version of the
// API and the file to run. This code does not run any part of the module.

import { createReadStream, existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve, sep } from 'node:path';
import { createGunzip } from 'node:zlib';
import { z } from 'zod';
import { blockBytes, decodeHeader, decodePax, paddingOf } from '../../backup/tar-header.ts';
import { makeFolder } from '../../files/make-folder.ts';
import { HubError, messageOf } from '../../model/error.ts';

/** The maximum size of an unpacked module, in bytes, and the maximum number of its files. */
export const maxPackageBytes = 256 * 1_048_576;
export const maxPackageFiles = 20_000;
const maxManifestBytes = 1_048_576;

const manifestSchema = z.object({
  id: z.string().regex(/^[\w.@-]{1,100}$/),
  name: z.string().max(200).default(''),
  version: z
    .string()
    .regex(/^[\w.+-]{1,60}$/)
    .default('0.0.0'),
  manufacturer: z.string().max(200).default(''),
  products: z.array(z.string().max(200)).max(1000).default([]),
  runtime: z.object({
    api: z.literal('nodejs-ipc'),
    apiVersion: z.string().max(60),
    entrypoint: z.string().max(500),
    permissions: z.record(z.string(), z.unknown()).default({}),
  }),
});

/** A driver module that can be run. */
export interface Driver {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly manufacturer: string;
  readonly products: readonly string[];
  /** The major version of the module API. */
  readonly api: 1 | 2;
  readonly apiVersion: string;
  readonly folder: string;
  readonly manifest: string;
  readonly entrypoint: string;
  /** Removes the unpacked files. */
  remove(): Promise<void>;
}

/**
 * Opens a module: a folder, or a .tgz file, which is unpacked into a temporary folder. Errors: `cannot-start`, which states the reason.
 */
export async function openDriver(path: string, shown: string): Promise<Driver> {
  try {
    if ((await stat(path)).isDirectory()) return await readDriver(path, async () => {});
    const folder = await mkdtemp(join(tmpdir(), 'patchbay-driver-'));
    const remove = () => rm(folder, { recursive: true, force: true });
    try {
      await unpack(path, folder);
      return await readDriver(folder, remove);
    } catch (error) {
      await remove();
      throw error;
    }
  } catch (error) {
    throw new HubError('cannot-start', `module: ${shown}: ${messageOf(error)}`);
  }
}

async function readDriver(folder: string, remove: () => Promise<void>): Promise<Driver> {
  const manifest = join(folder, 'companion/manifest.json');
  if (!existsSync(manifest)) throw new Error('expected a driver module, which contains companion/manifest.json');
  if ((await stat(manifest)).size > maxManifestBytes) throw new Error('expected a manifest of at most 1 MiB');
  const parsed = manifestSchema.safeParse(JSON.parse(await readFile(manifest, 'utf8')));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new Error(`companion/manifest.json: ${issue!.path.join('.')}: ${issue!.message}`);
  }
  const { runtime, ...about } = parsed.data;
  const asked = Object.keys(runtime.permissions).filter((name) => runtime.permissions[name] === true);
  if (asked.length > 0) throw new Error(`the module requests ${asked.join(', ')}, which the hub does not permit`);
  const major = Number.parseInt(runtime.apiVersion, 10);
  if (major > 2 || Number.isNaN(major))
    throw new Error(`expected a module of API version 1 or 2, got ${runtime.apiVersion}`);
  const entrypoint = resolve(dirname(manifest), runtime.entrypoint);
  if (!entrypoint.startsWith(resolve(folder) + sep)) throw new Error('expected an entrypoint inside the module');
  if (!existsSync(entrypoint)) throw new Error(`expected the file ${runtime.entrypoint}, which the manifest names`);
  return {
    ...about,
    ...{
      api: major === 2 ? 2 : 1,
      apiVersion: runtime.apiVersion,
      folder: resolve(folder),
      manifest,
      entrypoint,
      remove,
    },
  };
}

/**
 * Unpacks a .tgz file. All files in it are in one folder, whose name is omitted from the unpacked paths. Errors: `Error`, for example if
 * the file contains a link or a path outside the folder.
 */
export async function unpack(tgz: string, folder: string): Promise<void> {
  const input = createReadStream(tgz);
  const gunzip = createGunzip();
  input.on('error', (error) => gunzip.destroy(error));
  const blocks = input.pipe(gunzip);
  let unread: Buffer = Buffer.alloc(0);
  let [bytes, files] = [0, 0];
  let longPath: string | undefined;
  const chunks = blocks[Symbol.asyncIterator]();
  const read = async (size: number): Promise<Buffer> => {
    const parts = [unread];
    let length = unread.length;
    while (length < size) {
      const { value, done } = await chunks.next();
      if (done === true) throw new Error('expected a complete .tgz file');
      bytes += (value as Buffer).length;
      if (bytes > maxPackageBytes) throw new Error(`expected a module of at most ${maxPackageBytes / 1_048_576} MiB`);
      parts.push(value as Buffer);
      length += (value as Buffer).length;
    }
    const all = Buffer.concat(parts);
    unread = all.subarray(size);
    return all.subarray(0, size);
  };
  try {
    for (;;) {
      const block = Buffer.from(await read(blockBytes));
      const flag = String.fromCharCode(block[156]!);
      if (flag === '5') continue; // a folder
      const isLongName = flag === 'L';
      if (isLongName || flag === 'g') block[156] = 0x30;
      const { kind, path, size } = flag === '5' ? { kind: 'file', path: '', size: 0 } : headerOf(block, flag);
      if (kind === 'end') return;
      const content = await read(size);
      await read(paddingOf(size));
      if (isLongName) longPath = content.toString().replace(/\0.*$/s, '');
      else if (kind === 'pax') longPath = decodePax(content).path;
      else if (flag !== 'g') {
        if (++files > maxPackageFiles) throw new Error(`expected a module of at most ${maxPackageFiles} files`);
        await writeInto(folder, longPath ?? path, content);
        longPath = undefined;
      }
    }
  } catch (error) {
    throw /incorrect header check/.test(messageOf(error)) ? new Error('expected a .tgz file or a folder') : error;
  } finally {
    input.destroy();
    gunzip.destroy();
  }
}

/** Decodes a header whose flag may have been replaced by the flag of a file, although the checksum is that of the original header. */
function headerOf(block: Buffer, flag: string) {
  if (block[156] === flag.charCodeAt(0)) return decodeHeader(block);
  const replaced = Buffer.from(block);
  replaced.write(' '.repeat(8), 148);
  const sum = replaced.reduce((all, byte) => all + byte, 0);
  replaced.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return decodeHeader(replaced);
}

async function writeInto(folder: string, path: string, content: Buffer): Promise<void> {
  const [, ...parts] = path.split('/').filter((part) => part !== '' && part !== '.');
  const target = resolve(folder, parts.join('/'));
  if (parts.length === 0 || parts.includes('..') || !target.startsWith(resolve(folder) + sep)) {
    if (parts.length === 0) return;
    throw new Error(`expected paths within the module, got ${path}`);
  }
  makeFolder(dirname(target));
  await writeFile(target, content);
}
