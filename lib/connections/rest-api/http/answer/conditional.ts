// Conditional and range requests (RFC 9110 sections 13.1, 13.2 and 14).

export interface FileState {
  readonly bytes: number;
  readonly etag: string;
  readonly modified: Date;
}

export interface ConditionalHeaders {
  readonly range: string;
  readonly ifRange: string;
  readonly ifNoneMatch: string;
  readonly ifModifiedSince: string;
}

export interface ByteRange {
  readonly start: number;
  readonly length: number;
}

/** Whether the client already has the present state of the file. `If-None-Match` counts more than `If-Modified-Since`. */
export function isNotModified({ ifNoneMatch, ifModifiedSince }: ConditionalHeaders, file: FileState): boolean {
  if (ifNoneMatch !== '') return matchesTag(ifNoneMatch, file.etag);
  return ifModifiedSince !== '' && seconds(file.modified) <= seconds(new Date(ifModifiedSince));
}

/** Whether `If-None-Match` names a tag. */
export function matchesTag(ifNoneMatch: string, etag: string): boolean {
  return ifNoneMatch.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag);
}

/** The part that a client asks for; undefined: the whole file, since it names no range, several, or one of another state of the file. */
export function readRange(
  { range, ifRange }: ConditionalHeaders,
  file: FileState,
): ByteRange | 'unsatisfiable' | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(range.trim());
  if (match === null || (match[1] === '' && match[2] === '')) return undefined;
  if (ifRange !== '' && ifRange !== file.etag && seconds(new Date(ifRange)) !== seconds(file.modified))
    return undefined;
  const [, first, last] = match;
  if (first === '') {
    const length = Math.min(Number(last), file.bytes);
    return length === 0 ? 'unsatisfiable' : { start: file.bytes - length, length };
  }
  const start = Number(first);
  const end = last === '' ? file.bytes - 1 : Math.min(Number(last), file.bytes - 1);
  if (last !== '' && Number(last) < start) return undefined;
  return start >= file.bytes ? 'unsatisfiable' : { start, length: end - start + 1 };
}

/** HTTP dates have whole seconds. */
function seconds(date: Date): number {
  return Math.floor(date.getTime() / 1000);
}
