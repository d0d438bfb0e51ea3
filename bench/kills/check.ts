// What a hub that was killed has to know after its start, looked at before anything else happens.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { placeholders } from './flow.ts';
import type { KilledHub } from './killed-hub.ts';
import { takePicture } from './picture.ts';

const fileDeadlineMs = 5000;

interface Listed {
  readonly parameter: string;
  readonly state: string;
  readonly value?: string | number;
  readonly revision?: number;
  readonly origin?: { readonly kind: string };
}

/** Says what is not as it has to be; `expected` has the least value of each address, and is empty before the first kill. */
export async function checkRestored(
  hub: KilledHub,
  folder: string,
  expected: ReadonlyMap<string, number>,
  round: number,
): Promise<string[]> {
  const listed = (await (await fetch(`http://127.0.0.1:${hub.port}/hub/parameters`)).json()) as Listed[];
  const known = listed.filter(({ state }) => state === 'known');
  const mistakes = hub.complaints.map((message) => `it complained: ${message}`);
  const byAddress = new Map(listed.map((item) => [item.parameter, item]));
  for (const [address, least] of expected) {
    const { value, origin } = byAddress.get(address)!;
    if (!(Number(value) >= least)) mistakes.push(`${address}: expected ${least} or a later value, got ${value}`);
    if (origin?.kind !== 'restored') mistakes.push(`${address}: expected to be restored, got ${origin?.kind}`);
  }
  const fired = known.filter(({ parameter }) => parameter.startsWith('fired/'));
  for (const { parameter } of fired) mistakes.push(`the rule to ${parameter} has fired`);
  mistakes.push(...(await checkPictures(hub, known)));
  if (expected.size > 0) mistakes.push(...(await checkFile(hub, folder, byAddress, round)));
  return mistakes;
}

/** A snapshot has everything that is known, and a resume everything since. */
async function checkPictures(hub: KilledHub, known: readonly Listed[]): Promise<string[]> {
  const mistakes: string[] = [];
  const snapshot = await takePicture(hub.port);
  for (const { parameter, value } of known)
    if (snapshot.values.get(parameter) !== value) mistakes.push(`a snapshot has ${parameter} not as ${value}`);
  const revisions = known.map(({ revision }) => revision!).sort((a, b) => a - b);
  const rev = revisions[Math.floor(revisions.length / 2)]!;
  const resume = await takePicture(hub.port, { epoch: snapshot.epoch, rev });
  if (resume.mode !== 'resume') mistakes.push(`expected a resume, got a ${resume.mode}`);
  const later = known.filter(({ revision }) => revision! > rev);
  for (const { parameter, value } of later)
    if (resume.values.get(parameter) !== value) mistakes.push(`a resume has ${parameter} not as ${value}`);
  return mistakes;
}

/** The file that is written at the first set has all other placeholders as they were. */
async function checkFile(
  hub: KilledHub,
  folder: string,
  known: ReadonlyMap<string, Listed>,
  round: number,
): Promise<string[]> {
  const [first, ...others] = placeholders as [string, ...string[]];
  const set = `set-${round}`;
  await fetch(`http://127.0.0.1:${hub.port}/update?parameter=file/${first}&value=${set}`);
  const text = (name: string, value: unknown) => `<${name.toLowerCase()}>${value}</${name.toLowerCase()}>`;
  const rest = others.map((name) => text(name, known.get(`file/${name}`)!.value)).join('');
  const expected = `<all>${text(first, set)}${rest}</all>`;
  let file = '';
  for (const startedAt = performance.now(); performance.now() - startedAt < fileDeadlineMs; await after(10)) {
    file = await readFile(join(folder, 'out.xml'), 'utf8');
    if (file === expected) return [];
  }
  return [`out.xml: expected ${expected}, got ${file}`];
}
