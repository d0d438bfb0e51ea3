// The title and the icon of the page. In a background tab, they indicate that something needs attention.

import { type Accessor, createEffect } from 'solid-js';
import { alarms } from '../alarms/alarms.ts';
import { installation } from './installation.ts';

const icons = {
  calm: new URL('../icon.svg', import.meta.url).href,
  alert: new URL('../icon-alert.svg', import.meta.url).href,
};

/** The number of unacknowledged alarms plus the number of connections with a problem. */
export const troubleCount = () => alarms.unacknowledged() + installation.troubled().length;

/** Keeps the title and the icon of the page up to date: `(2) Log · Studio 1`. */
export function markPage(view: Accessor<string>): void {
  createEffect(() => {
    const count = troubleCount();
    document.title = `${count > 0 ? `(${count}) ` : ''}${view()} · ${installation.name()}`;
  });
  createEffect(() => {
    const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]');
    if (icon) icon.href = troubleCount() > 0 ? icons.alert : icons.calm;
  });
}
