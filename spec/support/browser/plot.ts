// What a plot of a page shows, read from its pixels.

import type { Page } from 'playwright-core';

/** The room beside the drawing, for the labels of the values and at the right. */
const leftPx = 56;
const rightPx = 20;

/** An expression: how much of the width of the first plot shows a colour of the style sheet, from one share of it to another, 0..1. */
export function drawnExpression(colour: string, from = 0, to = 1): string {
  return `(() => {
    const canvas = document.querySelector('canvas');
    if (!canvas) return 0;
    const probe = document.body.appendChild(document.createElement('i'));
    probe.style.color = 'var(${colour})';
    const wanted = getComputedStyle(probe).color.match(/\\d+/g).map(Number);
    probe.remove();
    const width = canvas.width - ${leftPx + rightPx};
    if (width <= 0) return 0;
    const start = Math.round(${leftPx} + ${from} * width), end = Math.round(${leftPx} + ${to} * width);
    const { data, width: columns, height } = canvas.getContext('2d').getImageData(start, 0, end - start, canvas.height);
    const isWanted = (at) => data[at + 3] > 200 && wanted.every((part, index) => Math.abs(data[at + index] - part) < 25);
    let count = 0;
    for (let x = 0; x < columns; x++)
      for (let y = 0; y < height; y++)
        if (isWanted(4 * (y * columns + x))) {
          count++;
          break;
        }
    return count / columns;
  })()`;
}

export function drawn(page: Page, colour: string, from = 0, to = 1): Promise<number> {
  return page.evaluate<number>(drawnExpression(colour, from, to));
}
