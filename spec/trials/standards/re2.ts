// The tests of RE2 as published by Go, src/regexp/testdata/re2-search.txt and re2-exhaustive.txt.bz2: texts, patterns, and for each pattern
// a line per text, `0-3;1-3;0-3;1-3`, whose second field is the position of the first match; `-`: no match.

import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

export interface Re2Case {
  readonly pattern: string;
  readonly text: string;
  readonly isFound: boolean;
}

/** Reads a file, also one that is gzipped. Errors: a line that is none of such a file. */
export async function* readRe2(path: string): AsyncGenerator<Re2Case> {
  const file = createReadStream(path);
  const input: Readable = path.endsWith('.gz') ? file.pipe(createGunzip()) : file;
  let texts: string[] = [];
  let pattern = '';
  let place = 0;
  let isInTexts = false;
  let number = 0;
  for await (const line of linesOf(input)) {
    number++;
    if (line === '' || line.startsWith('#') || /^[A-Z]/.test(line)) continue; // a comment, or the name of a part
    if (line === 'strings') {
      texts = [];
      isInTexts = true;
    } else if (line === 'regexps') isInTexts = false;
    else if (line.startsWith('"')) {
      const text = unquote(line);
      if (isInTexts) texts.push(text);
      else {
        pattern = text;
        place = 0;
      }
    } else {
      const [, found] = line.split(';');
      const text = texts[place++];
      if (found === undefined || text === undefined)
        throw new Error(`${path}:${number}: expected a result, got ${line}`);
      yield { pattern, text, isFound: found !== '-' };
    }
  }
}

/** Lines end with a line feed alone: the texts have other ends of lines in them. */
async function* linesOf(input: Readable): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of input.setEncoding('utf8') as AsyncIterable<string>) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop()!;
    yield* lines;
  }
}

/** Go quotes as JSON does, but for `\a`, `\v` and `\x41`. */
function unquote(line: string): string {
  const text = line.replace(/\\(?:x([\da-f]{2})|([av])|.)/gi, (all, code?: string, letter?: string) => {
    if (code !== undefined) return `\\u00${code}`;
    return letter === undefined ? all : { a: '\\u0007', v: '\\u000b' }[letter as 'a' | 'v'];
  });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the file has some as they are
  const json = text.replace(/[\0-\x1f]/g, (letter) => `\\u00${letter.charCodeAt(0).toString(16).padStart(2, '0')}`);
  return JSON.parse(json) as string;
}
