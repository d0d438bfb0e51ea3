// The map of a hosted driver module: its config and parameters as written in a flow file, the unsaved changes, and the edits that write the
// changes. Changes are kept until they are saved or discarded, even while the user is in another view.

import { type Accessor, createMemo, createResource, createSignal } from 'solid-js';
import { messageOf } from '../../model/error.ts';
import { type FileEdit, findSource, partOf } from '../editor/source-file.ts';
import { dataOf, type Op } from '../editor/source-tree.ts';
import { mayEdit } from '../hub/me.ts';

/** The parts of the settings that the page writes. */
export type Part = 'config' | 'values' | 'writes';
export type Settings = Readonly<Record<string, unknown>>;

interface Draft {
  /** The changed entries of each part; undefined for an entry that was removed. */
  readonly parts: Readonly<Record<Part, Settings>>;
  readonly allowHosts?: readonly string[];
}

const empty: Draft = { parts: { config: {}, values: {}, writes: {} } };
const [drafts, setDrafts] = createSignal<Readonly<Record<string, Draft>>>({});

export interface DriverMap {
  /** Why the map cannot be edited. Empty if it can be edited; undefined while the files are being read. */
  readonly whyNot: Accessor<string | undefined>;
  /** The entries of a part, including the changes. */
  entries(part: Part): Settings;
  /** Whether an entry is changed or new. */
  isChanged(part: Part, name: string): boolean;
  readonly allowHosts: Accessor<readonly string[]>;
  /** Changes entries; undefined removes an entry. */
  set(part: Part, entries: Settings): void;
  setHosts(hosts: readonly string[]): void;
  /** The number of unsaved changes. */
  readonly count: Accessor<number>;
  readonly edits: Accessor<readonly FileEdit[]>;
  discard(): void;
  reread(): void;
}

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** Follows the map of a connection until the calling reactive scope is disposed. */
export function createDriverMap(connection: Accessor<string>): DriverMap {
  const [source, { refetch }] = createResource(
    () => mayEdit() && connection(),
    (id) => findSource(['connections', id]).catch((error) => messageOf(error)),
  );
  const file = () => {
    const found = source();
    return typeof found === 'string' ? undefined : found;
  };
  const node = () => partOf(file()?.tree, 'connections', connection());
  const written = createMemo(() => (node() ? (dataOf(node()!) as Readonly<Record<string, unknown>>) : {}));
  const writtenPart = (part: Part) => (written()[part] ?? {}) as Settings;
  const draft = () => drafts()[connection()] ?? empty;
  const put = (changed: Partial<Draft>) => setDrafts({ ...drafts(), [connection()]: { ...draft(), ...changed } });
  const changedIn = (part: Part) =>
    Object.entries(draft().parts[part]).filter(([name, to]) => !isSame(to, writtenPart(part)[name]));
  const hosts = () => (written().allowHosts ?? []) as readonly string[];
  const allowHosts = () => draft().allowHosts ?? hosts();
  const opsOf = (part: Part): readonly Op[] => {
    const changed = changedIn(part);
    if (changed.length === 0) return [];
    const path = `${node()!.path}.${part}`;
    if (partOf(node(), part) === undefined)
      return [{ path, set: Object.fromEntries(changed.filter(([, to]) => to !== undefined)) }];
    return changed.map(([name, to]) => {
      const own = `${path}[${JSON.stringify(name)}]`;
      return to === undefined ? { path: own, remove: true } : { path: own, set: to };
    });
  };
  const ops = (): readonly Op[] =>
    node() === undefined
      ? []
      : [
          ...opsOf('config'),
          ...(isSame(allowHosts(), hosts()) ? [] : [{ path: `${node()!.path}.allowHosts`, set: allowHosts() }]),
          ...opsOf('values'),
          ...opsOf('writes'),
        ];
  return {
    whyNot() {
      if (!mayEdit()) return 'You do not have permission to edit flow files.';
      if (source.loading && source.latest === undefined) return undefined;
      if (typeof source() === 'string') return source() as string;
      return node() === undefined ? `No flow file that you may edit declares ${connection()}.` : '';
    },
    entries: (part) =>
      Object.fromEntries(
        Object.entries({ ...writtenPart(part), ...draft().parts[part] }).filter(([, entry]) => entry !== undefined),
      ),
    isChanged: (part, name) => changedIn(part).some(([changed]) => changed === name),
    allowHosts,
    set: (part, entries) => put({ parts: { ...draft().parts, [part]: { ...draft().parts[part], ...entries } } }),
    setHosts: (to) => put({ allowHosts: to }),
    count: () =>
      changedIn('config').length +
      changedIn('values').length +
      changedIn('writes').length +
      (isSame(allowHosts(), hosts()) ? 0 : 1),
    edits: () => (ops().length === 0 ? [] : [{ file: file()!.file, base: file()!.etag, ops: ops() }]),
    discard: () => setDrafts({ ...drafts(), [connection()]: empty }),
    reread: () => void refetch(),
  };
}
