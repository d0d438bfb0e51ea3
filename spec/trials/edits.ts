// npm run trial -- edits: edits random JSON5 texts, and all flow files of the repository. Each text must then parse to the intended data,
// nothing else in it may change, comments must stay with their items, and undoing an edit must restore the same bytes.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type EditOp, editJson5, undoSplices } from '../../lib/json5/edit-json5.ts';
import { type Json5Node, readTree, slotsOf } from '../../lib/json5/json5-tree.ts';
import { formatPath, type Path, tokensOf } from '../../lib/json5/positions.ts';
import { parseJson5 } from '../../lib/json5/read-json5.ts';
import { messageOf } from '../../lib/model/error.ts';
import { Random } from '../support/random.ts';
import { defineTrial, notify, progress } from './trial.ts';

const repository = join(import.meta.dirname, '../..');

export const trial = defineTrial({
  about: 'edits random JSON5 texts and the flow files of the repository',
  options: {
    seed: ['the seed for the texts and edits', 1],
    edits: ['the number of edits', 200_000, 1200],
  },
  run: async ({ seed, edits }) => tryEdits(seed, edits),
});

function tryEdits(seed: number, edits: number): boolean {
  const flows = globSync('{flows,spec,bench,docs}/**/*.json5', { cwd: repository });
  const texts = flows.map((name) => readFileSync(join(repository, name), 'utf8')).filter((text) => isEditable(text));
  if (texts.length < 10) throw new Error('expected the flow files of the repository, got none');
  let text = '';
  const tell = progress('edits', edits);
  for (let number = 0; number < edits; number++) {
    tell(number);
    const random = new Random(seed, number);
    if (number % 6 === 0) text = random.once(3) ? withHabits(random, random.pick(texts)) : aText(random);
    const op = anOp(random, text);
    if (op === undefined) {
      text = aText(random);
      continue;
    }
    const wrong = wrongWith(text, op);
    if (wrong !== undefined) {
      notify(`edit ${number} of seed ${seed}: ${wrong}\n${JSON.stringify(op)}\n${text}`);
      return false;
    }
    text = editJson5(text, [op]).text;
  }
  notify(`${edits} edits of random texts and ${texts.length} flow files, nothing was wrong`);
  return true;
}

function isEditable(text: string): boolean {
  try {
    return text.length < 20_000 && typeof parseJson5(text) === 'object';
  } catch {
    return false;
  }
}

/** Returns what is wrong with the result of an edit; undefined: nothing. */
export function wrongWith(text: string, op: EditOp): string | undefined {
  let edited: ReturnType<typeof editJson5>;
  try {
    edited = editJson5(text, [op]);
  } catch (error) {
    return messageOf(error);
  }
  const { text: after, splices } = edited;
  const told = `\n${after}`;
  if (!isDeepStrictEqual(parseJson5(after), meant(parseJson5(text), op))) return `it has other data${told}`;
  if (undoSplices(after, splices) !== text) return `taking it back gives other bytes${told}`;
  if ('set' in op && (typeof op.set !== 'object' || op.set === null)) {
    const lines = splices.reduce((sum, { removed, inserted }) => sum + linesOf(removed) + linesOf(inserted), 0);
    const isScalar = splices.every(({ removed }) => !/^[[{]|\n/.test(removed));
    if (splices.length > 1 || (isScalar && lines > 0)) return `a changed value is more than a line${told}`;
  }
  const [before, now] = [piecesOf(text, !('move' in op)), piecesOf(after, !('move' in op))];
  if ('move' in op && !isSame(before, now)) return `a move loses or adds something${told}`;
  if ('remove' in op && !isWithin(now, before)) return `a removal adds something${told}`;
  if ('insert' in op && !isWithin(before, now)) return `an insertion loses something${told}`;
  if ('remove' in op || 'move' in op) {
    const lost = strangersLost(text, op.path, after);
    if (lost !== undefined) return `it takes ${JSON.stringify(lost)} along${told}`;
  }
  if (/^[^\S\n\r]+$/m.test(after) && !/^[^\S\n\r]+$/m.test(text)) return `it leaves a line of spaces${told}`;
  if (/[^\S\n\r]$/m.test(after) && !/[^\S\n\r]$/m.test(text)) return `it leaves a space at the end of a line${told}`;
  if (/\r/.test(text) && !/[^\r]\n/.test(text) && /[^\r]\n/.test(after)) return `it mixes the ends of lines${told}`;
  return undefined;
}

function linesOf(text: string): number {
  return text.match(/\n/g)?.length ?? 0;
}

/** Returns a comment that was neither directly above the item nor behind it, and is gone. */
function strangersLost(text: string, path: string, after: string): string | undefined {
  const parts = path.match(/[^.[\]"]+/g) ?? [];
  let node: Json5Node | undefined = readTree(text);
  let slot: { lead: number; tail: number } | undefined;
  for (const part of parts) {
    const slots = slotsOf(text, node!);
    const found: (typeof slots)[number] | undefined = slots.find(
      (one, index) => one.node.key?.name === part || (one.node.key === undefined && String(index) === part),
    );
    if (found === undefined) return undefined;
    node = found.node;
    slot = found;
  }
  const rest = text.slice(0, slot!.lead) + text.slice(slot!.tail);
  const now = piecesOf(after);
  for (const piece of piecesOf(rest).filter((one) => one.startsWith('/'))) {
    const at = now.indexOf(piece);
    if (at < 0) return piece;
    now.splice(at, 1);
  }
  return undefined;
}

/** The tokens and comments, without commas and colons, and perhaps without keys. */
function piecesOf(text: string, hasKeys = true): string[] {
  const tokens = [...tokensOf(text)];
  const pieces: string[] = [];
  let end = 0;
  for (const [at, { part, offset }] of [...tokens, { part: '', offset: text.length }].entries()) {
    for (const [comment] of text.slice(end, offset).matchAll(/\/\/[^\n\r\u2028\u2029]*|\/\*[\s\S]*?\*\//g))
      pieces.push(
        `/${comment
          .replaceAll(/^\/[/*]|\*\/$/g, '')
          .replaceAll(/\s+/g, ' ')
          .trim()}`,
      );
    const isKey = tokens[at + 1]?.part === ':';
    if (part !== '' && part !== ',' && part !== ':' && (hasKeys || !isKey)) pieces.push(asValue(part));
    end = offset + part.length;
  }
  return pieces.sort();
}

function asValue(part: string): string {
  return /^["']/.test(part) ? part : part.replace(/^[\w$]+$/, (name) => (/^\d/.test(name) ? name : `'${name}'`));
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return isDeepStrictEqual(
    one.map((piece) => piece.replaceAll('"', "'")),
    other.map((piece) => piece.replaceAll('"', "'")),
  );
}

/** Whether all pieces of one are among those of the other; both are sorted. */
function isWithin(one: readonly string[], other: readonly string[]): boolean {
  let at = 0;
  return one.every((piece) => {
    while (at < other.length && other[at]! < piece) at++;
    return other[at++] === piece;
  });
}

// The data after an edit, in other code than the engine's.

type Data = Record<string | number, unknown>;

function meant(data: unknown, op: EditOp): unknown {
  const root = { root: structuredClone(data) } as { root: unknown };
  const place = (path: string) => {
    const parts: (string | number)[] = ['root'];
    for (const [, name, index, quoted] of path.matchAll(/([^.[\]"]+)(?=$|[.[])|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/g))
      parts.push(
        quoted === undefined ? (name !== undefined && index === undefined ? name : Number(index)) : JSON.parse(quoted),
      );
    const last = parts.pop()!;
    return { parent: parts.reduce<unknown>((at, part) => (at as Data)[part], root) as Data, last };
  };
  const { parent, last } = place(op.path);
  const put = (to: Data, key: string | number, value: unknown) => {
    if (Array.isArray(to)) to.splice(Number(key), 0, value);
    else to[key] = value;
  };
  const take = () => {
    const value = parent[last];
    if (Array.isArray(parent)) parent.splice(Number(last), 1);
    else delete parent[last];
    return value;
  };
  if ('set' in op) parent[last] = op.set;
  else if ('insert' in op) put(parent, last, op.insert);
  else if ('remove' in op) take();
  else if ('move' in op) {
    if (op.move === op.path) return data;
    const value = take();
    const to = place(op.move);
    put(to.parent, to.last, value);
  } else parent[last] = parseJson5(op.text);
  return root.root;
}

// Random texts.

interface Habits {
  readonly eol: string;
  readonly mark: string;
  readonly unit: string;
  readonly keysQuoted: boolean;
  readonly trailing: boolean;
  readonly comments: boolean;
}

/** Returns a text with other line ends, or with a byte order mark. */
function withHabits(random: Random, text: string): string {
  const ended = random.once(4) ? text.replaceAll('\n', '\r\n') : text;
  return random.once(6) ? `\ufeff${ended}` : ended;
}

export function aText(random: Random): string {
  const habits: Habits = {
    eol: random.once(4) ? '\r\n' : '\n',
    mark: random.once(3) ? '"' : "'",
    unit: random.pick(['  ', '    ', '\t']),
    keysQuoted: random.once(5),
    trailing: !random.once(3),
    comments: !random.once(4),
  };
  const head = habits.comments && random.once(2) ? `// a head${habits.eol}${random.once(2) ? habits.eol : ''}` : '';
  const text = head + container(random, habits, '', 0, true) + (random.once(5) ? '' : habits.eol);
  return random.once(8) ? `\ufeff${text}` : text;
}

const names = ['name', 'from', 'to', 'map', 'when', 'a-b', 'desk/lamp', 'pipe', 'each', 'instances', 'x', 'ünï', '1'];

function container(random: Random, habits: Habits, indent: string, depth: number, isObject = random.once(2)): string {
  const count = random.once(8) ? 0 : 1 + random.below(depth === 0 ? 6 : 4);
  const isMany = depth < 3 && (depth === 0 || random.once(2));
  const keys = new Set<string>();
  while (isObject && keys.size < count) keys.add(random.pick(names));
  const key = (at: number) => (isObject ? `${keyText([...keys][at]!, habits)}:${random.once(9) ? '' : ' '}` : '');
  const [open, close] = isObject ? (['{', '}'] as const) : (['[', ']'] as const);
  const { eol, unit, comments } = habits;
  const inner = indent + unit;
  const comment = () => random.pick(['// one, [1]', '/* two */', "// it's {", '/* a: 1, */']);
  if (!isMany) {
    const pad = isObject && !random.once(6) ? ' ' : '';
    const items = Array.from({ length: count }, (_, at) => {
      const before = comments && random.once(12) ? '/* in */ ' : '';
      return before + key(at) + aValue(random, habits, indent, depth + 1, true);
    });
    if (items.length === 0) return open + close;
    return `${open}${pad}${items.join(', ')}${random.once(9) ? ',' : ''}${pad}${close}`;
  }
  let text = open + (comments && random.once(8) ? ' // of the bracket' : '') + eol;
  if (comments && random.once(6)) text += `${inner}// a heading${eol}${eol}`;
  for (let at = 0; at < count; at++) {
    if (at > 0 && random.once(5)) text += eol;
    if (comments && random.once(4)) text += `${inner}${comment()}${eol}`;
    if (comments && random.once(9)) text += `${inner}/* several${eol}${inner}   lines */${eol}`;
    text += inner + key(at) + aValue(random, habits, inner, depth + 1, false);
    if (at < count - 1 || habits.trailing) text += ',';
    if (comments && random.once(6)) text += ` ${comment()}`;
    if (at < count - 1 && random.once(12) && !/\/\/[^\n]*$/.test(text)) text += ` `;
    else text += eol;
  }
  if (/[^\n]$/.test(text)) text += eol;
  if (comments && random.once(8)) text += `${random.once(2) ? eol : ''}${inner}// at the end${eol}`;
  return `${text}${indent}${close}`.replaceAll(/ +(\r?\n)/g, '$1').replaceAll(/, +([^\s/][^\n]*)/g, ', $1');
}

function keyText(name: string, { mark, keysQuoted }: Habits): string {
  return keysQuoted || !/^[A-Za-z_$]\w*$/.test(name) ? mark + name + mark : name;
}

function aValue(random: Random, habits: Habits, indent: string, depth: number, isInline: boolean): string {
  if (depth < 4 && random.once(isInline ? 4 : 2))
    return isInline ? container(random, habits, indent, 3) : container(random, habits, indent, depth);
  const { mark } = habits;
  return random.pick([
    ...['1', '0x1f', '-2.5', '.5', '1e3', 'true', 'false', 'null', "'it\\'s'", '"say \\"no\\""', "'a, b: [c] // d'"],
    `${mark}desk/lamp${mark}`,
    `${mark}a \${n} b${mark}`,
    `${mark}two\\\n lines${mark}`,
    `${mark}${mark}`,
  ]);
}

// Random edits.

/** Returns an edit of a text; undefined: the text has nothing to edit. */
export function anOp(random: Random, text: string): EditOp | undefined {
  const root = readTree(text);
  const all: { path: Path; node: Json5Node }[] = [];
  const visit = (node: Json5Node, path: Path) => {
    all.push({ path, node });
    node.children.forEach((child, index) => void visit(child, [...path, child.key?.name ?? index]));
  };
  visit(root, []);
  const inner = all.slice(1);
  const holders = all.filter(({ node }) => node.kind === 'object' || node.kind === 'list');
  const { path: holder, node } = random.pick(holders);
  const place = (path: Path, { kind, children }: Json5Node, more: number): Path => [
    ...path,
    kind === 'list' ? random.below(children.length + more) : freeKey(random, children),
  ];
  const kind = inner.length === 0 ? 1 : random.below(5);
  if (kind === 1) return { path: formatPath(place(holder, node, 1)), insert: someData(random, 0) };
  if (inner.length === 0) return undefined;
  const { path } = random.pick(inner);
  if (kind === 0) return { path: formatPath(path), set: random.once(3) ? someData(random, 0) : aScalar(random) };
  if (kind === 2) return { path: formatPath(path), remove: true };
  if (kind === 4)
    return {
      path: formatPath(path),
      text: random.pick(['7', "'typed' /* so */", '{ a: 1, /* b */ }', '[\n1, // c\n]']),
    };
  const parent = path.slice(0, -1);
  const same = all.find(({ path: one }) => formatPath(one) === formatPath(parent))!;
  if (same.node.kind === 'list' && !random.once(4))
    return { path: formatPath(path), move: formatPath([...parent, random.below(same.node.children.length)]) };
  const isInside = path.every((part, at) => holder[at] === part);
  if (isInside || movesPath(path, holder)) return { path: formatPath(path), remove: true };
  return {
    path: formatPath(path),
    move: formatPath(place(holder, node, formatPath(holder) === formatPath(parent) ? 0 : 1)),
  };
}

function freeKey(random: Random, children: readonly Json5Node[]): string {
  const name = `new${random.below(1000)}`;
  return children.some(({ key }) => key?.name === name) ? freeKey(random, children) : name;
}

/** Whether the removal of an item changes the path of another one. */
function movesPath(path: Path, other: Path): boolean {
  const last = path.length - 1;
  const isSibling = path.slice(0, last).every((part, at) => other[at] === part) && typeof path[last] === 'number';
  return isSibling && typeof other[last] === 'number' && other[last] > Number(path[last]);
}

function aScalar(random: Random): unknown {
  return random.pick<unknown>([
    1,
    -2.5,
    true,
    null,
    '',
    'desk/lamp',
    "it's",
    'say "no"',
    'a\nb\\',
    'x // y',
    '\u2028',
    '\ud83d',
  ]);
}

function someData(random: Random, depth: number): unknown {
  if (depth > 2 || random.once(2)) return aScalar(random);
  if (random.once(3)) return random.list(3, () => someData(random, depth + 1));
  return Object.fromEntries(random.list(4, () => [random.pick(names), someData(random, depth + 1)]));
}
