// Makes the JSON of data piece by piece, as JSON.stringify makes it at once: what has a hundred thousand items takes it longer than others
// may have to wait. An item of a list is one piece.

/** Yields the JSON of plain data. What is iterable is a list, which is asked for its items as they are needed. */
export function* jsonPieces(data: unknown): Generator<string, void, void> {
  if (isList(data)) {
    let separator = '[';
    for (const item of data) {
      yield `${separator}${JSON.stringify(item) ?? 'null'}`;
      separator = ',';
    }
    yield separator === '[' ? '[]' : ']';
  } else if (isRecord(data) && Object.values(data).some((value) => isList(value) || isRecord(value))) {
    let separator = '{';
    for (const [key, value] of Object.entries(data)) {
      if (value === undefined) continue;
      yield `${separator}${JSON.stringify(key)}:`;
      yield* jsonPieces(value);
      separator = ',';
    }
    yield separator === '{' ? '{}' : '}';
  } else yield JSON.stringify(data) ?? 'null';
}

function isList(data: unknown): data is Iterable<unknown> {
  return typeof data === 'object' && data !== null && Symbol.iterator in data;
}

function isRecord(data: unknown): data is Readonly<Record<string, unknown>> {
  return typeof data === 'object' && data !== null;
}
