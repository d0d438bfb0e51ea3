// Where uWebSockets.js does not load, one sentence says why and what to do.

import test from 'ava';
import { type Machine, whyNoLibrary } from '../../lib/net/uws.ts';

const debian12: Machine = {
  nodeVersion: '24.11.0',
  platform: 'linux',
  arch: 'x64',
  glibc: '2.36',
  reason: '/lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38` not found',
};

const rows: [what: string, machine: Partial<Machine>, sentence: RegExp][] = [
  [
    'an old glibc',
    {},
    /^uWebSockets\.js for Node\.js 24\.11\.0 needs glibc 2\.38, and this machine has 2\.36: use Node\.js 22, as npx -y -p node@22 /,
  ],
  [
    'an old glibc, and npm install run by Node.js 22',
    { reason: "Cannot find module '@uwsjs/linux-x64-24'" },
    /needs glibc 2\.38/,
  ],
  [
    'npm install run by another Node.js',
    { glibc: '2.41', reason: "Cannot find module '@uwsjs/linux-x64-24'" },
    /^uWebSockets\.js was not installed for Node\.js 24\.11\.0, which is running: run npm install again/,
  ],
  [
    'the same with Node.js 22 on an old glibc',
    { nodeVersion: '22.18.0', reason: "Cannot find module '@uwsjs/linux-x64-22'" },
    /run npm install again with it$/,
  ],
  [
    'the same on macOS',
    { platform: 'darwin', glibc: undefined, reason: "Cannot find module '@uwsjs/darwin-x64-24'" },
    /run npm install again/,
  ],
  [
    'musl',
    { glibc: undefined },
    /^uWebSockets\.js needs Linux with glibc, but this system has another C library, such as musl on Alpine/,
  ],
  [
    'a Node.js without a binary',
    { nodeVersion: '28.0.0', glibc: '2.41' },
    /^uWebSockets\.js has no binary for Node\.js 28\.0\.0: use Node\.js 22/,
  ],
  ['another processor', { arch: 'arm' }, /^uWebSockets\.js has no binary for linux-arm: use one of linux-x64, /],
  [
    'another error',
    { glibc: '2.41', reason: 'the file is too short' },
    /^uWebSockets\.js cannot be loaded by Node\.js 24\.11\.0: the file is too short$/,
  ],
];

for (const [what, machine, sentence] of rows)
  test(what, (t) => t.regex(whyNoLibrary({ ...debian12, ...machine }), sentence));
