// A finger on a page, as the browser hears of it from the screen.

import type { Page } from 'playwright-core';

export interface Finger {
  down(x: number, y: number): Promise<void>;
  /** Moves there in so many steps, one each frame. */
  move(x: number, y: number, steps?: number): Promise<void>;
  up(): Promise<void>;
}

export async function createFinger(page: Page): Promise<Finger> {
  const session = await page.context().newCDPSession(page);
  let at = { x: 0, y: 0 };
  const touch = async (type: 'touchStart' | 'touchMove' | 'touchEnd') => {
    await session.send('Input.dispatchTouchEvent', { type, touchPoints: type === 'touchEnd' ? [] : [at] });
    await page.evaluate('new Promise(requestAnimationFrame)');
  };
  return {
    async down(x, y) {
      at = { x, y };
      await touch('touchStart');
    },
    async move(x, y, steps = 12) {
      const from = at;
      for (let step = 1; step <= steps; step++) {
        at = { x: from.x + ((x - from.x) * step) / steps, y: from.y + ((y - from.y) * step) / steps };
        await touch('touchMove');
      }
    },
    up: () => touch('touchEnd'),
  };
}

/** Two fingers beside each other about a point, so many px apart at first and at last. */
export async function pinch(page: Page, at: { x: number; y: number }, firstPx: number, lastPx: number): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const steps = 8;
  const touch = async (type: 'touchStart' | 'touchMove' | 'touchEnd', apartPx: number) => {
    const fingers = [-0.5, 0.5].map((side, id) => ({ x: at.x + side * apartPx, y: at.y, id }));
    await session.send('Input.dispatchTouchEvent', { type, touchPoints: type === 'touchEnd' ? [] : fingers });
    await page.evaluate('new Promise(requestAnimationFrame)');
  };
  await touch('touchStart', firstPx);
  for (let step = 1; step <= steps; step++) await touch('touchMove', firstPx + ((lastPx - firstPx) * step) / steps);
  await touch('touchEnd', lastPx);
}
