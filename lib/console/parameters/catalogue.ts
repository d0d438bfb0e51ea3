// The catalogue: all parameters of the hub, in display order, with addresses, types and access. Values are requested only for parameters in
// view.

import { type Accessor, createEffect, createMemo, createSignal, on, onCleanup } from 'solid-js';
import type { ValueType } from '../../client/index.ts';
import type { Access } from '../../model/parameter.ts';
import type { ConnectionList } from '../../wire/http/operation.ts';
import { mayManage } from '../hub/me.ts';
import { isStale } from '../hub/page-hub.ts';
import { seeAsHeaders } from '../hub/page-request.ts';
import { usePolled } from '../hub/polled.ts';
import type { CatalogueMessage } from './catalogue.worker.ts';

/**
 * How soon the page notices that a reload has added, removed or changed parameters, in milliseconds, if the user may see the connections.
 */
const reloadSeenMs = 3000;

/** All parameters of the hub, as lists of equal length in display order. */
export interface Catalogue {
  readonly addresses: readonly string[];
  /** The addresses in lower case, for the search. */
  readonly lowered: readonly string[];
  typeOf(index: number): ValueType;
  accessOf(index: number): Access;
}

const accessNames: Readonly<Record<string, Access>> = { rw: 'read-write', 'r-': 'read-only', '-w': 'write-only' };

/**
 * Loads the catalogue, and loads it again whenever parameters are added, removed or changed, until the calling reactive scope is disposed.
 */
export function useCatalogue(): { catalogue: Accessor<Catalogue | undefined>; error: Accessor<string> } {
  const [catalogue, setCatalogue] = createSignal<Catalogue>();
  const [error, setError] = createSignal('');
  const connections = usePolled<ConnectionList>(
    () => (mayManage() ? '/hub/connections' : undefined),
    'id',
    reloadSeenMs,
  );
  const structure = createMemo(() => connections.data()?.structure);
  let worker: Worker | undefined;
  const read = () => {
    worker?.terminate();
    worker = new Worker(new URL('./catalogue.worker.ts', import.meta.url), { type: 'module' });
    worker.postMessage(seeAsHeaders);
    worker.onerror = ({ message }) => setError(message || 'cannot load the list of parameters');
    worker.onmessage = ({ data }: MessageEvent<CatalogueMessage>) => {
      worker?.terminate();
      setError(data.error ?? '');
      if (data.error === undefined) setCatalogue(unpack(data));
    };
  };
  createEffect(on([isStale, structure], ([stale]) => !stale && read()));
  onCleanup(() => worker?.terminate());
  return { catalogue, error };
}

function unpack({ addresses = '', types = '', accesses = '' }: CatalogueMessage): Catalogue {
  const list = addresses === '' ? [] : addresses.split('\n');
  return {
    addresses: list,
    lowered: addresses === '' ? [] : addresses.toLowerCase().split('\n'),
    typeOf: (index) => types[index] as ValueType,
    accessOf: (index) => accessNames[accesses.slice(2 * index, 2 * index + 2)]!,
  };
}
