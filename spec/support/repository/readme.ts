// READMEs as somebody new meets them: their code blocks, and a clone in which they are followed to the letter.

import { cpSync, existsSync, globSync, lstatSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import type { ExecutionContext } from 'ava';
import { createFolder } from '../folder.ts';

export const root = resolve(import.meta.dirname, '../../..');

/** The paths of all READMEs, and of what is in docs, from the root: `['README.md', 'bench/README.md', …]`. */
export const readmes: readonly string[] = globSync(['**/README.md', '{CONTRIBUTING,SECURITY}.md', 'docs/**/*.md'], {
  cwd: root,
  exclude: (name) => /^(node_modules|dist|results)$/.test(typeof name === 'string' ? name : ''),
})
  .filter((path) => !path.includes('node_modules'))
  .map((path) => path.replaceAll(sep, '/'))
  .sort();

export interface Block {
  readonly language: string;
  readonly text: string;
  /** Everything above it. */
  readonly above: string;
}

/** The code blocks of the text, top to bottom. */
export function blocksOf(text: string): Block[] {
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map((match) => ({
    language: match[1]!,
    text: match[2]!,
    above: text.slice(0, match.index),
  }));
}

export function readReadme(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** A working tree with what `npm install` brings. Its demo listens on another port, as READMEs in `text` then say. */
export interface Clone {
  readonly folder: string;
  /** Where its hub is. */
  readonly url: string;
  /** The text of a README, with the port of this clone. */
  text(readme: string): string;
}

/** At any depth: a demo that ran in the working tree has left its values in `flows/data`. */
const notCloned = new Set(['.git', 'results', 'data']);

/** The environment of a shell that somebody has just opened: npm and npx, which run the specs, tell their commands what they were told. */
export const shellEnvironment: NodeJS.ProcessEnv = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(npm_|INIT_CWD$)/i.test(name)),
);

/**
 * Its files and these folders are copies, which READMEs change. All other folders are links: their modules are those of the working
 * tree, from which the types have been stripped already.
 */
export async function createClone(t: ExecutionContext, port: number, copied = ['flows']): Promise<Clone> {
  const folder = await createFolder(t);
  for (const entry of readdirSync(root, { withFileTypes: true })) {
    const [path, into] = [join(root, entry.name), join(folder, entry.name)];
    if (notCloned.has(entry.name)) continue;
    if (entry.isDirectory() && !copied.includes(entry.name)) symlinkSync(path, into);
    else cpSync(path, into, { recursive: true, filter: (source) => !notCloned.has(basename(source)) });
  }
  const onPort = (text: string) => text.replaceAll('17011', String(port));
  const demo = join(folder, 'flows/demo.json5');
  await writeFile(demo, onPort(await readFile(demo, 'utf8')));
  return { folder, url: `http://localhost:${port}`, text: (readme) => onPort(readReadme(readme)) };
}

/** Writes a file of a clone. Errors: its folder is a link, so that it would be a file of the working tree. */
async function writeInto(folder: string, path: string, text: string): Promise<void> {
  const top = join(folder, relative(folder, path).split(sep)[0]!);
  if (lstatSync(top, { throwIfNoEntry: false })?.isSymbolicLink()) throw new Error(`${path}: ${top} is not copied`);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

/** Does what a block of JSON5 or code says: saves the file that its first line names; one that is there has to have its lines. */
export async function save(t: ExecutionContext, { folder }: Clone, { text }: Block): Promise<void> {
  const [, name] = /^\/\/ ([\w./-]+\.\w+)\n/.exec(text) ?? [];
  if (name === undefined) return;
  const path = join(folder, name);
  if (existsSync(path)) {
    const lines = (await readFile(path, 'utf8')).split('\n').map((line) => line.trim());
    const [, ...expected] = text
      .trimEnd()
      .split('\n')
      .map((line) => line.trim());
    let from = 0;
    for (const line of expected) {
      const index = lines.indexOf(line, from);
      t.not(index, -1, `${name} has no line ${line}`);
      from = index + 1;
    }
    return;
  }
  await writeInto(folder, path, text);
}

/** Makes the change that a block of `diff` shows, in the file that the text above it names last. Resolves to what undoes it. */
export async function change(
  t: ExecutionContext,
  { folder }: Clone,
  { text, above }: Block,
): Promise<() => Promise<void>> {
  const name = [...above.matchAll(/`([\w./-]+\.\w+)`/g)]
    .map(([, name]) => name!)
    .findLast((name) => existsSync(join(folder, name)));
  const path = join(folder, name ?? '');
  const content = await readFile(path, 'utf8');
  const side = (sign: string) =>
    [...text.matchAll(new RegExp(`^[ \\${sign}](.*\\n)`, 'gm'))].map(([, line]) => line).join('');
  t.is(content.split(side('-')).length, 2, `${name} has once\n${side('-')}`);
  await writeInto(folder, path, content.replace(side('-'), side('+')));
  return () => writeInto(folder, path, content);
}

const codeBlock = /^```[\s\S]*?^```$/gm;

/** The targets of all links and pictures of the text. */
export function linksOf(text: string): string[] {
  const prose = text.replace(codeBlock, '').replace(/`[^`\n]*`/g, 'code');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target!);
}

/** The anchors of the headings of the text, as GitHub and npm name them. */
export function anchorsOf(text: string): ReadonlySet<string> {
  const headings = [...text.replace(codeBlock, '').matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading!.toLowerCase(),
  );
  return new Set(headings.map((heading) => heading.replace(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-')));
}
