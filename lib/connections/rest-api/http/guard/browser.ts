// Tells a browser from a program where the browser does not say which page asks: over plain HTTP browsers send Sec-Fetch-Site
// to localhost only, and a foreign page can make them leave out Origin and Referer. What is looked at here it cannot take away.

import type { HttpRequest } from '../../../../net/uws.ts';

const signs: readonly (readonly [header: string, isBrowsers: (value: string) => boolean])[] = [
  ['user-agent', (value) => /^(Mozilla|Opera)\/\S+ \(/.test(value) && !programs.test(value)],
  ['upgrade-insecure-requests', (value) => value !== ''],
  ['accept', (value) => /^(text\/html,application\/xhtml\+xml|text\/css,|image\/)/.test(value)],
];

/** Programs that call themselves browsers: `Invoke-WebRequest` of PowerShell, WinHTTP (scripts and macros of Windows). */
const programs = /PowerShell\/|WinHttp\.WinHttpRequest/;

/** Whether a request is one of a browser; Accept-Language and Sec-Fetch-Mode say nothing, Node.js and Qt send them as well. */
export function isOfBrowser(request: HttpRequest): boolean {
  return signs.some(([header, isBrowsers]) => isBrowsers(request.getHeader(header)));
}
