// Asks an owner for what this hub has missed, page by page: all of it, or what changed since a revision.

import { type HubName, subjectOf } from '../link/subjects.ts';
import type { Transport } from '../link/transport.ts';
import { type Definition, read, type WalkAnswer, type WalkRequest, walkAnswer } from '../wire/messages.ts';
import { maxMirrored } from './mirrored-parameters.ts';

const pageTimeoutMs = 1000;

/** Where a mirror is, as its owner counts. */
export interface Position {
  readonly epoch: string;
  readonly structure: number;
  readonly rev: number;
}

/** What a mirror needs to be where its owner was when it told the last page. */
export interface Mending extends Position {
  readonly term: number;
  readonly clock: number;
  /** All parameters; undefined: they are as before. */
  readonly definitions: readonly Definition[] | undefined;
  readonly changes: readonly unknown[];
  /** How often triggers have fired: number, count, number, … */
  readonly fires: readonly number[];
}

/** Errors: the owner does not answer, or its answers do not fit together; then it may be tried again. */
export async function fetchMending(transport: Transport, owner: HubName, from: Position | undefined): Promise<Mending> {
  const ask = async (request: WalkRequest): Promise<WalkAnswer> =>
    read(walkAnswer, await transport.request(subjectOf(owner, 'walk'), JSON.stringify(request), pageTimeoutMs));
  if (from !== undefined) {
    const mending = await walk(ask, from);
    if (mending !== undefined) return { ...mending, definitions: undefined };
  }
  const { position, definitions } = await define(ask);
  const mending = await walk(ask, position);
  if (mending === undefined) throw new Error('parameters came or went meanwhile');
  return { ...mending, definitions };
}

type Ask = (request: WalkRequest) => Promise<WalkAnswer>;

/** Reads all definitions. Pages of different structures do not fit together: the later one may lack what the earlier one has. */
async function define(ask: Ask): Promise<{ position: Position; definitions: Definition[] }> {
  const definitions: Definition[] = [];
  let first: WalkAnswer | undefined;
  let from = 0;
  for (;;) {
    const answer = await ask({ from });
    first ??= answer;
    const { epoch, structure } = first;
    if (answer.epoch !== epoch || answer.structure !== structure)
      throw new Error('parameters came or went between two pages');
    for (const one of answer.definitions ?? []) definitions.push(one);
    if (answer.next === undefined || definitions.length > maxMirrored)
      return { position: { epoch, structure, rev: 0 }, definitions };
    if (answer.next <= from) throw new Error('a page of definitions leads back');
    from = answer.next;
  }
}

/** Undefined: the owner counts otherwise by now. */
async function walk(ask: Ask, { epoch, structure, rev }: Position): Promise<Omit<Mending, 'definitions'> | undefined> {
  const changes: unknown[] = [];
  let since = rev;
  for (;;) {
    const answer = await ask({ since, epoch, structure });
    if (answer.changes === undefined) return undefined;
    for (const change of answer.changes) changes.push(change);
    if (answer.to === undefined)
      return {
        epoch,
        structure,
        rev: answer.rev,
        term: answer.term,
        clock: answer.clock,
        changes,
        fires: answer.fires ?? [],
      };
    if (answer.to <= since || changes.length > 6 * maxMirrored) throw new Error('a page of values leads back');
    since = answer.to;
  }
}
