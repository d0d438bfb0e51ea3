// The documents that Debian expects of a package: changelog, manual page, and the reasons for what lintian reports.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { debianVersionOf } from './control.ts';

export interface DocumentFacts {
  readonly version: string;
  /** `Patchbay <patchbay@example.org>`. */
  readonly maintainer: string;
  /** The text that `patchbay --help` prints. */
  readonly help: string;
  readonly time: Date;
}

/** Writes the documents below a folder. */
export function writeDocuments(stage: string, facts: DocumentFacts): void {
  const files: [folder: string, name: string, content: string | Buffer][] = [
    ['usr/share/doc/patchbay', 'changelog.gz', zipped(changelogOf(facts))],
    ['usr/share/man/man1', 'patchbay.1.gz', zipped(manualOf(facts))],
    ['usr/share/lintian/overrides', 'patchbay', overrides],
  ];
  for (const [folder, name, content] of files) {
    mkdirSync(join(stage, folder), { recursive: true });
    writeFileSync(join(stage, folder, name), content);
  }
}

function zipped(text: string): Buffer {
  return gzipSync(text, { level: 9 });
}

/** Returns the changelog in the format of Debian, which refers to the changes of each version. */
export function changelogOf({ version, maintainer, time }: Omit<DocumentFacts, 'help'>): string {
  const date = time.toUTCString().replace('GMT', '+0000');
  return [
    `patchbay (${debianVersionOf(version)}) stable; urgency=medium`,
    '',
    '  * For the changes in this version, see CHANGELOG.md in this folder.',
    '',
    ` -- ${maintainer}  ${date}`,
    '',
  ].join('\n');
}

/** Returns the manual page, with the commands as `patchbay --help` prints them. */
export function manualOf({ version, help, time }: Omit<DocumentFacts, 'maintainer'>): string {
  const day = time.toISOString().slice(0, 10);
  const lines = help.trim().split('\n').map(asRoff);
  return [
    `.TH PATCHBAY 1 "${day}" "patchbay ${version}" "User Commands"`,
    '.SH NAME',
    'patchbay \\- hub of parameters: connections, rules and dashboards meet',
    '.SH SYNOPSIS',
    '.B patchbay',
    '.I command',
    '.RI [ option "] ... [" path "] ..."',
    '.SH DESCRIPTION',
    'Runs a hub with flow files, checks and tests flow files, and talks to a running hub.',
    '.nf',
    '',
    ...lines,
    '.fi',
    '.SH FILES',
    '.TP',
    '.I /etc/patchbay/flows',
    'the flow files of the service',
    '.TP',
    '.I /var/lib/patchbay',
    'the values, history and audit of the service',
    '.SH SEE ALSO',
    '.I /usr/lib/patchbay/docs/commands.md',
    'describes each command.',
    '',
  ].join('\n');
}

function asRoff(line: string): string {
  const escaped = line.replaceAll('\\', '\\e').replaceAll('-', '\\-');
  return /^[.']/.test(escaped) ? `\\&${escaped}` : escaped;
}

const overrides = `# This is the binary of the Node.js project as it was published, so that its hash can be compared.
patchbay: embedded-library *usr/lib/patchbay/bin/node*
patchbay: unstripped-binary-or-object *usr/lib/patchbay/bin/node*
patchbay: hardening-no-pie *usr/lib/patchbay/bin/node*
`;
