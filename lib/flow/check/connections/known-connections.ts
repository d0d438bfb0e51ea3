// Connections that were checked before. One whose settings have not changed, and that names no file, declares the same parameters.

import type { FlowFile } from '../../files/flow-file.ts';
import type { Declared } from './declarations.ts';
import type { FoundConnection } from './found-connection.ts';

export interface KnownConnection {
  readonly declared: Declared;
  readonly file: string;
  /** Its settings as the file has them, as the same object. */
  readonly data: unknown;
  readonly key: string;
}

/** By Connection ID, in the order of the files. */
export type KnownConnections = ReadonlyMap<string, KnownConnection>;

/** A connection that was checked before with these settings; undefined: it has to be checked, since it or a file has changed. */
export function findKnown(
  known: KnownConnections | undefined,
  id: string,
  data: unknown,
  file: FlowFile,
): KnownConnection | undefined {
  const found = known?.get(id);
  if (found === undefined || found.data !== data || found.file !== file.name) return undefined;
  const { type, secrets, folder } = found.declared.connection;
  const readsNothing = type.files === undefined && type.presume === undefined && type.remotes === undefined;
  const isAlone = readsNothing && secrets.length === 0;
  return isAlone && folder === file.folder ? found : undefined;
}

/**
 * Whether connections declare the same parameters as others, so that whatever names them is as right as before. Where other hubs
 * declare some, nobody knows.
 */
export function declareTheSame(known: KnownConnections | undefined, found: readonly FoundConnection[]): boolean {
  if (known === undefined || known.size !== found.length) return false;
  const before = known.values();
  return found.every((connection) => {
    const other = before.next().value!.declared.connection;
    if (connection.type.remotes !== undefined) return false;
    return other.id === connection.id && areSame(other.parameters, connection.parameters);
  });
}

function areSame(some: FoundConnection['parameters'], others: FoundConnection['parameters']): boolean {
  if (some === others) return true;
  return (
    some.length === others.length &&
    some.every(({ id, type, access }, index) => {
      const other = others[index]!;
      return id === other.id && type === other.type && access === other.access;
    })
  );
}
