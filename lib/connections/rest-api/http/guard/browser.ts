// Tells a browser from a program when the browser does not say which page asks. Over plain HTTP browsers send Sec-Fetch-Site to localhost
// only, and a foreign page can make them leave out Origin and Referer. It cannot take away the signs that this file looks at.

import type { HttpRequest } from '../../../../net/uws.ts';

const signs: readonly (readonly [header: string, isBrowsers: (value: string) => boolean])[] = [
  ['user-agent', (value) => /^(Mozilla|Opera)\/\S+ \(/.test(value) && !programs.test(value)],
  ['upgrade-insecure-requests', (value) => value !== ''],
  ['accept', (value) => /^(text\/html,application\/xhtml\+xml|text\/css,|image\/)/.test(value)],
];

/** Some programs call themselves browsers: `Invoke-WebRequest` of PowerShell, and WinHTTP in scripts and macros of Windows. */
const programs = /PowerShell\/|WinHttp\.WinHttpRequest/;

/** Whether a browser sent a request. Accept-Language and Sec-Fetch-Mode are no signs, since Node.js and Qt send them as well. */
export function isOfBrowser(request: HttpRequest): boolean {
  return signs.some(([header, isBrowsers]) => isBrowsers(request.getHeader(header)));
}
