// The uses of a parameter, and renaming the parameter: a rename changes the declaration and all uses in one change set, or changes nothing.

import { createResource, createSignal, For, Show } from 'solid-js';
import { parameterIdMistake, parseAddress } from '../../../model/address.ts';
import { counted } from '../../../model/digits.ts';
import type { SourceList, Usages } from '../../../wire/http/editing-shapes.ts';
import { type FileEdit, readSource, sendEdit } from '../../editor/source-file.ts';
import type { Op, SourceFile, SourceNode } from '../../editor/source-tree.ts';
import { createAttempt, getJson } from '../../hub/page-request.ts';
import { linkTo, setParams } from '../../page/route.ts';
import { GuardedFor } from '../../parts/guarded.tsx';
import { Breakable } from '../../parts/text.tsx';
import { Fault } from '../../parts/view-bar.tsx';
import { DetailForm } from './detail-form.tsx';

/** Lists the dashboards, connections and tests that use a parameter. The rules that use the parameter are listed separately, live. */
export function UsedBy(props: { readonly address: string }) {
  const [found] = createResource(
    () => props.address,
    (address) => getJson<Usages>(`/hub/usages?${new URLSearchParams({ address })}`).catch(() => undefined),
  );
  const uses = (): (readonly [what: string, name: string, link?: string])[] => {
    const { connections = [], dashboards = [], tests = [] } = found() ?? {};
    return [
      ...dashboards.map((name) => ['dashboard', name, linkTo('dashboards', { name })] as const),
      ...connections.map(({ id, as }) => [as.join(', '), id, linkTo('connections', { search: id })] as const),
      ...tests.map(({ name, place }) => ['test', `${name} (${place})`] as const),
    ];
  };
  return (
    <Show when={uses().length > 0}>
      <section class="used-by" aria-label="Used by">
        <h3>Used by</h3>
        <ul>
          <GuardedFor each={uses()} as="li">
            {([what, name, link]) => (
              <li>
                <Show when={link} fallback={<Breakable text={name} />}>
                  <a href={link}>
                    <Breakable text={name} />
                  </a>
                </Show>{' '}
                <span class="muted">{what}</span>
              </li>
            )}
          </GuardedFor>
        </ul>
      </section>
    </Show>
  );
}

/** A form for renaming a parameter. `close` is called when the name has been saved or the form has been cancelled. */
export default function RenameForm(props: { readonly address: string; readonly close: () => void }) {
  const { connectionId, parameterId } = parseAddress(props.address);
  const [name, setName] = createSignal(parameterId);
  const [sources] = createResource(readSources);
  const { failure, isBusy, run } = createAttempt(() => {});
  const next = () => `${connectionId}/${name()}`;
  const isNew = () => name() !== parameterId && parameterIdMistake(name()) === undefined;
  const uses = () => sources.latest?.flatMap((source) => usesIn(source, props.address, next())) ?? [];
  const foreign = () => uses().find(({ source }) => !source.canEdit);
  const whyNot = () => {
    if (sources.error) return String(sources.error.message ?? sources.error);
    if (sources.loading) return '';
    if (!uses().some(({ isDeclaration }) => isDeclaration))
      return `No flow file that you can read declares ${props.address} by name: the parameter comes from the connection, a template or TypeScript.`;
    return (
      foreign() &&
      `${foreign()!.source.file} uses ${props.address}, but you may not edit that file: ${foreign()!.source.reason}.`
    );
  };
  const save = () => {
    void run(async () => {
      const renames = [{ from: props.address, to: next() }];
      const { errors } = await sendEdit(editsOf(uses()), 'save', `rename ${props.address} to ${next()}`, { renames });
      const [first] = errors;
      if (first !== undefined)
        throw new Error(`Nothing was written. ${first.file}:${first.line ?? 1}: ${first.path}: ${first.message}`);
      setParams({ address: next() });
      props.close();
    });
  };
  return (
    <DetailForm
      class="rename"
      verb="Rename"
      canSave={!isBusy() && isNew() && whyNot() === undefined}
      failure={failure()}
      save={save}
      close={() => props.close()}
    >
      <label>
        New name{' '}
        <input
          class="mono"
          ref={(field) => queueMicrotask(() => field.focus())}
          value={name()}
          autocomplete="off"
          spellcheck={false}
          aria-invalid={parameterIdMistake(name()) !== undefined}
          onInput={({ currentTarget: { value } }) => setName(value)}
        />
      </label>
      <Show when={parameterIdMistake(name())}>{(mistake) => <Fault text={mistake()} />}</Show>
      <Show when={!sources.loading} fallback={<p class="muted">Reading the flow files …</p>}>
        <Show when={!whyNot()} fallback={<Fault text={whyNot()!} />}>
          <p role="status">{counted(uses().length, 'place')} will change:</p>
          <ul class="places" tabIndex={0}>
            <For each={uses()}>
              {(use) => (
                <li>
                  <span class="mono">
                    {use.source.file}:{use.line}
                  </span>{' '}
                  <span class="muted">{use.path}</span>
                </li>
              )}
            </For>
          </ul>
          <p class="muted">
            The value and the history move to the new name. The audit and snapshots keep the old name.
          </p>
        </Show>
      </Show>
    </DetailForm>
  );
}

/** The maximum number of files that are searched for uses. */
const maxSearched = 300;
/** The number of files that are requested at the same time. */
const atOnce = 8;

/** Requests the text of all flow files and dashboards. Errors: request errors, and more than `maxSearched` files. */
async function readSources(): Promise<SourceFile[]> {
  const { files, dashboards } = await getJson<SourceList>('/hub/sources');
  const names = [...files, ...(dashboards?.files ?? [])]
    .map(({ file }) => file)
    .filter((file) => !file.endsWith('.ts'));
  if (names.length > maxSearched)
    throw new Error(`expected at most ${maxSearched} files to search, got ${names.length}`);
  const found: SourceFile[] = [];
  for (let first = 0; first < names.length; first += atOnce)
    found.push(...(await Promise.all(names.slice(first, first + atOnce).map(readSource))));
  return found;
}

interface Use {
  readonly source: SourceFile;
  readonly path: string;
  readonly line: number;
  readonly isDeclaration: boolean;
  readonly op: Op;
}

/** Returns the uses of an address in a file: the locations that name the parameter, each with the edit that renames it. */
export function usesIn(source: SourceFile, address: string, next: string): Use[] {
  const { connectionId, parameterId } = parseAddress(address);
  const name = next.slice(connectionId.length + 1);
  const quoted = [`'${address}'`, `"${address}"`];
  const found: Use[] = [];
  const add = ({ path, line }: SourceNode, op: Op, isDeclaration = false) =>
    found.push({ source, path, line, isDeclaration, op });
  const visit = (node: SourceNode) => {
    const { path, key, value } = node;
    if (key === address) add(node, { path, move: siblingOf(path, key, next) });
    const isUse = typeof value === 'string' && (value === address || quoted.some((one) => value.includes(one)));
    if (isUse) {
      const inExpression = (text: string, one: string) => text.replaceAll(one, () => one[0]! + next + one[0]!);
      add(node, { path, set: value === address ? next : quoted.reduce(inExpression, value) });
    }
    for (const child of node.children ?? []) visit(child);
  };
  const declare = (node: SourceNode) => {
    const { path, key, value } = node;
    if (key === parameterId) add(node, { path, move: siblingOf(path, key, name) }, true);
    const [first] = typeof value === 'string' ? value.split(',', 1) : [];
    if (first === parameterId) add(node, { path, set: name + String(value).slice(first.length) }, true);
    const id = node.children?.find((child) => child.key === 'id' && child.value === parameterId);
    if (id !== undefined) add(id, { path: id.path, set: name }, true);
  };
  const child = (node: SourceNode | undefined, wanted: string) => node?.children?.find(({ key }) => key === wanted);
  const list = child(child(child(source.tree, 'connections'), connectionId), 'parameters');
  for (const one of list?.children ?? []) declare(one);
  if (source.tree !== undefined) visit(source.tree);
  return found;
}

/** Returns the path of another key in the object that contains the key at a path: `describe["desk/mic"]`. */
function siblingOf(path: string, key: string, next: string): string {
  const ends = [`.${key}`, `[${JSON.stringify(key)}]`];
  const end = ends.find((one) => path.endsWith(one)) ?? '';
  return `${path.slice(0, path.length - end.length)}[${JSON.stringify(next)}]`;
}

/** Returns the edits for the uses, by file. Keys are renamed last, so that all other paths stay valid until then. */
function editsOf(uses: readonly Use[]): FileEdit[] {
  const edits = new Map<SourceFile, Op[]>();
  for (const { source, op } of uses) edits.set(source, [...(edits.get(source) ?? []), op]);
  return [...edits].map(([{ file, etag }, ops]) => ({
    file,
    base: etag,
    ops: [...ops.filter((op) => !('move' in op)), ...ops.filter((op) => 'move' in op)],
  }));
}
