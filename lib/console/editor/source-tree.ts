// The tree of a flow file, with the location of each value, and edits to the tree.

import type { SourceAnswer } from '../../wire/http/editing-shapes.ts';

/** A value in the text of a flow file. Offsets count UTF-16 code units. */
export interface SourceNode {
  readonly path: string;
  readonly key?: string;
  readonly kind: 'object' | 'list' | 'text' | 'number' | 'boolean' | 'null';
  readonly start: number;
  readonly end: number;
  /** The offset at which the comments above the item begin. */
  readonly lead: number;
  /** The offset at which the comments and the comma after the item end. */
  readonly tail: number;
  readonly line: number;
  readonly column: number;
  readonly value?: string | number | boolean | null;
  readonly children?: readonly SourceNode[];
}

/** A flow file as the hub sends it, with the tree of its values. */
export type SourceFile = Omit<SourceAnswer, 'tree'> & { readonly tree?: SourceNode };

export type Op = { readonly path: string } & (
  | { readonly set: unknown }
  | { readonly insert: unknown }
  | { readonly remove: true }
  | { readonly text: string }
  | { readonly move: string }
);

/** Returns the data that a node represents. */
export function dataOf({ kind, value, children = [] }: SourceNode): unknown {
  if (kind === 'list') return children.map(dataOf);
  if (kind === 'object') return Object.fromEntries(children.map((child) => [child.key!, dataOf(child)]));
  return value;
}

/** Removes the indentation that all lines of a text except the first have in common. Returns the resulting text and that indentation. */
export function withoutIndent(text: string): { readonly text: string; readonly indent: string } {
  const lines = text
    .split('\n')
    .slice(1)
    .filter((line) => line.trim() !== '');
  const [first = ''] = lines;
  let indent = /^[ \t]*/.exec(first)![0];
  for (const line of lines) while (!line.startsWith(indent)) indent = indent.slice(0, -1);
  if (indent === '' || text.includes('\\\n')) return { text, indent: '' };
  return {
    text: text
      .split('\n')
      .map((line, index) => (index > 0 && line.startsWith(indent) ? line.slice(indent.length) : line))
      .join('\n'),
    indent,
  };
}
