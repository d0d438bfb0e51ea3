// The current location in the console: `#/parameters?address=desk/lamp`. The location is kept only in the hash, so that links, the browser
// history and reloads work.

import { createSignal, onCleanup } from 'solid-js';

export interface Route {
  /** The name of a view. An empty name stands for the first view. */
  readonly view: string;
  readonly params: Readonly<Record<string, string>>;
}

let { hash } = location;
const [current, setCurrent] = createSignal(parse(hash));
addEventListener('hashchange', follow);

export const route = current;

/** Returns the link to a view. Empty and undefined parameters are omitted. */
export function linkTo(view: string, params: Readonly<Record<string, string | undefined>> = {}): string {
  const given = Object.entries(params).filter((pair): pair is [string, string] => Boolean(pair[1]));
  const query = new URLSearchParams(given).toString().replaceAll('%2F', '/');
  return `#/${view}${query && `?${query}`}`;
}

export function navigate(view: string, params: Readonly<Record<string, string | undefined>> = {}): void {
  location.hash = linkTo(view, params);
  follow(); // without waiting for the event, because a second input in a row would start from the former route
}

/**
 * Changes parameters of the current view without a new entry in the browser history. Undefined removes a parameter. Does nothing if the
 * user has left the view.
 */
export function setParams(params: Readonly<Record<string, string | undefined>>): void {
  const { view } = current();
  follow(); // a link may have led to another view, but its event has not arrived yet
  const { view: newView, params: present } = current();
  if (newView !== view) return;
  history.replaceState(null, '', linkTo(view, { ...present, ...params }));
  follow();
}

/** Returns whether the user must stay at the current location. `go` leaves the location nevertheless. */
type Hold = (next: Route, go: () => void) => boolean;
let hold: Hold | undefined;

/** Lets the calling reactive scope prevent the user from leaving the current view, for example because of unsaved changes. */
export function holdRoute(holds: Hold): void {
  hold = holds;
  onCleanup(() => {
    if (hold === holds) hold = undefined;
  });
}

function follow(): void {
  if (location.hash === hash) return;
  const wanted = location.hash;
  const go = () => {
    hold = undefined;
    location.hash = wanted;
    follow();
  };
  if (hold?.(parse(wanted), go)) {
    history.replaceState(null, '', hash === '' ? location.pathname : hash);
    return;
  }
  hash = location.hash;
  setCurrent(parse(hash));
}

function parse(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s);
  return { view: path, params: Object.fromEntries(new URLSearchParams(query)) };
}
