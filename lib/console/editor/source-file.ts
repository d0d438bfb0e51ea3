// The text of a flow file as read by the hub, with the location of each value, and the change sets that the page sends back.

import type { EditResult, SeparationAnswer, SourceList } from '../../wire/http/editing-shapes.ts';
import type { Problem } from '../../wire/http/problem.ts';
import { getJson, Refusal, request } from '../hub/page-request.ts';
import type { RecordedEvent } from './rehearsal.ts';
import type { Op, SourceFile, SourceNode } from './source-tree.ts';

export type EditError = EditResult['errors'][number];

const titles: Readonly<Record<string, string>> = { from: 'When', to: 'to' };

/** Returns the part of the sheet (`When` or `to`) in which the error asks for an address, or undefined for any other error. */
export function missingPart({ path = '', message }: EditError): string | undefined {
  const [, part] = /^rules\[.*\]\.(from|to)\b/.exec(path) ?? [];
  return part !== undefined && /^expected .*, got "" \(string\)$/.test(message) ? titles[part] : undefined;
}

/** The edits of one file in a change set. `base` is the ETag of the edited text, and is empty for a new file. */
export interface FileEdit {
  readonly file: string;
  readonly base: string;
  readonly ops: readonly Op[];
}

/**
 * The request for a rehearsal: the current name of the edited rule, which is empty for a new rule, and the recorded events of its other
 * sources.
 */
export interface Rehearse {
  readonly rule: string;
  readonly recorded: readonly RecordedEvent[];
}

export type Mode = 'check' | 'shadow' | 'save';

/** The time limit for the response to an edit, in milliseconds. Tests may run for several seconds. */
const editDeadlineMs = 60_000;

/**
 * Sends a change set to the hub, which checks it, runs it in shadow or saves it. Errors: a `Refusal`, with `conflicts` if the same part of
 * a file has changed in the meantime.
 */
export async function sendEdit(
  files: readonly FileEdit[] | SeparationAnswer['files'],
  mode: Mode,
  comment = '',
  more: { readonly rehearse?: Rehearse | undefined; readonly renames?: readonly { from: string; to: string }[] } = {},
): Promise<EditResult> {
  return postSlowly('/hub/edit', { files, mode, ...(comment !== '' && { comment }), ...more });
}

/** Posts JSON to the hub. The response may take a minute. */
export async function postSlowly<T>(path: string, body: object): Promise<T> {
  const response = await request(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(editDeadlineMs),
  });
  return (await response.json()) as T;
}

export async function readSource(file: string): Promise<SourceFile> {
  return (await request(sourcePath(file), { cache: 'no-store' })).json() as Promise<SourceFile>;
}

export function sourcePath(file: string): string {
  return `/hub/source/${encodeURIComponent(file)}`;
}

/** The maximum number of files that a search for a rule or setting reads. */
const maxSearched = 100;

/**
 * Searches the user's files for the first of these paths, then for the next path, and so on. Returns the first file that contains a path,
 * or undefined if no file does.
 */
export async function findSource(...paths: readonly (readonly string[])[]): Promise<SourceFile | undefined> {
  const { files } = await getJson<SourceList>('/hub/sources');
  const found: SourceFile[] = [];
  for (const { file } of files.filter(({ canEdit }) => canEdit).slice(0, maxSearched)) {
    const source = await readSource(file);
    const at = paths.findIndex((keys) => partOf(source.tree, ...keys) !== undefined);
    if (at === 0) return source;
    if (at > 0) found[at] ??= source;
  }
  return found.find(Boolean);
}

/** Returns the node to which nested keys lead, or undefined if there is no such node. */
export function partOf(tree: SourceNode | undefined, ...keys: readonly string[]): SourceNode | undefined {
  let node = tree;
  for (const wanted of keys) node = node?.children?.find(({ key }) => key === wanted);
  return node;
}

/** Splits a location such as `studio.json5:7:20` into the file and the position. */
export function splitPlace(place: string): { readonly file: string; readonly line: number; readonly column: number } {
  const [, file = place, line = '0', column = '0'] = /^(.*?):(\d+):(\d+)/.exec(place) ?? [];
  return { file, line: Number(line), column: Number(column) };
}

/** Returns the rule that begins at a position in a file, or undefined if no rule begins there. */
export function ruleAt({ tree }: SourceFile, line: number, column: number): SourceNode | undefined {
  return rulesOf(tree).find((node) => node.line === line && node.column === column);
}

export function nodeAt(tree: SourceNode | undefined, path: string): SourceNode | undefined {
  if (tree === undefined || tree.path === path) return tree;
  const next = tree.children?.find(
    (one) => path === one.path || (path.startsWith(one.path) && /^[.[]/.test(path.slice(one.path.length))),
  );
  return next === undefined ? undefined : nodeAt(next, path);
}

/** Returns the rules in a file, including rules in folders, as written: a rule that `each` repeats appears once. */
export function rulesOf(tree: SourceNode | undefined): SourceNode[] {
  const list = tree?.children?.find(({ key }) => key === 'rules');
  return (list?.children ?? []).flatMap((node) =>
    node.children?.some(({ key }) => key === 'rules') ? rulesOf(node) : [node],
  );
}

/** Returns the edit that adds a rule at the end of a file, and the resulting path of the rule. */
export function additionOf(
  { tree }: SourceFile,
  rule: unknown,
): { readonly path: string; readonly ops: readonly Op[] } {
  const list = tree?.children?.find(({ key }) => key === 'rules');
  if (list === undefined) return { path: 'rules[0]', ops: [{ path: 'rules', set: [rule] }] };
  const path = `rules[${list.children?.length ?? 0}]`;
  return { path, ops: [{ path, insert: rule }] };
}

/** Returns the part of the new text that an edit has changed or added, without the surrounding commas and spaces. */
export function changedPart(before: string, after: string): string {
  const least = Math.min(before.length, after.length);
  let same = 0;
  while (same < least && before[same] === after[same]) same++;
  let end = 0;
  while (end < least - same && before.at(-1 - end) === after.at(-1 - end)) end++;
  return after.slice(same, after.length - end);
}

/** A conflict: the texts of a file in which two people have changed the same part. */
export type Conflict = NonNullable<Problem['conflicts']>[number];

export function conflictsOf(error: unknown): readonly Conflict[] {
  return error instanceof Refusal ? (error.conflicts ?? []) : [];
}
