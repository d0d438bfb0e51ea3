// Edits documents that connections show at run time, such as dashboards. Editing works as for flow files, but nothing restarts. A document
// is checked by the parser of its folder before it is saved, and revisions, merges and conflicts work as for flow files.

import { lstat, readdir, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import {
  type DocumentFindings,
  type DocumentFolder,
  type EditAnswer,
  type EditableFile,
  type EditableFolder,
  EditConflictError,
  type EditedFile,
  type EditRequest,
  type EditRights,
  type FileEdit,
  type Source,
} from '../connections/editing.ts';
import { makeFolder } from '../files/make-folder.ts';
import { isSkipped } from '../flow/files/find.ts';
import type { Plan } from '../flow/plan.ts';
import { type EditOp, editJson5 } from '../json5/edit-json5.ts';
import { differenceOf, mergeTexts } from '../json5/merge-texts.ts';
import { formatMistake } from '../json5/mistake.ts';
import { parseJson5 } from '../json5/read-json5.ts';
import { HubError } from '../model/error.ts';
import { isJsonObject } from '../model/json-object.ts';
import type { Origin } from '../model/parameter.ts';
import {
  ChangedMeanwhile,
  etagOf,
  type FileText,
  type FileWrite,
  type FoundFile,
  readText,
  whyReadOnly,
  writeAll,
} from './edit-files.ts';
import { expectAddressesAllowed, expectMayEdit } from './edit-rights.ts';
import { expectJson5, isJson5, KnownTexts, maxTries, readPatiently, treeOf } from './edited-text.ts';
import type { KeptRevision, Revisions } from './revisions.ts';

/** A document that was found by a name in a request, and the folder of documents to which it belongs. */
export interface FoundDocument extends FoundFile {
  readonly folder: DocumentFolder;
}

interface DocumentParts {
  readonly folders: () => readonly DocumentFolder[];
  /** The paths of the flow files and folders from which the hub was started. */
  readonly roots: readonly string[];
  readonly exclusively: <Result>(work: () => Promise<Result>) => Promise<Result>;
  readonly isKnown: (address: string) => boolean;
  /** Records a save of documents in the audit. */
  readonly note: (by: Origin, cause: string) => void;
  readonly revisions: Revisions;
  /** Returns the path of the folder in which the journal of a save is kept. */
  readonly ownFolder: () => Promise<string>;
}

interface Edited {
  readonly found: FoundDocument;
  readonly before: FileText | undefined;
  /** The document's text after the edit. Undefined if the file is removed. */
  readonly text: string | undefined;
  readonly isMerged: boolean;
}

/** The checked documents in a change set that also contains flow files and is written as a whole. */
export interface PreparedDocuments {
  readonly files: readonly EditedFile[];
  readonly errors: EditAnswer['errors'];
  readonly writes: readonly FileWrite[];
  /** The documents in the form in which a revision keeps them. */
  readonly kept: KeptRevision['files'];
}

const unchanged = { added: [], removed: [], changed: [] };
const nothing: DocumentFindings = { mistakes: [], addresses: [] };
const maxWarnings = 100;

/** Returns the document folders of the connections in a plan, each folder once. */
export function documentsOf({ connections }: Plan): readonly DocumentFolder[] {
  const folders = new Map<string, DocumentFolder>();
  for (const { type, settings, enabled, folder } of connections) {
    const found = enabled ? type.documents?.(settings, (path) => resolve(folder, path)) : undefined;
    if (found !== undefined) folders.set(resolve(found.path), found);
  }
  return [...folders.values()];
}

export class DocumentEditor {
  readonly #parts: DocumentParts;
  readonly #known = new KnownTexts();

  constructor(parts: DocumentParts) {
    this.#parts = parts;
  }

  async list(path: string, rights: EditRights): Promise<EditableFolder | undefined> {
    const place = (await this.#places()).find(({ folder }) => resolve(folder.path) === resolve(path));
    if (place === undefined) return undefined;
    const { folder, short } = place;
    const entries = await readdir(folder.path, { withFileTypes: true }).catch(() => []);
    const names = entries.filter((entry) => entry.isFile() && folder.names.test(entry.name)).map(({ name }) => name);
    const files: EditableFile[] = [];
    for (const name of names.sort().slice(0, folder.maxFiles)) {
      if (!rights.mayEdit(this.#namesOf(short, name))) continue;
      const reason = await whyReadOnly(join(folder.path, name));
      files.push({ file: `${short}/${name}`, canEdit: reason === '', reason });
    }
    const reason = await whyReadOnly(await firstExisting(join(folder.path, 'new.json5')));
    return { folder: short, canEdit: reason === '', reason, files };
  }

  /** Finds a document by its name, even if the document does not exist yet. Returns undefined if the name is not a document name. */
  async find(file: string): Promise<FoundDocument | undefined> {
    for (const { folder, short } of await this.#places()) {
      const name = basename(file);
      const isHere = file === `${short}/${name}` || resolve(file) === join(resolve(folder.path), name);
      if (!isHere || !folder.names.test(name)) continue;
      return { folder, name: `${short}/${name}`, path: join(folder.path, name), names: this.#namesOf(short, name) };
    }
    return undefined;
  }

  async source(found: FoundDocument, rights: EditRights): Promise<Source> {
    const { name, path } = found;
    await expectAllowedFile(found, rights);
    const read = await readPatiently(path);
    if (read === undefined) throw new HubError('not-found', `${name}: no such file`);
    this.#known.remember(read);
    const reason = await whyReadOnly(path);
    const about = { file: name, etag: read.etag, canEdit: reason === '', reason, text: read.text, made: [] };
    return isJson5(read.text) ? { ...about, tree: treeOf(read.text) } : about;
  }

  edit(
    { files, mode, comment }: EditRequest,
    found: readonly FoundDocument[],
    by: Origin,
    rights: EditRights,
  ): Promise<EditAnswer> {
    const make = () => Promise.all(files.map((edit, index) => this.#editFile(edit, found[index]!, rights)));
    return this.#change({ mode, comment }, make, by, rights);
  }

  /** Checks the edits of documents in a change set that also contains flow files. Errors: the same as for an edit. */
  async prepare(
    files: readonly FileEdit[],
    found: readonly FoundDocument[],
    rights: EditRights,
  ): Promise<PreparedDocuments> {
    return this.#prepared(
      await Promise.all(files.map((edit, index) => this.#editFile(edit, found[index]!, rights))),
      rights,
    );
  }

  /** Checks how the documents of a revision that also contains flow files would be reverted. */
  async prepareRevert(
    files: KeptRevision['files'],
    found: readonly FoundDocument[],
    rights: EditRights,
  ): Promise<PreparedDocuments> {
    return this.#prepared(await this.#reverted(files, found, rights), rights);
  }

  async #prepared(edited: readonly Edited[], rights: EditRights): Promise<PreparedDocuments> {
    const { files, errors } = await this.#check(edited, rights);
    const changed = edited.filter(({ before, text }) => before?.text !== text);
    for (const one of changed) await this.#expectWritable(one);
    return { files, errors, writes: changed.map(writeOf), kept: changed.map(keptOf) };
  }

  #reverted(
    files: KeptRevision['files'],
    found: readonly FoundDocument[],
    rights: EditRights,
  ): Promise<readonly Edited[]> {
    return Promise.all(
      files.map(async ({ before, after }, index): Promise<Edited> => {
        const document = found[index]!;
        await expectAllowedFile(document, rights);
        const now = await readText(document.path);
        if (now?.text === after) return { found: document, before: now, text: before, isMerged: false };
        return merge(document, now, after ?? '', before ?? '');
      }),
    );
  }

  revert(
    { files }: KeptRevision,
    found: readonly FoundDocument[],
    request: Pick<EditRequest, 'mode' | 'comment'>,
    by: Origin,
    rights: EditRights,
  ): Promise<EditAnswer> {
    const make = () => this.#reverted(files, found, rights);
    return this.#change(request, make, by, rights);
  }

  /**
   * Returns the document folders with the names by which users know them. Folders whose files the hub would load as flow files are omitted.
   */
  async #places(): Promise<readonly { readonly folder: DocumentFolder; readonly short: string }[]> {
    const places: { folder: DocumentFolder; short: string }[] = [];
    for (const folder of this.#parts.folders()) {
      const full = resolve(folder.path);
      let short: string | undefined;
      let isFlows = false;
      for (const root of this.#parts.roots) {
        const isFolder = await isFolderAt(root);
        const within = relative(isFolder ? resolve(root) : dirname(resolve(root)), full);
        if (within.startsWith('..')) continue;
        short ??= within.split(sep).join('/');
        isFlows ||= isFolder && !isSkipped(within);
      }
      if (isFlows || short === '') continue;
      const name = short ?? basename(full);
      places.push({ folder, short: places.some((one) => one.short === name) ? full : name });
    }
    return places;
  }

  /** Returns the names of a document: relative to the flow folder, and below each root as given when the hub was started. */
  #namesOf(short: string, name: string): readonly string[] {
    const below = `${short}/${name}`;
    return [below, ...this.#parts.roots.map((root) => join(root.endsWith('.json5') ? dirname(root) : root, below))];
  }

  async #editFile({ base, ops }: FileEdit, found: FoundDocument, rights: EditRights): Promise<Edited> {
    await expectAllowedFile(found, rights);
    const { name, path, folder } = found;
    const patch = (text: string, edits: readonly unknown[]) =>
      editJson5(text, edits as readonly EditOp[], () => folder.keys).text;
    const now = base === '' ? await readText(path) : await readPatiently(path);
    if (base === '') {
      if (now !== undefined) throw new EditConflictError([{ file: name, etag: now.etag, theirs: now.text }]);
      const [first, ...others] = ops;
      if (first?.path !== '' || first.text === undefined)
        throw new HubError('bad-request', 'ops: expected a new file to begin with the edit { path: "", text: "…" }');
      expectJson5(first.text);
      return { found, before: undefined, text: patch(first.text, others), isMerged: false };
    }
    if (now === undefined) throw new HubError('not-found', `${name}: the file no longer exists`);
    const old = now.etag === base ? now.text : this.#known.get(base);
    const conflict = { file: name, etag: now.etag, theirs: now.text };
    if (old === undefined) throw new EditConflictError([conflict]);
    const isRemoval = ops.some((op) => op.path === '' && op.remove === true);
    if (isRemoval) {
      if (ops.length > 1) throw new HubError('bad-request', 'ops: expected no other edits to a file that is removed');
      if (now.etag !== base) throw new EditConflictError([{ ...conflict, base: old, yours: '' }]);
      return { found, before: now, text: undefined, isMerged: false };
    }
    const [first, ...others] = ops;
    const isRepair = !isJson5(old) && first?.path === '' && first.text !== undefined;
    if (isRepair) expectJson5(first.text!);
    const text = isRepair ? patch(first.text!, others) : patch(old, ops);
    return now.etag === base ? { found, before: now, text, isMerged: false } : merge(found, now, old, text);
  }

  #change(
    request: Pick<EditRequest, 'mode' | 'comment'>,
    make: () => Promise<readonly Edited[]>,
    by: Origin,
    rights: EditRights,
  ): Promise<EditAnswer> {
    if (request.mode === 'shadow')
      throw new HubError('bad-request', 'mode: expected "check" or "save" for dashboards, got "shadow"');
    return this.#parts.exclusively(async () => {
      for (let tries = 1; ; tries++)
        try {
          return await this.#try(request, await make(), by, rights);
        } catch (error) {
          if (!(error instanceof ChangedMeanwhile)) throw error;
          if (tries === maxTries)
            throw new HubError('conflict', 'cannot save: other users keep saving the same file: try again later');
        }
    });
  }

  async #try(
    { mode, comment }: Pick<EditRequest, 'mode' | 'comment'>,
    edited: readonly Edited[],
    by: Origin,
    rights: EditRights,
  ): Promise<EditAnswer> {
    const { files, errors, warnings } = await this.#check(edited, rights);
    const answer: EditAnswer = {
      mode,
      isSaved: false,
      errors,
      warnings,
      files,
      restarts: { connections: unchanged, rules: unchanged, notes: [] },
      tests: { passed: 0, failed: [], left: 0 },
    };
    if (errors.length > 0 || mode === 'check') return answer;
    return { ...answer, ...(await this.#save(edited, comment, by)) };
  }

  async #check(
    edited: readonly Edited[],
    rights: EditRights,
  ): Promise<Pick<EditAnswer, 'errors' | 'warnings'> & { readonly files: readonly EditedFile[] }> {
    const files: EditedFile[] = [];
    const errors: EditAnswer['errors'][number][] = [];
    const warnings: string[] = [];
    for (const { found, before, text = '', isMerged } of edited) {
      const { folder, name } = found;
      const [old, now] = [before?.text ?? '', text];
      files.push({ file: name, etag: etagOf(now), text: now, difference: differenceOf(old, now), isMerged });
      const after = now === '' ? nothing : await folder.findings(name, now);
      const known = rights.isOwner || old === '' ? nothing : await folder.findings(name, old);
      expectAddressesAllowed(name, known.addresses, after.addresses, rights);
      errors.push(
        ...after.mistakes.map(({ file, line, column, path, message }) => ({ file, line, column, path, message })),
      );
      for (const { address, path, line, column } of after.addresses)
        if (rights.mayRead(address) && !this.#parts.isKnown(address) && warnings.length < maxWarnings)
          warnings.push(
            formatMistake({
              file: name,
              path,
              line,
              column,
              message: `no parameter "${address}" currently exists`,
            }),
          );
    }
    return { files, errors, warnings: [...new Set(warnings)] };
  }

  async #expectWritable({ found: { folder, name, path }, before, text }: Edited): Promise<void> {
    const reason = await whyReadOnly(await firstExisting(path));
    if (reason !== '') throw new HubError('forbidden', `${name}: ${reason}`);
    makeFolder(dirname(path), 0o755);
    if (before !== undefined || text === undefined) return;
    const others = (await readdir(dirname(path))).filter((one) => folder.names.test(one));
    if (others.length >= folder.maxFiles)
      throw new HubError('conflict', `${name}: expected at most ${folder.maxFiles} files in this folder`);
  }

  async #save(
    edited: readonly Edited[],
    comment: string,
    by: Origin,
  ): Promise<Pick<EditAnswer, 'isSaved' | 'revision'>> {
    const changed = edited.filter(({ before, text }) => before?.text !== text);
    if (changed.length === 0) return { isSaved: true };
    for (const one of changed) await this.#expectWritable(one);
    await writeAll(await this.#parts.ownFolder(), changed.map(writeOf));
    for (const { text } of changed) if (text !== undefined) this.#known.remember({ text, etag: etagOf(text) });
    const names = changed.map(({ found }) => found.name).join(', ');
    this.#parts.note(by, comment === '' ? names : `${comment}: ${names}`);
    return {
      isSaved: true,
      revision: this.#parts.revisions.add({ user: by.name, comment, files: changed.map(keptOf) }),
    };
  }
}

function writeOf({ found, before, text }: Edited): FileWrite {
  return { path: found.path, before: before?.text, after: text };
}

function keptOf({ found, before, text }: Edited): KeptRevision['files'][number] {
  return { names: found.names, before: before?.text, after: text };
}

function merge(found: FoundDocument, now: FileText | undefined, base: string, yours: string): Edited {
  const theirs = now?.text ?? '';
  const canMerge = [base, yours, theirs].every(isJson5);
  const merged = canMerge ? mergeTexts(base, yours, theirs) : undefined;
  if (merged !== undefined && widgetsIn(merged) === widgetsIn(yours) + widgetsIn(theirs) - widgetsIn(base))
    return { found, before: now, text: merged, isMerged: true };
  throw new EditConflictError([{ file: found.name, etag: now?.etag ?? '', base, yours, theirs }]);
}

/**
 * Returns the number of widgets in a document. Widgets have no names, so a merge identifies them by their content: a widget that two people
 * have changed differently would appear twice.
 */
function widgetsIn(text: string): number {
  const data = parseJson5(text);
  return isJsonObject(data) && Array.isArray(data.widgets) ? data.widgets.length : 0;
}

/** Checks that a user may edit a document, and that the document is not a link. Errors: `forbidden`, `bad-request`. */
async function expectAllowedFile(found: FoundDocument, rights: EditRights): Promise<void> {
  expectMayEdit(found, found.name, rights);
  const stats = await lstat(found.path).catch(() => undefined);
  if (stats !== undefined && !stats.isFile())
    throw new HubError('bad-request', `${found.name}: expected a regular file, not a link or a folder`);
}

async function isFolderAt(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** Returns the nearest existing folder on the way up from a path, because a save creates missing folders. */
async function firstExisting(path: string): Promise<string> {
  let at = path;
  while (!(await isFolderAt(dirname(at))) && dirname(at) !== at) at = dirname(at);
  return at;
}
