// The common parts of editing flow files and documents: reading a file that others may be saving, checking that the file is JSON5, the tree
// of its values for clients, the texts on which later edits may be based, and the secrets in texts.

import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Source } from '../connections/editing.ts';
import { type EditOp, editJson5 } from '../json5/edit-json5.ts';
import { type Json5Node, readTree, slotsOf } from '../json5/json5-tree.ts';
import { KeptText } from '../json5/kept-text.ts';
import { createKnownPlaces, formatPath, type Path } from '../json5/positions.ts';
import { parseJson5, readJson5 } from '../json5/read-json5.ts';
import { HubError, messageOf } from '../model/error.ts';
import { hidden, mayHoldSecret, withoutUserInfo } from '../model/secret.ts';
import { type FileText, readText } from './edit-files.ts';

/** The maximum number of attempts to read or save a file while others are saving the same file. */
export const maxTries = 5;
/** The maximum total length of the kept texts, in characters. Displayed texts are kept because later edits may be based on them. */
const maxKnownLength = 16 * 1024 * 1024;

/** Texts that clients have read, keyed by ETag, oldest first. */
export class KnownTexts {
  readonly #texts = new Map<string, string>();
  #length = 0;

  get(etag: string): string | undefined {
    return this.#texts.get(etag);
  }

  remember({ text, etag }: FileText): void {
    if (this.#texts.delete(etag)) this.#length -= text.length;
    this.#texts.set(etag, text);
    this.#length += text.length;
    for (const [oldest, old] of this.#texts) {
      if (this.#length <= maxKnownLength) return;
      this.#texts.delete(oldest);
      this.#length -= old.length;
    }
  }
}

/**
 * Reads a file, or returns undefined if the file is missing. Because some editors move a file away before they write it again, a missing
 * file is looked up several times.
 */
export async function readPatiently(path: string): Promise<FileText | undefined> {
  for (let tries = 1; tries < maxTries; tries++) {
    const read = await readText(path);
    if (read !== undefined) return read;
    await pause(20);
  }
  return readText(path);
}

/** Checks that a text is valid JSON5 without duplicate keys. Errors: `bad-request`. */
export function expectJson5(text: string): void {
  try {
    const { duplicates } = readJson5(text);
    if (duplicates[0] !== undefined) throw new Error(duplicates[0].message);
  } catch (error) {
    throw new HubError('bad-request', `text: ${messageOf(error)}`);
  }
}

export function isJson5(text: string): boolean {
  try {
    expectJson5(text);
    return true;
  } catch {
    return false;
  }
}

/** Returns the tree of the values in a JSON5 text, for clients. */
export function treeOf(text: string): NonNullable<Source['tree']> {
  const places = createKnownPlaces(new KeptText(text));
  const describe = (node: Json5Node, path: Path, lead: number, tail: number): NonNullable<Source['tree']> => {
    const { kind, start, end, key, children } = node;
    const slots = slotsOf(text, node);
    const isScalar = kind !== 'object' && kind !== 'list';
    return {
      path: formatPath(path),
      ...(key !== undefined && { key: key.name }),
      ...{ kind, start, end, lead, tail },
      ...places.positionAt(start),
      ...(isScalar && { value: parseJson5(text.slice(start, end)) as string | number | boolean | null }),
      ...(!isScalar && {
        children: children.map((child, index) =>
          describe(child, [...path, child.key?.name ?? index], slots[index]!.lead, slots[index]!.tail),
        ),
      }),
    };
  };
  const root = readTree(text);
  return describe(root, [], root.start, root.end);
}

// The secrets in the texts. What users see contains `***` in place of secrets, and edits leave secrets as they are.

/** Returns the text without its secrets, or only `***` if the text is not valid JSON5. */
export function shown(text: string): string {
  try {
    return withoutSecretTexts(text);
  } catch {
    return text === '' ? '' : hidden;
  }
}

/** Returns the text with each secret replaced by `***`, keeping its quotes. Throws if the text is not valid JSON5. */
export function withoutSecretTexts(text: string): string {
  expectJson5(text);
  let masked = '';
  let end = 0;
  const visit = (node: Json5Node, path: Path) => {
    if (node.children.length > 0) {
      node.children.forEach((child, index) => void visit(child, [...path, child.key?.name ?? index]));
      return;
    }
    const written = text.slice(node.start, node.end);
    const open = node.kind === 'text' ? withoutUserInfo(written) : written;
    const isReference = ['env', 'file'].includes(String(path.at(-1)));
    const isSecret = mayHoldSecret(path) && node.kind !== 'object' && node.kind !== 'list' && !isReference;
    if (!isSecret && open === written) return;
    masked += text.slice(end, node.start) + (isSecret ? `'${hidden}'` : open);
    end = node.end;
  };
  visit(readTree(text), []);
  return masked + text.slice(end);
}

/** Checks that an edit neither changes nor adds a secret. Errors: `forbidden`. */
export function expectSecretsKept(before: string, after: string, file: string): void {
  const old = secretsOf(before);
  for (const [path, value] of secretsOf(after))
    if (old.get(path) !== value)
      throw new HubError(
        'forbidden',
        `${file}: ${path}: expected secrets to stay unchanged: edit the file directly, or use { env: … }`,
      );
}

/** Checks that no edit moves a secret to a location where the secret would be shown. Errors: `forbidden`. */
export function expectNoSecretMoved(before: string, ops: readonly EditOp[], file: string): void {
  if (!ops.some((op) => 'move' in op) || secretsOf(before).size === 0) return;
  let text = before;
  for (const op of ops) {
    const { text: next } = editJson5(text, [op]);
    if ('move' in op && !isDeepStrictEqual(secretsOf(text), secretsOf(next)))
      throw new HubError(
        'forbidden',
        `${file}: ${op.path}: cannot move an item that contains a secret: edit the file by hand`,
      );
    text = next;
  }
}

function secretsOf(text: string): ReadonlyMap<string, string> {
  const secrets = new Map<string, string>();
  const visit = (node: Json5Node, path: Path) => {
    node.children.forEach((child, index) => void visit(child, [...path, child.key?.name ?? index]));
    const isReference = ['env', 'file'].includes(String(path.at(-1)));
    const isValue = node.kind !== 'object' && node.kind !== 'list';
    const written = text.slice(node.start, node.end);
    const isSecret = mayHoldSecret(path) && !isReference;
    if (isValue && (isSecret || withoutUserInfo(written) !== written)) secrets.set(formatPath(path), written);
  };
  visit(readTree(text), []);
  return secrets;
}
