// What is installed: the unit is as locked up as it says, the first flow file of the Debian package has no mistake, and the versions
// that the changelog promises are those of the source.

import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { conffiles, writeConffiles } from '../../install/debian/conffiles.ts';
import { controlOf } from '../../install/debian/control.ts';
import { changelogOf, manualOf } from '../../install/debian/documents.ts';
import { unitOfPackage } from '../../install/debian/unit.ts';
import { type Bill, builtIn, npmSbom, withNode } from '../../install/packing.ts';
import { check } from '../../lib/command/check-command.ts';
import { createFolder } from '../support/folder.ts';
import { needs, pathOf } from '../support/programs.ts';
import { readReadme, root } from '../support/repository/readme.ts';
import { call } from '../support/system/process.ts';

needs('systemd-analyze');

test('systemd rates the exposure of the unit at 1.5 of 10 at most', (t) => {
  const args = ['security', '--offline=true', '--threshold=15', '--no-pager', join(root, 'install/patchbay.service')];
  const { status, stdout, stderr } = spawnSync(pathOf('systemd-analyze')!, args, { encoding: 'utf8' });
  t.is(status, 0, `${stdout}${stderr}`);
  const [, exposure] = /exposure level for patchbay\.service: ([\d.]+)/.exec(stdout)!;
  t.true(readReadme('install/README.md').includes(`rates it ${exposure} of 10`), exposure);
});

test('the flow file of the Debian package has no mistake, and its store is in a folder writable for the unit', async (t) => {
  const stage = await createFolder(t);
  writeConffiles(stage);
  t.deepEqual(conffiles, ['/etc/patchbay/flows/studio.json5', '/etc/patchbay/flows/dashboards/studio.json5']);
  const { status, errors } = await call((console) => check([join(stage, 'etc/patchbay/flows')], console));
  t.deepEqual([status, errors], [0, '']);
  t.regex(readReadme(join('install/patchbay.service')), /^StateDirectory=patchbay$/m);
});

test('the unit of the Debian package runs its own hub, and otherwise equals the unit', (t) => {
  const unit = readReadme('install/patchbay.service');
  const ofPackage = unitOfPackage();
  const commands = [...ofPackage.matchAll(/^Exec\w+=(\S+)/gm)].map(([, command]) => command);
  t.deepEqual(commands, ['/usr/bin/patchbay', '/usr/bin/patchbay', '/usr/bin/patchbay', '/bin/sh']);
  t.is(ofPackage.replaceAll('/usr/bin/patchbay', 'patchbay'), unit);
});

test('a hub that fails repeatedly is restarted each time', (t) => {
  t.regex(readReadme('install/patchbay.service'), /^\[Unit\]\n(?:[^[\n].*\n)*StartLimitIntervalSec=0$/m);
});

test('for Debian a release candidate comes before the release', (t) => {
  const versionOf = (version: string) =>
    /^Version: (.*)$/m.exec(
      controlOf({ version, kibibytes: 1, nodeVersion: '22.0.0', maintainer: 'Patchbay <patchbay@example.org>' }),
    )![1]!;
  t.is(versionOf('0.2.0-rc.1'), '0.2.0~rc.1');
  t.is(versionOf('0.2.0'), '0.2.0');
});

test('after a removal or an upgrade that failed the service is started again', async (t) => {
  const folder = await createFolder(t);
  const helpers = ['deb-systemd-helper', 'deb-systemd-invoke', 'systemctl'];
  for (const name of helpers)
    await writeFile(join(folder, name), `#!/bin/sh\necho "$0 $@" >> ${folder}/calls\n`, { mode: 0o755 });
  const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` };
  for (const why of ['abort-remove', 'abort-upgrade', 'abort-deconfigure', 'configure']) {
    await writeFile(join(folder, 'calls'), '');
    const { status, stderr } = spawnSync('sh', [join(root, 'install/debian/postinst'), why, ''], { env });
    t.is(status, 0, String(stderr));
    t.regex(await readFile(join(folder, 'calls'), 'utf8'), /enable patchbay\.service/, why);
  }
});

test('the changelog has the version of the package, with the versions of the flow format and of patchbay.v1', (t) => {
  const { version } = JSON.parse(readReadme('package.json')) as { version: string };
  const changelog = readReadme('CHANGELOG.md');
  const versionOf = (what: string) => new RegExp(`^\\| ${what} \\| (\\d+\\.\\d+\\.\\d+) \\|`, 'm').exec(changelog)?.[1];
  t.is(versionOf('the package `patchbay-hub`'), version);
  const [, flows, protocol] = ['', versionOf('the flow format'), versionOf('the protocol `patchbay\\.v1`')];
  const [newest = ''] = /^## (?!Unreleased)[\s\S]*?(?=\n## |$(?![\s\S]))/m.exec(changelog) ?? [];
  t.true(newest.startsWith(`## ${version}\n`), newest);
  t.regex(newest, new RegExp(`flow format ${flows}, \`patchbay\\.v1\` ${protocol}\\b`));
});

test('npm run sbom prints every package that the hub needs, as CycloneDX', (t) => {
  const { stdout } = spawnSync('npm', ['run', '--silent', 'sbom'], { cwd: root, encoding: 'utf8' });
  const bill = JSON.parse(stdout) as Bill & { bomFormat: string };
  const { bomFormat, components, metadata } = bill;
  t.is(bomFormat, 'CycloneDX');
  const { version } = JSON.parse(readReadme('package.json')) as { version: string };
  t.like(metadata.component, { name: 'patchbay-hub', version, type: 'application' }, 'wherever the clone is');
  const there = components.map((component) => component['bom-ref'].split('@').slice(0, -1).join('@'));
  const { dependencies, devDependencies } = JSON.parse(readReadme('package.json')) as Record<string, object>;
  for (const name of Object.keys(dependencies!)) t.true(there.includes(name.replace(/^uws-.*/, '@uwsjs/core')), name);
  for (const name of builtIn) t.true(there.includes(name), name);
  t.false(there.includes(Object.keys(devDependencies!)[0]!));
});

test('the bill of materials contains every package that the built console imports', (t) => {
  const { devDependencies } = JSON.parse(readReadme('package.json')) as Record<string, object>;
  const imported = new Set<string>();
  for (const file of readdirSync(join(root, 'lib/console'), { recursive: true, encoding: 'utf8' })) {
    if (!/\.tsx?$/.test(file)) continue;
    const text = readReadme(`lib/console/${file}`);
    for (const [, name] of text.matchAll(/ from '((?:@[^/']+\/)?[^./@'][^/']*)/g))
      if (Object.hasOwn(devDependencies!, name!)) imported.add(name!);
  }
  t.deepEqual([...imported].sort(), builtIn);
});

test('a Debian package has a changelog and a manual page', (t) => {
  const facts = { version: '1.2.3-rc.1', maintainer: 'Jane Doe <jane@example.org>', time: new Date(0) };
  t.is(
    changelogOf(facts),
    'patchbay (1.2.3~rc.1) stable; urgency=medium\n\n  * For the changes in this version, see CHANGELOG.md in this folder.\n\n -- Jane Doe <jane@example.org>  Thu, 01 Jan 1970 00:00:00 +0000\n',
  );
  const manual = manualOf({ ...facts, help: "Usage: patchbay\n\n  --help  C:\\\n.odd\n'odd\n" });
  t.true(manual.includes("\n  \\-\\-help  C:\\e\n\\&.odd\n\\&'odd\n"), manual);
});

test('the parts of the Debian package include its Node.js, which the product depends on', async (t) => {
  const folder = await createFolder(t, {
    'package.json': { name: 'patchbay-hub', version: '1.2.3' },
    node: 'a binary',
  });
  const bill = withNode(npmSbom(folder), '22.23.3', join(folder, 'node'));
  t.like(bill.metadata.component, { name: 'patchbay-hub', version: '1.2.3' });
  const [node] = bill.components;
  t.like(node, { name: 'node', version: '22.23.3', purl: 'pkg:generic/node@22.23.3' });
  const root = bill.metadata.component['bom-ref'];
  t.deepEqual(bill.dependencies.find(({ ref }) => ref === root)!.dependsOn, [node!['bom-ref']]);
});
