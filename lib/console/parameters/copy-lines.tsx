// Lines to copy: the address, and how programs read and set the parameter.

import { createSignal, Index } from 'solid-js';
import type { Value, ValueType } from '../../client/index.ts';
import type { Access } from '../../model/parameter.ts';
import { pathOf } from '../../wire/http/path.ts';
import type { PlainWrite } from '../../wire/plain.ts';
import { LiveText } from '../parts/live-text.tsx';

interface CopyLinesProps {
  readonly address: string;
  readonly type: ValueType;
  readonly access: Access;
  readonly value: Value | undefined;
}

export function CopyLines(props: CopyLinesProps) {
  const lines = () => linesOf(props);
  const [copied, setCopied] = createSignal('');
  return (
    <section class="copies" aria-label="Copy">
      <Index each={lines()}>
        {(line) => (
          <div class="copy">
            <span class="muted">{line()[0]}</span>
            <code class="truncate" onMouseEnter={({ currentTarget }) => (currentTarget.title = line()[1])}>
              <LiveText text={line()[1]} />
            </code>
            <button
              type="button"
              aria-label={`Copy ${line()[0]}`}
              onClick={async () => setCopied((await copy(line()[1])) ? line()[0] : '')}
            >
              {copied() === line()[0] ? 'Copied' : 'Copy'}
            </button>
          </div>
        )}
      </Index>
    </section>
  );
}

function linesOf({ address, type, access, value }: CopyLinesProps): [name: string, line: string][] {
  const example = value ?? (type === 'B' || type === 'T' ? true : type === 'S' ? '' : 0);
  const update = new URLSearchParams({ parameter: address, value: String(example) });
  const read: [string, string] = ['curl, read', `curl ${quote(`${location.origin}/parameters/${pathOf(address)}`)}`];
  const write: [string, string] = ['curl, set', `curl ${quote(`${location.origin}/update?${update}`)}`];
  return [
    ['address', address],
    ...(type === 'T' ? [] : [read]),
    ...(access === 'read-only' ? [] : [write]),
    ['WebSocket', JSON.stringify({ p: address, v: example } satisfies PlainWrite)],
  ];
}

/** Quotes a text for a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Copies a text, also on a page without TLS, which may not use the clipboard. */
async function copy(text: string): Promise<boolean> {
  if (navigator.clipboard)
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // it is not allowed: the way below is
    }
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  const isDone = document.execCommand('copy');
  area.remove();
  return isDone;
}
