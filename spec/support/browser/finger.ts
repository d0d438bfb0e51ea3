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
