// Desks whose values are saved and recalled: each has a selection of all that it has.

import { writer } from '../hub.ts';
import type { StoredHub } from './store.ts';

export const desk = { type: 'dummy', parameters: ['router,I,1', 'fader,F,0', 'title,S', 'far,B', 'go,T'] };

/** A selection of all parameters of a desk. */
export const selectionOf = (id: string) => ({
  include: [`${id}/fader`, `${id}/**`, 'store/**'],
  exclude: [`${id}/title2`],
});

/** A desk of a hub with its selection. */
export function useDesk(hub: StoredHub, id: string, selection = id) {
  const [save, recall, forget] = ['save', 'recall', 'forget'].map((act) => `store/${selection}/${act}`) as string[];
  const find = (one: string) => hub.find(`${id}/${one}`)!.value;
  return {
    at: { save: save!, recall: recall!, forget: forget! },
    find,
    matches: () => hub.find(`store/${selection}/matches`)!.value,
    list: () => hub.persistence.archive!.snapshots!.list().find(({ name }) => name === selection)!,
    valuesOf: () => ['router', 'fader', 'title', 'far'].map(find),
    set(values: Readonly<Record<string, unknown>>) {
      for (const [one, value] of Object.entries(values)) hub.write(`${id}/${one}`, value, writer);
    },
  };
}
