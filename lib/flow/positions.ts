// Where things stand in a JSON5 text: the line and column of a path, and keys that an object has twice, which a parser
// keeps silent about. Works on text that has already been parsed, so its grammar can be loose.

export interface Position {
  readonly line: number;
  readonly column: number;
}

type Path = readonly (string | number)[];

const token =
  /\/\/[^\n\r\u2028\u2029]*|\/\*[\s\S]*?\*\/|"(?:\\[\s\S]|[^"\\])*"|'(?:\\[\s\S]|[^'\\])*'|[{}[\]:,]|[^\s{}[\]:,"'/]+/g;

interface Container {
  readonly isObject: boolean;
  readonly keys: Set<string>;
  key: string | number;
}

/** Finds the keys that occur a second time in the same object, with the path of each. */
export function findDuplicateKeys(text: string): { path: Path; position: Position }[] {
  const duplicates: { path: Path; position: Position }[] = [];
  walk(text, (path, offset, isSecond) => {
    if (isSecond) duplicates.push({ path: [...path], position: positionAt(text, offset) });
    return true;
  });
  return duplicates;
}

/** The position of a path, or of its nearest parent that is there. */
export function findPosition(text: string, target: Path): Position | undefined {
  let best: number | undefined;
  let bestLength = 0;
  walk(text, (path, offset) => {
    if (
      path.length > bestLength &&
      path.length <= target.length &&
      path.every((part, index) => part === target[index])
    ) {
      best = offset;
      bestLength = path.length;
    }
    return bestLength < target.length;
  });
  return best === undefined ? undefined : positionAt(text, best);
}

/** Visits every key and list item with its path, until the visitor returns false. */
function walk(text: string, visit: (path: Path, offset: number, isSecond: boolean) => boolean): void {
  const stack: Container[] = [];
  const pathOf = () => stack.map(({ key }) => key);
  let last: { text: string; offset: number } | undefined;
  let isItemStart = false;
  for (const match of text.matchAll(token)) {
    const [part] = match;
    if (part.startsWith('//') || part.startsWith('/*')) continue;
    const top = stack.at(-1);
    if (isItemStart && top !== undefined && !top.isObject && part !== ']') {
      isItemStart = false;
      if (!visit(pathOf(), match.index, false)) return;
    }
    if (part === '{' || part === '[') {
      stack.push({ isObject: part === '{', keys: new Set(), key: part === '{' ? '' : 0 });
      isItemStart = part === '[';
    } else if (part === '}' || part === ']') {
      stack.pop();
      isItemStart = false;
    } else if (part === ',' && top !== undefined && !top.isObject) {
      top.key = Number(top.key) + 1;
      isItemStart = true;
    } else if (part === ':' && top?.isObject && last !== undefined) {
      top.key = readKey(last.text);
      const isSecond = top.keys.has(top.key);
      top.keys.add(top.key);
      if (!visit(pathOf(), last.offset, isSecond)) return;
    }
    last = { text: part, offset: match.index };
  }
}

function readKey(text: string): string {
  const quote = text[0];
  if (quote !== '"' && quote !== "'") return text;
  return text
    .slice(1, -1)
    .replace(/\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[\s\S])/g, (_, escaped: string) =>
      escaped.length > 1 ? String.fromCharCode(Number.parseInt(escaped.slice(1), 16)) : escaped,
    );
}

function positionAt(text: string, offset: number): Position {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: before.at(-1)!.length + 1 };
}
