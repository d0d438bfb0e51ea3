// Whether the page is so and so, as a signal.

import { type Accessor, createSignal, onCleanup } from 'solid-js';

/** Follows a media query for the scope that calls it. */
export function useMedia(query: string): Accessor<boolean> {
  const media = matchMedia(query);
  const [matches, setMatches] = createSignal(media.matches);
  const listen = () => setMatches(media.matches);
  media.addEventListener('change', listen);
  onCleanup(() => media.removeEventListener('change', listen));
  return matches;
}
