// A dashboard `wall` over a desk, and whether its widgets say that their values may be old.

import type { ExecutionContext } from 'ava';
import { api, type HubUnderTest, startHubFrom } from '../hub.ts';

/** The page of the dashboard in the console. */
export const wall = '#/dashboards?name=wall';
export const desk = {
  type: 'dummy',
  parameters: ['mic,B,false', 'lamp,B,false', 'level,F,0.5', 'go,T', 'text,S,idle', 'scene,I,1'],
};

export const widgetsOfAllKinds = [
  { type: 'label', label: 'Desk' },
  { type: 'value', address: 'desk/text' },
  { type: 'lamp', address: 'desk/lamp' },
  { type: 'button', label: 'Mic', address: 'desk/mic' },
  { type: 'fader', address: 'desk/level' },
  { type: 'meter', address: 'desk/level' },
  { type: 'plot', addresses: ['desk/level'] },
  { type: 'group', widgets: [{ type: 'lamp', address: 'desk/lamp' }] },
  { type: 'select', address: 'desk/scene', choices: { One: 1, Two: 2 } },
  { type: 'radio', address: 'desk/scene', choices: { One: 1, Two: 2 } },
  { type: 'number', address: 'desk/level' },
  { type: 'text', address: 'desk/text' },
  { type: 'gauge', address: 'desk/level' },
  { type: 'clock', zone: 'UTC' },
  { type: 'countdown', to: '18:00' },
  { type: 'alarm', address: 'desk/lamp' },
  { type: 'link', back: true },
  { type: 'icon', icon: 'mic', address: 'desk/mic' },
  { type: 'events', addresses: ['desk/scene'] },
  { type: 'schedule', address: 'desk/lamp' },
  { type: 'matrix', lamps: [{ address: 'desk/lamp' }, { address: 'desk/mic' }] },
  { type: 'tabs', tabs: [{ label: 'One', widgets: [{ type: 'lamp', address: 'desk/lamp' }] }] },
];
/** How many of them there are, with those within others. */
export const widgetCount = widgetsOfAllKinds.length + 2;

/** Starts a hub with the dashboard. */
export function startWall(
  t: ExecutionContext,
  widgets: readonly object[],
  settings = {},
): Promise<HubUnderTest & { readonly folder: string }> {
  return startHubFrom(t, {
    'flow.json5': { connections: { api: { ...api, dashboards: 'dashboards' }, desk } },
    'dashboards/wall.json5': { title: 'Wall', columns: 4, ...settings, widgets },
  });
}

/** In a page: the text over each widget, by its style. */
export const overlays = `[...document.querySelectorAll('.widget:not(.group, .tabs-widget)')].map((one) => getComputedStyle(one, '::after').content)`;
/** In a page: whether all widgets, or none, say that there is no link. */
export const allStale = `(${overlays}).length > 0 && (${overlays}).every((text) => text === '"no link"')`;
export const noneStale = `(${overlays}).length > 0 && (${overlays}).every((text) => text === 'none')`;
