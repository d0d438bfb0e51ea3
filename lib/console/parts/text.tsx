// Text in views: names that break at separators, and text that changes in place.

import { createRenderEffect, For, type JSX } from 'solid-js';

/** Shows an address, or a name without spaces, so that it can break after `:`, `/`, `.`, `@`, `-` and `_`. */
export function Breakable(props: { readonly text: string }) {
  return (
    <For each={props.text.match(/[^:/.@_-]*[:/.@_-]+|[^:/.@_-]+$/g) ?? []}>
      {(part) => (
        <>
          {part}
          <wbr />
        </>
      )}
    </For>
  );
}

/** Shows text that changes in place and preserves the user's selection in it. */
export function LiveText(props: { readonly text: string }): JSX.Element {
  const node = document.createTextNode('');
  createRenderEffect(() => replace(node, props.text));
  return node;
}

/** Whether text is selected. Querying the selection requires a layout of the page, which must not happen with each change of a text. */
let isSelected = false;
document.addEventListener('selectionchange', () => {
  isSelected = document.getSelection()?.isCollapsed === false;
});

function replace(node: Text, text: string): void {
  if (node.data === text) return;
  if (!isSelected) {
    node.data = text;
    return;
  }
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
