// node install/build-deb.ts: builds a package for Debian 12 and 13 that includes its own Node.js, in /usr/lib/patchbay, and runs as a
// systemd service. It needs npm and dpkg-deb.

import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { conffiles, writeConffiles } from './debian/conffiles.ts';
import { controlOf, debianVersionOf } from './debian/control.ts';
import { writeDocuments } from './debian/documents.ts';
import { unitOfPackage } from './debian/unit.ts';
import { fetchNode, npmPack, npmSbom, run, unpack, withBuiltIn, withNode } from './packing.ts';

/** The Node.js in the package. The binaries of uWebSockets.js for it also run on glibc 2.36 (Debian 12). */
const nodeVersion = '22.23.3';
const root = resolve(import.meta.dirname, '..');
/** The command `patchbay`. */
const command = '#!/bin/sh\nexec /usr/lib/patchbay/bin/node /usr/lib/patchbay/bin/patchbay "$@"\n';
const usage = `node install/build-deb.ts [options]

  --into <folder>      where to write the package (default: dist)
  --version <text>     the version of the package (default: that of package.json)
  --packed <file>      an archive made by npm pack (default: a new one)
  --maintainer <text>  who maintains the package: Jane Doe <jane@example.org>
  --help
`;

const { values } = parseArgs({
  options: {
    into: { type: 'string', default: join(root, 'dist') },
    version: { type: 'string', default: versionOfSource() },
    packed: { type: 'string' },
    maintainer: { type: 'string', default: 'Patchbay <patchbay@example.org>' },
    help: { type: 'boolean' },
  },
});

if (values.help) process.stdout.write(usage);
else {
  const work = mkdtempSync(join(tmpdir(), 'patchbay-deb-'));
  try {
    process.stdout.write(`${build(work, resolve(values.into), values.version, values.maintainer)}\n`);
  } finally {
    rmSync(work, { recursive: true });
  }
}

/** Builds the package. Returns its path. */
function build(work: string, into: string, version: string, maintainer: string): string {
  const stage = join(work, 'stage');
  const home = join(stage, 'usr/lib/patchbay');
  const docs = join(stage, 'usr/share/doc/patchbay');
  unpack(values.packed === undefined ? npmPack(root, work) : resolve(values.packed), home);
  installPackages(home);
  fetchNode(nodeVersion, join(home, 'bin'));
  const bill = withNode(withBuiltIn(npmSbom(home), npmSbom(root)), nodeVersion, join(home, 'bin/node'));
  write(join(docs, 'sbom.cdx.json'), `${JSON.stringify(bill, undefined, 2)}\n`);
  symlinkSync('../dist/patchbay.cjs', join(home, 'bin/patchbay'));
  renameSync(join(home, 'bin/LICENSE'), join(docs, 'LICENSE.node'));
  cpSync(join(root, 'LICENSE'), join(docs, 'copyright'));
  cpSync(join(root, 'CHANGELOG.md'), join(docs, 'CHANGELOG.md'));
  write(join(stage, 'usr/lib/systemd/system/patchbay.service'), unitOfPackage());
  write(join(stage, 'usr/bin/patchbay'), command, 0o755);
  writeConffiles(stage);
  removeInterpreters(join(home, 'dist'));
  const help = run(join(home, 'bin/node'), [join(home, 'dist/patchbay.cjs'), '--help']);
  writeDocuments(stage, { version, maintainer, help, time: new Date() });
  const kibibytes = Number.parseInt(run('du', ['-sk', stage]), 10);
  write(join(stage, 'DEBIAN/control'), controlOf({ version, kibibytes, nodeVersion, maintainer }));
  write(join(stage, 'DEBIAN/conffiles'), conffiles.map((path) => `${path}\n`).join(''));
  for (const name of ['postinst', 'prerm', 'postrm'])
    write(join(stage, 'DEBIAN', name), readFileSync(join(import.meta.dirname, 'debian', name), 'utf8'), 0o755);
  run('chmod', ['-R', 'u=rwX,go=rX', stage]);
  mkdirSync(into, { recursive: true });
  const file = join(into, `patchbay_${debianVersionOf(version)}_amd64.deb`);
  run('dpkg-deb', ['--root-owner-group', '-Zxz', '--build', stage, file]);
  return file;
}

/** Installs the hub's dependencies, in the versions of the lock file, for the Node.js in the package. */
function installPackages(home: string): void {
  const { devDependencies: _, scripts: __, ...kept } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
  write(join(home, 'package.json'), `${JSON.stringify(kept, undefined, 2)}\n`);
  cpSync(join(root, 'package-lock.json'), join(home, 'package-lock.json'));
  run('npm', ['install', '--silent', '--ignore-scripts', '--os=linux', '--cpu=x64', '--libc=glibc'], home);
}

/** Empties the first lines that name an interpreter: the command names the Node.js in the package. */
function removeInterpreters(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (!/\.(?:c?js|ts)$/.test(name)) continue;
    const path = join(folder, name);
    const text = readFileSync(path, 'utf8');
    if (text.startsWith('#!')) writeFileSync(path, text.slice(text.indexOf('\n')));
  }
}

function versionOfSource(): string {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version;
}

function write(path: string, content: string, mode = 0o644): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content, { mode });
}
