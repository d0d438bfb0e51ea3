// A header that is a list may come in several lines (RFC 9110 section 5.3). The library returns the first of them.

import type { HttpRequest } from '../../../net/uws.ts';

/** Whether a list of words, such as `keep-alive, Upgrade`, has one of them, in any case of its letters. */
export function lists(list: string, word: string): boolean {
  return list.split(',').some((item) => item.trim().toLowerCase() === word);
}

/** For each name all lines of the header, joined by commas; empty: there is none. It looks at every header of the request. */
export function joinedHeaders(request: HttpRequest, ...names: readonly string[]): string[] {
  const joined = names.map(() => '');
  request.forEach((name, value) => {
    const index = names.indexOf(name);
    if (index < 0 || value === '') return;
    joined[index] = joined[index] === '' ? value : `${joined[index]}, ${value}`;
  });
  return joined;
}
