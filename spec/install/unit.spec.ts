// What is installed: the unit is as locked up as it says, the first flow file of the Debian package has no mistake, and the versions
// that the changelog promises are those of the source.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import test from 'ava';
import { conffiles, writeConffiles } from '../../install/debian/conffiles.ts';
import { check } from '../../lib/command/check.ts';
import { createFolder } from '../support/folder.ts';
import { needs, pathOf } from '../support/programs.ts';
import { readReadme, root } from '../support/readme.ts';
import { call } from '../support/system/process.ts';

needs('systemd-analyze');

test('systemd finds the unit exposed by 1.5 of 10 at most', (t) => {
  const args = ['security', '--offline=true', '--threshold=15', '--no-pager', join(root, 'install/patchbay.service')];
  const { status, stdout, stderr } = spawnSync(pathOf('systemd-analyze')!, args, { encoding: 'utf8' });
  t.is(status, 0, `${stdout}${stderr}`);
  const [, exposure] = /exposure level for patchbay\.service: ([\d.]+)/.exec(stdout)!;
  t.true(readReadme('install/README.md').includes(`rates it ${exposure} of 10`), exposure);
});

test('the flow file of the Debian package has no mistake, and its store is where the unit may write', async (t) => {
  const stage = await createFolder(t);
  writeConffiles(stage);
  t.deepEqual(conffiles, ['/etc/patchbay/flows/studio.json5', '/etc/patchbay/flows/dashboards/studio.json5']);
  const { status, errors } = await call((console) => check([join(stage, 'etc/patchbay/flows')], console));
  t.deepEqual([status, errors], [0, '']);
  t.regex(readReadme(join('install/patchbay.service')), /^StateDirectory=patchbay$/m);
});

test('the changelog has the version of the package, with the versions of the flow format and of patchbay.v1', (t) => {
  const { version } = JSON.parse(readReadme('package.json')) as { version: string };
  const changelog = readReadme('CHANGELOG.md');
  const versionOf = (what: string) => new RegExp(`^\\| ${what} \\| (\\d+\\.\\d+\\.\\d+) \\|`, 'm').exec(changelog)?.[1];
  t.is(versionOf('the package `patchbay-hub`'), version);
  const [, flows, protocol] = ['', versionOf('the flow format'), versionOf('the protocol `patchbay\\.v1`')];
  const [newest = ''] = /^## [\s\S]*?(?=\n## |$(?![\s\S]))/m.exec(changelog) ?? [];
  t.true(newest.startsWith(`## ${version}\n`), newest);
  t.regex(newest, new RegExp(`flow format ${flows}, \`patchbay\\.v1\` ${protocol}\\b`));
});

test('npm run sbom prints every package that the hub needs, as CycloneDX', (t) => {
  const { stdout } = spawnSync('npm', ['run', '--silent', 'sbom'], { cwd: root, encoding: 'utf8' });
  const { bomFormat, components } = JSON.parse(stdout) as { bomFormat: string; components: { 'bom-ref': string }[] };
  t.is(bomFormat, 'CycloneDX');
  const there = components.map((component) => component['bom-ref'].split('@').slice(0, -1).join('@'));
  const { dependencies, devDependencies } = JSON.parse(readReadme('package.json')) as Record<string, object>;
  for (const name of Object.keys(dependencies!)) t.true(there.includes(name.replace(/^uws-.*/, '@uwsjs/core')), name);
  t.false(there.includes(Object.keys(devDependencies!)[0]!));
});
