// The rights of users as a matrix: for each connection, whether a user may read or write all of its parameters, some of them, or none.

import { For, Show } from 'solid-js';
import type { ConnectionList } from '../../wire/http/operation.ts';
import type { UserInfo } from '../../wire/http/user-shapes.ts';
import { usePolled } from '../hub/polled.ts';
import { GuardedFor } from '../parts/guarded.tsx';
import { Fault } from '../parts/view-bar.tsx';
import { coverage, type Extent } from './coverage.ts';

/** The polling interval for connections, in milliseconds, because connections rarely change while a user looks at rights. */
const everyMs = 10_000;

const words: Readonly<Record<Extent, string>> = { all: '', some: 'some', none: '' };

export function Matrix(props: { readonly users: readonly UserInfo[] }) {
  const { data, error } = usePolled<ConnectionList>('/hub/connections', 'id', everyMs);
  const ids = () => data()?.connections?.map(({ id }) => id) ?? [];
  return (
    <>
      <Fault text={error()} />
      <div class="matrix-of-rights" tabIndex={0} role="region" aria-label="Rights by connection">
        <table class="cards">
          <thead>
            <tr>
              <th scope="col">User</th>
              <For each={ids()}>{(id) => <th scope="col">{id}</th>}</For>
              <th scope="col">dashboards</th>
            </tr>
          </thead>
          <tbody>
            <GuardedFor each={props.users} as="tr">
              {(user) => (
                <tr data-rights={user.name}>
                  <th scope="row">
                    {user.name || 'the username set in the connection'}
                    <Show when={user.manage}>
                      <small> manages</small>
                    </Show>
                  </th>
                  <For each={ids()}>{(id) => <Cell user={user} connection={id} />}</For>
                  <td class="mono" data-label="dashboards">
                    {user.manage ? '**' : user.dashboards.join(', ') || '–'}
                  </td>
                </tr>
              )}
            </GuardedFor>
          </tbody>
        </table>
      </div>
    </>
  );
}

function Cell(props: { readonly user: UserInfo; readonly connection: string }) {
  const reads = () => coverage(props.user.read, props.user.deny, props.connection);
  const writes = () => coverage(props.user.write, props.user.deny, props.connection);
  const text = () => {
    if (reads() === 'none' && writes() === 'none') return '–';
    if (writes() === 'none') return `reads ${words[reads()]}`;
    if (reads() === writes()) return `reads and writes ${words[reads()]}`;
    return `reads ${reads()}, writes ${writes()}`;
  };
  return (
    <td
      data-label={props.connection}
      data-extent={writes() === 'none' ? (reads() === 'none' ? 'none' : 'reads') : 'writes'}
    >
      {text()}
    </td>
  );
}
