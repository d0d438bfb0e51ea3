// The tree of a flow file as the hub sends it to pages.

import type { SourceNode } from '../../lib/console/editor/source-tree.ts';
import { dataOf, type Json5Node, readTree, slotsOf } from '../../lib/json5/json5-tree.ts';
import { formatPath, type Path } from '../../lib/json5/positions.ts';

export function readTemplate(text: string): SourceNode {
  const describe = (node: Json5Node, path: Path, lead: number, tail: number): SourceNode => {
    const slots = slotsOf(text, node);
    const isScalar = node.kind !== 'object' && node.kind !== 'list';
    return {
      ...{ path: formatPath(path), kind: node.kind, start: node.start, end: node.end, lead, tail, line: 0, column: 0 },
      ...(node.key !== undefined && { key: node.key.name }),
      ...(isScalar
        ? { value: dataOf(text, node) as string }
        : {
            children: node.children.map((child, index) =>
              describe(child, [...path, child.key?.name ?? index], slots[index]!.lead, slots[index]!.tail),
            ),
          }),
    };
  };
  const root = readTree(text);
  return describe(root, [], root.start, root.end);
}
