// A dashboard operated by mouse and keyboard: a button, a fader that is dragged, and what they show.

import { eventually } from '../../support/deadline.ts';
import type { Desk } from './recipes.ts';

const file = 'studio.json5';
const connections = { desk: { type: 'dummy', parameters: ['mic,B,false', 'lamp,B,false', 'level,F,0.5'] } };
const rules = [{ name: 'lamp', from: 'desk/mic', to: 'desk/lamp' }];
const widgets = [
  { type: 'button', label: 'Mic', address: 'desk/mic', mode: 'toggle' },
  { type: 'lamp', label: 'Lamp', address: 'desk/lamp' },
  { type: 'fader', label: 'Level', address: 'desk/level' },
];
const dragPx = 60;

/** Errors: what a widget does not write or show. */
export async function usePanel({ hand, put, remove, value }: Desk): Promise<string> {
  const { page } = hand;
  await put(file, JSON.stringify({ connections, rules }));
  await put('dashboards/wall.json5', JSON.stringify({ title: 'Wall', columns: 4, widgets }));
  await page.evaluate(`location.hash = '#/dashboards?name=wall'`);
  const mic = page.getByRole('button', { name: 'Mic' });
  await hand.click(mic);
  await eventually(() => value('desk/mic') === true && value('desk/lamp') === true, 'the button to write true');
  await page.locator('.light[data-state=on]').waitFor();
  await mic.focus();
  await hand.key('Enter');
  await eventually(() => value('desk/mic') === false && value('desk/lamp') === false, 'Enter to write false');
  const fader = page.getByRole('slider', { name: 'Level' });
  await fader.focus();
  await hand.key('Home');
  await eventually(() => value('desk/level') === 0, 'Home to write the least level');
  await hand.key('End');
  await eventually(() => value('desk/level') === 1, 'End to write the greatest level');
  await hand.drag(page.locator('.cap'), dragPx);
  await eventually(() => Number(value('desk/level')) < 1 && Number(value('desk/level')) > 0, 'a drag to write a level');
  await remove(file);
  const { clicks, keys } = hand.count();
  return `a button, a lamp and a fader: ${clicks} clicks, ${keys} keys`;
}
