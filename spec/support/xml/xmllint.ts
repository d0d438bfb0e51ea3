// Another reader of XML that knows nothing of ours: libxml2, by its program xmllint.

import { spawnSync } from 'node:child_process';
import { needs } from '../programs.ts';
import { type Reading, readXml } from './saxes.ts';

needs('xmllint');

/** Has libxml2 read files, all in one call, and write each again. Errors: any, on whatever it says, namespaces included. */
export function readByXmllint(paths: readonly string[]): Reading[] {
  const { stdout, stderr, error } = spawnSync('xmllint', ['--nonet', '--nocdata', '--encode', 'US-ASCII', ...paths], {
    encoding: 'latin1',
    maxBuffer: 2 ** 28,
  });
  if (error) throw error;
  if (stderr !== '') throw new Error(stderr);
  return stdout.split(/(?=<\?xml version="1.0" encoding="US-ASCII")/).map(readXml);
}

/** Those of the files that libxml2 refuses, all in one call; it reads no other file for them. */
export function refusedByXmllint(paths: readonly string[]): Set<string> {
  const { stderr, error } = spawnSync('xmllint', ['--noout', '--nonet', ...paths], {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  if (error) throw error;
  return new Set([...stderr.matchAll(/^(.*?):\d+: (?:parser|namespace) error/gm)].map(([, path]) => path!));
}
