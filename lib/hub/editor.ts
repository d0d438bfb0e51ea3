// Edits flow files for users of a browser: reads a file with its locations, checks a change set like a load, shows what the change set
// would restart, runs the change set in shadow, or saves it. A save is merged with changes that others have saved in the
// meantime; if that is impossible, both texts are shown.

import { stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import {
  type DocumentFolder,
  type EditAnswer,
  type EditableFile,
  type EditableFolder,
  EditConflictError,
  type EditedFile,
  type Editing,
  type EditMistake,
  type EditRequest,
  type EditRights,
  type FileEdit,
  type MadeItems,
  type OtherSheet,
  type Rehearsal,
  type Revision,
  type ShownPart,
  type Source,
  type TestResults,
} from '../connections/editing.ts';
import type { Rename } from '../connections/persistence.ts';
import type { FlowFile } from '../flow/files/flow-file.ts';
import type { FlowLoader, Tried } from '../flow/load.ts';
import type { Plan } from '../flow/plan.ts';
import { type EditOp, editJson5 } from '../json5/edit-json5.ts';
import { differenceOf, mergeTexts } from '../json5/merge-texts.ts';
import { formatPath, type Path } from '../json5/positions.ts';
import { formatAddress } from '../model/address.ts';
import { HubError, messageOf } from '../model/error.ts';
import type { Origin, Parameter } from '../model/parameter.ts';
import type { Reload, ShadowReport } from '../model/reports/reload-report.ts';
import type { RuleRuns } from '../model/reports/rule-status.ts';
import { DocumentEditor, type FoundDocument, type PreparedDocuments } from './document-editor.ts';
import {
  ChangedMeanwhile,
  etagOf,
  type FileText,
  type FileWrite,
  type FoundFile,
  findFile,
  noteProbation,
  ownFolderOf,
  readText,
  whyReadOnly,
  writeAll,
} from './edit-files.ts';
import { expectAllowed, expectMayEdit, expectPlanAllowed } from './edit-rights.ts';
import {
  expectJson5,
  expectNoSecretMoved,
  expectSecretsKept,
  isJson5,
  KnownTexts,
  maxTries,
  readPatiently,
  shown,
  treeOf,
  withoutSecretTexts,
} from './edited-text.ts';
import { OpenSheets } from './open-sheets.ts';
import { Probation } from './probation.ts';
import { editedRule, rehearse, sourcesOf } from './rehearsal.ts';
import type { Revisions } from './revisions.ts';
import { type Separation, separateInstance } from './separate-instance.ts';
import { shownShadow, VisibleAnswer } from './visible-answer.ts';

/**
 * Runs the tests in the given flow files of a plan. `part` limits the results to what may be shown; if omitted, everything may be shown.
 */
export type RunTests = (plan: Plan, files: ReadonlySet<string>, part?: ShownPart) => Promise<TestResults>;

export interface EditOptions {
  readonly runTests?: RunTests | undefined;
  /** How long a change to a REST API or to users waits for its confirmation before it is undone, in milliseconds. */
  readonly probationMs?: number | undefined;
}

/** The parts of the hub that the editor needs. */
export interface EditorParts extends EditOptions {
  readonly loader: FlowLoader;
  /** Runs work, during which no flow files are loaded. */
  readonly exclusively: <Result>(work: () => Promise<Result>) => Promise<Result>;
  /** Loads and runs the saved files. Call this only within `exclusively`. Errors: the same as for `Reloader.reload`. */
  readonly reload: (by: Origin, comment: string, renames?: readonly Rename[]) => Promise<Reload>;
  readonly runInShadow: (plan: Plan) => ShadowReport;
  /** Returns the connections and rules that a plan would start and stop. */
  readonly preview: (plan: Plan) => Reload;
  readonly parameters: () => Iterable<Parameter>;
  readonly find: (address: string) => Parameter | undefined;
  /** Returns the most recent runs of the rules with this name, or an empty list if there are no such rules. */
  readonly runsOf: (rule: string) => readonly RuleRuns[];
  readonly revisions: Revisions;
  /** Returns the document folders of the running connections. */
  readonly documents: () => readonly DocumentFolder[];
  /** Records a save of documents in the audit. */
  readonly note: (by: Origin, cause: string) => void;
  readonly log: (message: string) => void;
}

/** The maximum number of edits in a request to the editor. */
export const maxOps = 1000;
const usualProbationMs = 30_000;

/** The maximum time for sending a response, in milliseconds, before the REST API that sends it restarts. */
const answerMs = 50;

/** The order of a rule's settings, as in the documentation. */
const ruleOrder = [
  'name',
  'enabled',
  'shadow',
  'each',
  'from',
  'require',
  'hear',
  'atStart',
  'when',
  'map',
  'pipe',
  'to',
];

/** A change set. A revert does not fail if later edits have changed the renamed parameters. */
type ChangeRequest = EditRequest & { readonly isRevert?: boolean };

/** A file as edited by a change set. */
interface Edited {
  readonly found: FoundFile;
  /** The file's text and ETag before the edit. Undefined if the file is new. */
  readonly before: FileText | undefined;
  /** The text after the edit. Undefined if the file is to be removed. */
  readonly text: string | undefined;
  readonly isMerged: boolean;
}

export class Editor implements Editing {
  readonly #parts: EditorParts;
  #isStopped = false;
  readonly #known = new KnownTexts();
  readonly #documents: DocumentEditor;
  readonly #sheets = new OpenSheets(Date.now);
  readonly #probation: Probation;

  constructor(parts: EditorParts) {
    this.#parts = parts;
    this.#documents = new DocumentEditor({
      folders: parts.documents,
      roots: parts.loader.paths,
      exclusively: parts.exclusively,
      isKnown: (address) => parts.find(address) !== undefined,
      note: parts.note,
      revisions: parts.revisions,
      ownFolder: () => this.#ownFolder(),
    });
    this.#probation = new Probation(parts.probationMs ?? usualProbationMs);
  }

  async files(rights: EditRights): Promise<readonly EditableFile[]> {
    const files: EditableFile[] = [];
    for (const name of this.#names()) {
      const found = await this.#find(name, false).catch(() => undefined);
      if (found === undefined || !rights.mayEdit(found.names)) continue;
      const reason = await whyReadOnly(found.path);
      files.push({ file: found.name, canEdit: reason === '', reason });
    }
    return files;
  }

  documents(folder: string, rights: EditRights): Promise<EditableFolder | undefined> {
    return this.#documents.list(folder, rights);
  }

  async source(file: string, rights: EditRights): Promise<Source> {
    const document = await this.#documents.find(file);
    if (document !== undefined) return this.#documents.source(document, rights);
    const found = await this.#findAllowed(file, false, rights);
    const read = await readPatiently(found.path);
    if (read === undefined) throw new HubError('not-found', `${found.name}: the file no longer exists`);
    this.#known.remember(read);
    const reason = await whyReadOnly(found.path);
    const about = { file: found.name, etag: read.etag, canEdit: reason === '', reason };
    try {
      const text = withoutSecretTexts(read.text);
      return { ...about, text, tree: treeOf(text), made: this.#madeOf(found) };
    } catch {
      if (rights.isOwner) return { ...about, text: read.text, made: [] };
      throw new HubError('conflict', `${found.name}: expected JSON5: the file must be repaired by hand`);
    }
  }

  async edit(request: EditRequest, by: Origin, rights: EditRights): Promise<EditAnswer> {
    const documents = await Promise.all(request.files.map(({ file }) => this.#documents.find(file)));
    if (documents.every((one) => one !== undefined)) return this.#documents.edit(request, documents, by, rights);
    const { flows, panels, found } = apart(request.files, documents);
    const make = async () => {
      const edited: Edited[] = [];
      for (const edit of flows) edited.push(await this.#editFile(edit, rights)); // the first refused edit is reported
      return edited;
    };
    return this.#change(request, make, () => this.#documents.prepare(panels, found, rights), by, rights);
  }

  async separate({ file, path, made }: Parameters<Editing['separate']>[0], rights: EditRights): Promise<Separation> {
    const found = await this.#findAllowed(file, false, rights);
    const { name: list, instance: name } =
      [...this.#madeItems(found)].filter((one) => one.at === path)[made]?.file ?? {};
    if (list === undefined || name === undefined)
      throw new HubError('bad-request', `${path}: expected an item that an instance of a template has created`);
    const listed = await this.#findAllowed(list, false, rights);
    const added = await this.#findAllowed(join(dirname(listed.name), `${name}.json5`), true, rights);
    const [template, text, taken] = await Promise.all([found, listed, added].map((one) => readPatiently(one.path)));
    if (taken !== undefined)
      throw new HubError('conflict', `${added.name}: expected an unused file name, but this file already exists`);
    if (template === undefined || text === undefined)
      throw new HubError('not-found', `${found.name}: the file no longer exists`);
    if ([template, text].some((one) => shown(one.text) !== one.text))
      throw new HubError('conflict', `${found.name}: expected files without secrets: separate the instance by hand`);
    const instance = { name, templatePath: found.path, list: listed.name, listPath: listed.path };
    return separateInstance(instance, template, text, path);
  }

  revisions(rights: EditRights): readonly Revision[] {
    return this.#parts.revisions
      .list()
      .filter(({ files }) => files.every(({ names }) => rights.mayEdit(names)))
      .map(({ revision, time, user, comment, files }) => ({
        revision,
        time,
        user,
        comment,
        files: files.map(({ names: [file = ''], before, after }) => ({
          file,
          difference: differenceOf(shown(before ?? ''), shown(after ?? '')),
        })),
      }));
  }

  async revert(
    revision: number,
    mode: EditRequest['mode'],
    comment: string,
    by: Origin,
    rights: EditRights,
  ): Promise<EditAnswer> {
    const kept = this.#parts.revisions.find(revision);
    if (kept === undefined || !kept.files.every(({ names }) => rights.mayEdit(names)))
      throw new HubError('not-found', `revision ${revision}: expected a stored revision of files that you may edit`);
    const request = {
      ...{ files: [], mode, comment: comment === '' ? `reverts revision ${revision}` : comment },
      ...{ renames: reversed(kept.renames), isRevert: true },
    };
    const documents = await Promise.all(kept.files.map(({ names }) => this.#documents.find(names[0]!)));
    if (documents.every((one) => one !== undefined))
      return this.#documents.revert(kept, documents, { mode, comment: request.comment }, by, rights);
    const { flows, panels, found: panelsFound } = apart(kept.files, documents);
    const back = async () => {
      const edited: Edited[] = [];
      for (const { names, before, after } of flows) {
        const found = await this.#findAllowed(names[0]!, true, rights);
        const now = await readText(found.path);
        if (now?.text === after) edited.push({ found, before: now, text: before, isMerged: false });
        else edited.push(this.#merge(found, now, after ?? '', before ?? ''));
      }
      return edited;
    };
    return this.#change(request, back, () => this.#documents.prepareRevert(panels, panelsFound, rights), by, rights);
  }

  async noteSheet(
    { file, rule, sheet, isOpen }: Parameters<Editing['noteSheet']>[0],
    by: string,
    rights: EditRights,
  ): Promise<readonly OtherSheet[]> {
    const document = await this.#documents.find(file);
    if (document !== undefined) expectMayEdit(document, file, rights);
    const { path } = document ?? (await this.#findAllowed(file, false, rights));
    if (isOpen) return this.#sheets.open(path, sheet, by, rule);
    this.#sheets.close(sheet, by);
    return [];
  }

  confirm(revision: number, rights: EditRights): void {
    this.#probation.confirm(revision, rights);
  }

  stop(): void {
    this.#isStopped = true;
    this.#probation.stop();
  }

  async #change(
    request: ChangeRequest,
    make: () => Promise<readonly Edited[]>,
    prepare: () => Promise<PreparedDocuments>,
    by: Origin,
    rights: EditRights,
  ): Promise<EditAnswer> {
    return this.#parts.exclusively(async () => {
      for (let tries = 1; ; tries++)
        try {
          return await this.#try(request, await make(), await prepare(), by, rights);
        } catch (error) {
          if (!(error instanceof ChangedMeanwhile)) throw error;
          if (tries === maxTries)
            throw new HubError('conflict', 'cannot save: other users keep saving the same file: try again later');
        }
    });
  }

  async #try(
    { mode, comment, renames: named = [], isRevert = false, rehearse: asked }: ChangeRequest,
    edited: readonly Edited[],
    documents: PreparedDocuments,
    by: Origin,
    rights: EditRights,
  ): Promise<EditAnswer> {
    const { loader, preview, runTests, runInShadow } = this.#parts;
    const texts = new Map(
      edited.flatMap(({ found, text }) => (text === undefined ? [] : [[found.path, text] as const])),
    );
    const added = edited.filter(({ before, text }) => before === undefined && text !== undefined);
    const before = await loader.tryOut(new Map());
    const after = await loader.tryOut(
      texts,
      added.map(({ found }) => found.name).filter((name) => !basename(name).startsWith('_')),
    );
    this.#expectAllowed(edited, before, after, rights);
    const errors: EditMistake[] = after.mistakes.map(({ file, line, column, path, message }) => ({
      file,
      line,
      column,
      path,
      message,
    }));
    errors.push(...documents.errors);
    const isRight = errors.length === 0;
    const renames = isRight ? renamesOf(named, before.plan, after.plan, isRevert) : [];
    const files = edited.map(({ found, before: old, text = '', isMerged }): EditedFile => {
      const [was, now] = [shown(old?.text ?? ''), shown(text)];
      return { file: found.name, etag: etagOf(text), text: now, difference: differenceOf(was, now), isMerged };
    });
    const names = new Set(edited.map(({ found }) => found.name));
    const visible = new VisibleAnswer(rights, (path) => this.#namesOf(path));
    const restarts = visible.restarts(isRight ? preview(after.plan) : nothing, before.plan, after.plan);
    const part = visible.part(after.plan);
    const answer: EditAnswer = {
      mode,
      isSaved: false,
      errors: visible.errors(errors),
      warnings: [...(await readOnlyFiles(edited)), ...(rights.isOwner ? (after.plan.warnings ?? []) : [])],
      files: [...files, ...documents.files],
      restarts: { ...restarts, notes: notesOf(restarts, after.plan) },
      tests:
        isRight && runTests !== undefined
          ? await runTests(after.plan, names, part)
          : { passed: 0, failed: [], left: 0 },
    };
    if (isRight && mode === 'check' && asked !== undefined)
      return { ...answer, rehearsal: this.#rehearse(asked, before.plan, after.plan, names, rights) };
    if (!isRight || mode === 'check') return answer;
    if (mode === 'shadow') return { ...answer, shadow: shownShadow(runInShadow(after.plan), part) };
    const isOnProbation = changesAccess(before.plan, after.plan);
    const ids = new Set(before.plan.connections.filter(isAccess).map(({ id }) => id));
    const isCut = [...restarts.connections.changed, ...restarts.connections.removed].some((id) => ids.has(id));
    return {
      ...answer,
      ...(await this.#save(edited, documents, { comment, renames }, by, rights, { isOnProbation, isCut })),
    };
  }

  #rehearse(
    { rule: name, recorded }: NonNullable<EditRequest['rehearse']>,
    before: Plan,
    after: Plan,
    files: ReadonlySet<string>,
    rights: EditRights,
  ): Rehearsal {
    const rule = editedRule(before, after, files, name);
    // the name may belong to a rule of another user: the answer is then the same as for a rule that does not exist
    const isOwn = (file: string) => files.has(file) || rights.mayEdit(this.#namesOf(resolve(file)));
    if (rule === undefined || !isOwn(rule.file) || 'stream' in rule.body)
      return { runs: [], assumed: [], reason: 'The rule is not running.' };
    const live = before.rules.find((one) => one.name === name && files.has(one.file));
    const addresses = [...rule.addresses, ...(live?.addresses ?? [])];
    if (!addresses.every((address) => rights.mayRead(address)))
      return { runs: [], assumed: [], reason: 'The most recent runs contain values that you may not read.' };
    const { find, runsOf } = this.#parts;
    const runs = live === undefined ? [] : (runsOf(name).find(({ file }) => file === live.file)?.runs ?? []);
    const sources = live === undefined ? [] : sourcesOf(live);
    const readable = recorded.filter(({ address }) => rights.mayRead(address));
    return rehearse({ plan: after, rule, sources, runs, recorded: readable, find, now: Date.now() });
  }

  async #save(
    edited: readonly Edited[],
    documents: PreparedDocuments,
    { comment, renames }: Required<Pick<EditRequest, 'comment' | 'renames'>>,
    by: Origin,
    rights: EditRights,
    { isOnProbation, isCut }: { readonly isOnProbation: boolean; readonly isCut: boolean },
  ): Promise<Pick<EditAnswer, 'isSaved' | 'revision' | 'probation'>> {
    const changed = edited.filter(({ before, text }) => before?.text !== text);
    const writes = [
      ...changed.map(({ found, before, text }): FileWrite => ({ path: found.path, before: before?.text, after: text })),
      ...documents.writes,
    ];
    if (writes.length === 0) return { isSaved: true };
    const [readOnly] = await readOnlyFiles(changed);
    if (readOnly !== undefined) throw new HubError('forbidden', readOnly);
    if (isOnProbation) this.#probation.expectNone();
    const folder = await this.#ownFolder();
    if (isOnProbation) noteProbation(folder, writes); // first, because a kill in between must not make the change permanent
    try {
      await writeAll(folder, writes);
    } catch (error) {
      if (isOnProbation) noteProbation(folder, undefined);
      throw error;
    }
    const undo = async () => {
      const back = writes.map(({ path, before, after }) => ({ path, before: after, after: before }));
      await writeAll(folder, back);
      if (isOnProbation) noteProbation(folder, undefined);
    };
    try {
      if (isCut) this.#reloadLater(by, { comment, renames }, undo);
      else await this.#parts.reload(by, comment, renames);
    } catch (error) {
      await undo();
      throw new HubError('conflict', `not saved, because the hub cannot run the change: ${messageOf(error)}`);
    }
    for (const { text } of changed) if (text !== undefined) this.#known.remember({ text, etag: etagOf(text) });
    const revision = this.#parts.revisions.add({
      user: by.name,
      comment,
      files: [
        ...changed.map(({ found, before, text }) => ({ names: found.names, before: before?.text, after: text })),
        ...documents.kept,
      ],
      ...(renames.length > 0 && { renames }),
    });
    if (!isOnProbation) return { isSaved: true, revision };
    const rollBack = () =>
      void this.#rollBack(revision, { writes, renames }, by).catch((error) => this.#parts.log(messageOf(error)));
    return { isSaved: true, revision, probation: { until: this.#probation.begin(revision, rights, folder, rollBack) } };
  }

  /** Reloads the saved files after the response was sent, because the reload restarts the REST API that sends the response. */
  #reloadLater(
    by: Origin,
    { comment, renames }: Required<Pick<EditRequest, 'comment' | 'renames'>>,
    undo: () => Promise<void>,
  ): void {
    const { exclusively, reload, log } = this.#parts;
    const run = async () => {
      if (this.#isStopped) return; // the next start runs the saved files
      try {
        await reload(by, comment, renames);
      } catch {
        if (this.#isStopped) return;
        await undo(); // the log contains the reason
        this.#probation.end();
        log(`a change by ${by.name} cannot run: the previous files were restored`);
      }
    };
    setTimeout(() => void exclusively(run).catch((error) => log(messageOf(error))), answerMs);
  }

  async #rollBack(
    revision: number,
    { writes, renames }: { readonly writes: readonly FileWrite[]; readonly renames: readonly Rename[] },
    by: Origin,
  ): Promise<void> {
    const { exclusively, reload, log } = this.#parts;
    if (this.#probation.revision !== revision) return;
    try {
      await exclusively(async () => {
        const back = await Promise.all(writes.map(undone));
        await writeAll(await this.#ownFolder(), back);
        await reload(
          by,
          `revision ${revision} was not confirmed within ${this.#probation.seconds} s and has been reverted`,
          reversed(renames),
        );
      });
      log(
        `revision ${revision} by ${by.name} was not confirmed within ${this.#probation.seconds} s: the previous files were restored`,
      );
    } catch (error) {
      const why = error instanceof ChangedMeanwhile ? 'a file has been changed in the meantime' : messageOf(error);
      log(`revision ${revision} by ${by.name} was not confirmed, and cannot be reverted: ${why}`);
    }
    this.#probation.end();
  }

  async #editFile({ file, base, ops }: FileEdit, rights: EditRights): Promise<Edited> {
    const found = await this.#findAllowed(file, base === '', rights);
    const now = base === '' ? await readText(found.path) : await readPatiently(found.path);
    if (base === '') {
      if (now !== undefined)
        throw new EditConflictError([{ file: found.name, etag: now.etag, theirs: shown(now.text) }]);
      const [op] = ops;
      const text = ops.length === 1 && op?.path === '' ? op.text : undefined;
      if (text === undefined)
        throw new HubError('bad-request', 'ops: expected a single edit for a new file, { path: "", text: "…" }');
      expectJson5(text);
      return { found, before: undefined, text, isMerged: false };
    }
    if (now === undefined) throw new HubError('not-found', `${found.name}: the file no longer exists`);
    const old = now.etag === base ? now.text : this.#known.get(base);
    if (old === undefined) throw new EditConflictError([{ file: found.name, etag: now.etag, theirs: shown(now.text) }]);
    const { text } = editJson5(old, ops as readonly EditOp[], (path) => (isRulePath(path) ? ruleOrder : []));
    expectSecretsKept(old, text, found.name);
    expectNoSecretMoved(old, ops as readonly EditOp[], found.name);
    return now.etag === base ? { found, before: now, text, isMerged: false } : this.#merge(found, now, old, text);
  }

  #merge(found: FoundFile, now: FileText | undefined, base: string, yours: string): Edited {
    const theirs = now?.text ?? '';
    const merged = isJson5(theirs) ? mergeTexts(base, yours, theirs) : undefined;
    if (merged !== undefined) return { found, before: now, text: merged, isMerged: true };
    throw new EditConflictError([
      { file: found.name, etag: now?.etag ?? '', base: shown(base), yours: shown(yours), theirs: shown(theirs) },
    ]);
  }

  #expectAllowed(edited: readonly Edited[], before: Tried, after: Tried, rights: EditRights): void {
    const { loader, parameters } = this.#parts;
    const paths = new Map(edited.map(({ found }) => [found.path, found.names]));
    const mayEditTemplate = (path: string) => rights.mayEdit(paths.get(path) ?? this.#namesOf(path));
    // the type of a connection that the edit removes is loaded only if another file uses it
    const removed = new Map(before.plan.connections.map(({ type }) => [type.type as unknown, type]));
    const typeOf = (name: unknown) => loader.typeOf(name) ?? removed.get(name);
    expectAllowed({ before: before.files, after: after.files, parameters, typeOf, mayEditTemplate }, rights);
    expectPlanAllowed(before.plan, after.plan, rights);
  }

  #madeOf(found: FoundFile): readonly MadeItems[] {
    const made = new Map<string, { by: MadeItems['by']; names: string[] }>();
    for (const { at, title, file } of this.#madeItems(found)) {
      const item = made.get(at) ?? { by: file.instance === undefined ? 'each' : 'instances', names: [] };
      item.names.push(title);
      made.set(at, item);
    }
    return [...made].map(([at, item]) => ({ path: at, ...item }));
  }

  /** Yields the items that templates have created from the items in a file. `at` is the path of the original item. */
  *#madeItems({ path, name }: FoundFile): Generator<{ at: string; title: string; file: FlowFile }> {
    for (const file of this.#parts.loader.filesNow())
      for (const { path: at, title } of itemsOf(file)) {
        const written = file.writtenAt?.(at) ?? { file: file.name, path: at, made: '' };
        if (written.made === '' || (written.file !== name && resolve(written.file) !== path)) continue;
        yield { at: formatPath(written.path), title, file };
      }
  }

  async #findAllowed(file: string, isNew: boolean, rights: EditRights): Promise<FoundFile> {
    const found = await this.#find(file, isNew).catch((error) => {
      expectMayEdit({ names: [file] }, file, rights); // the answer must not show whether other users have such a file
      throw error;
    });
    expectMayEdit(found, file, rights);
    return found;
  }

  #find(file: string, isNew: boolean): Promise<FoundFile> {
    return findFile(file, this.#parts.loader.paths, this.#names(), isNew);
  }

  /** Returns the names of the JSON5 flow files and the templates, as listed by the hub. */
  #names(): ReadonlySet<string> {
    const { loader } = this.#parts;
    const names = [...loader.report.files.map(({ path }) => path), ...loader.templates];
    return new Set(names.filter((name) => name.endsWith('.json5')));
  }

  namesOf(file: string): readonly string[] {
    return this.#namesOf(resolve(file));
  }

  #namesOf(path: string): readonly string[] {
    const names: string[] = [];
    for (const root of this.#parts.loader.paths)
      if (path.startsWith(`${resolve(root)}/`)) names.push(path.slice(resolve(root).length + 1));
      else if (path === resolve(root)) names.push(basename(path));
    return [...[...this.#names()].filter((name) => resolve(name) === path), ...names];
  }

  async #ownFolder(): Promise<string> {
    const { paths } = this.#parts.loader;
    const isFolder = await stat(paths[0]!).then(
      (found) => found.isDirectory(),
      () => false,
    );
    return ownFolderOf(paths, isFolder);
  }
}

/** Returns a sentence for each edited file that cannot be saved, with the reason. */
async function readOnlyFiles(edited: readonly Edited[]): Promise<string[]> {
  const reasons = await Promise.all(edited.map(({ found }) => whyReadOnly(found.path)));
  return reasons.flatMap((reason, index) => (reason === '' ? [] : [`${edited[index]!.found.name}: ${reason}`]));
}

const nothing: Reload = {
  connections: { added: [], removed: [], changed: [] },
  rules: { added: [], removed: [], changed: [] },
};

function isRulePath(path: Path): boolean {
  return path[0] === 'rules' && typeof path.at(-1) === 'number';
}

/** Returns the effects that the restarts of a reload have, one sentence each. */
function notesOf({ connections, rules }: Reload, plan: Plan): string[] {
  const lost = new Map(plan.connections.map(({ id, type }) => [id, type.lostAtRestart]));
  const steps = new Map(plan.rules.map((rule) => [rule.name, 'stream' in rule.body ? 0 : rule.body.pipe.length]));
  return [
    ...connections.changed.map((id) =>
      lost.get(id) === undefined ? `${id} restarts` : `${id} restarts: ${lost.get(id)}`,
    ),
    ...connections.removed.map((id) => `${id} is removed, with its parameters`),
    ...rules.changed
      .filter((name) => (steps.get(name) ?? 0) > 0)
      .map((name) => `rule "${name}" restarts: its steps drop the values that they hold`),
  ];
}

/** Returns the write that undoes another write but keeps later changes by others. Errors: `ChangedMeanwhile`. */
async function undone({ path, before, after }: FileWrite): Promise<FileWrite> {
  const now = await readText(path);
  if (now?.text === after) return { path, before: after, after: before };
  const merged = now && mergeTexts(after ?? '', before ?? '', now.text);
  if (merged === undefined) throw new ChangedMeanwhile();
  return { path, before: now?.text, after: merged };
}

function isAccess({ type }: Plan['connections'][number]): boolean {
  return type.grantsAccess === true;
}

/** Returns whether a change of plans affects access to the hub. */
function changesAccess(before: Plan, after: Plan): boolean {
  const keys = ({ connections }: Plan) =>
    JSON.stringify(connections.filter(isAccess).map(({ id, key, enabled }) => [id, key, enabled]));
  return keys(before) !== keys(after);
}

interface NamedItem {
  readonly path: Path;
  readonly title: string;
}

function* itemsOf({ data }: FlowFile): Generator<NamedItem> {
  const { rules, connections } = (typeof data === 'object' && data !== null ? data : {}) as Record<string, unknown>;
  yield* rulesIn(rules, ['rules']);
  for (const id of Object.keys((connections ?? {}) as object)) yield { path: ['connections', id], title: id };
}

function* rulesIn(list: unknown, path: Path): Generator<NamedItem> {
  if (!Array.isArray(list)) return;
  for (const [index, item] of list.entries()) {
    const { name, rules, folder } = (item ?? {}) as Record<string, unknown>;
    const at = [...path, index];
    if (Array.isArray(rules)) yield* rulesIn(rules, [...at, 'rules']);
    else yield { path: at, title: String(name ?? folder ?? '') };
  }
}

/** Splits the files in a change set into flow files and documents. */
function apart<File>(
  files: readonly File[],
  documents: readonly (FoundDocument | undefined)[],
): { readonly flows: readonly File[]; readonly panels: readonly File[]; readonly found: readonly FoundDocument[] } {
  return {
    flows: files.filter((_, index) => documents[index] === undefined),
    panels: files.filter((_, index) => documents[index] !== undefined),
    found: documents.filter((one) => one !== undefined),
  };
}

/**
 * Returns the renames that lead from a parameter that only the first plan declares to one that only the second declares. Errors:
 * `bad-request` for any other rename, unless `isRevert`.
 */
function renamesOf(renames: readonly Rename[], before: Plan, after: Plan, isRevert: boolean): readonly Rename[] {
  if (renames.length === 0) return renames;
  const addressesIn = ({ connections }: Plan) =>
    new Set(connections.flatMap(({ id, parameters }) => parameters.map((one) => formatAddress(id, one.id))));
  const [had, has] = [addressesIn(before), addressesIn(after)];
  return renames.filter(({ from, to }) => {
    if (had.has(from) && !has.has(from) && !had.has(to) && has.has(to)) return true;
    if (isRevert) return false;
    throw new HubError(
      'bad-request',
      `renames: expected a change set that removes ${from} and declares ${to}, which did not exist before`,
    );
  });
}

function reversed(renames: readonly Rename[] = []): Rename[] {
  return renames.map(({ from, to }) => ({ from: to, to: from }));
}
