// A text that changes in place. What people have selected in it, to copy it, stays selected.

import { createRenderEffect, type JSX } from 'solid-js';

export function LiveText(props: { readonly text: string }): JSX.Element {
  const node = document.createTextNode('');
  createRenderEffect(() => replace(node, props.text));
  return node;
}

function replace(node: Text, text: string): void {
  if (node.data === text) return;
  const selection = document.getSelection();
  const { anchorNode, anchorOffset, focusNode, focusOffset, isCollapsed = true } = selection ?? {};
  const formerLength = node.length;
  node.data = text;
  if (isCollapsed || !anchorNode || !focusNode || (anchorNode !== node && focusNode !== node)) return;
  const placeIn = (place: Node, offset: number) => {
    if (place !== node) return offset;
    return offset === formerLength ? text.length : Math.min(offset, text.length);
  };
  selection!.setBaseAndExtent(
    anchorNode,
    placeIn(anchorNode, anchorOffset!),
    focusNode,
    placeIn(focusNode, focusOffset!),
  );
}
