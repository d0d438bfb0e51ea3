// The recipes in the cookbook. Each recipe explains its purpose in three lines, and has its addresses in `variables`. Dummies replace the
// devices, so that a recipe runs and passes its tests anywhere. A copy uses the given addresses, and contains dummies only for missing
// parameters.

import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import type { RecipeForm } from '../connections/editing.ts';
import { nearestName } from '../json5/nearest-name.ts';
import { connectionIdOf, isAddress, parseAddress } from '../model/address.ts';
import { HubError, messageOf } from '../model/error.ts';
import type { ValueType } from '../model/value.ts';

const cookbook = join(import.meta.dirname, '../../flows/cookbook');

export interface Recipe {
  /** The name of the recipe, which includes its topic, such as `tally/two-microphones`. */
  readonly name: string;
  /** The first three lines of the recipe, which explain its purpose. */
  readonly about: readonly string[];
  readonly variables: readonly RecipeVariable[];
  readonly text: string;
  /** The file extension of the recipe, `.json5` or `.ts`. */
  readonly ending: string;
  /** The files to which the recipe refers, keyed by path relative to its folder. */
  readonly companions: ReadonlyMap<string, string>;
}

interface RecipeVariable {
  readonly name: string;
  readonly about: string;
  readonly usual: string;
}

/**
 * The dummies that replace devices, keyed by Connection ID. For each connection, a map from Parameter ID to the rest of the line that
 * declares the parameter.
 */
type StandIns = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** The parameters and connections that exist in the target folder for a recipe. */
export interface Surroundings {
  readonly addresses: ReadonlySet<string>;
  readonly connections: ReadonlySet<string>;
  /** Whether an undeclared connection may belong to another hub. */
  readonly hasOthers: boolean;
}

/** Returns all recipes, sorted by topic. */
export async function listRecipes(): Promise<Recipe[]> {
  const files = await listFiles();
  return Promise.all(files.filter(isRecipe).map((file) => readOne(file, files)));
}

/** Reads a recipe from the cookbook. Errors: `bad-request` if the name is unknown; the message suggests the most similar one. */
export async function readRecipe(name: string): Promise<Recipe> {
  const files = await listFiles();
  const byName = new Map(files.filter(isRecipe).map((file) => [nameOf(file), file]));
  const found = byName.get(name);
  if (found !== undefined) return readOne(found, files);
  const names = [...byName.keys()];
  const own = nearestName(
    basename(nameOf(name)),
    names.map((one) => basename(one)),
  );
  const nearest = names.find((one) => basename(one) === own) ?? nearestName(name, names);
  const hint = nearest === undefined ? ': `patchbay recipes` lists all recipes' : `, did you mean "${nearest}"?`;
  throw new HubError('bad-request', `--recipe: unknown recipe ${JSON.stringify(name)}${hint}`);
}

/** Returns the paths of all files in the cookbook. */
async function listFiles(): Promise<string[]> {
  return (await readdir(cookbook, { recursive: true })).map((file) => file.replaceAll('\\', '/')).sort();
}

function isRecipe(file: string): boolean {
  return /^[^/]+\/[^_/][^/]*\.(?:json5|ts)$/.test(file);
}

function nameOf(file: string): string {
  return file.replace(/\.\w+$/, '');
}

async function readOne(file: string, files: readonly string[]): Promise<Recipe> {
  const text = await readFile(join(cookbook, file), 'utf8');
  const [folder, ending] = [dirname(file), extname(file)];
  const own = basename(file, ending);
  const beside = [`_${own}.json5`, `${own}.types.json`, `dashboards/${own}.json5`];
  const companions = beside.filter((one) => files.includes(`${folder}/${one}`));
  const texts = companions.map(async (one) => [one, await readFile(join(cookbook, folder, one), 'utf8')] as const);
  const about = /^(?:\/\/ .*\n)+/.exec(text)?.[0] ?? '';
  return {
    name: `${folder}/${own}`,
    about: about
      .trimEnd()
      .split('\n')
      .map((line) => line.slice(3)),
    variables: variablesOf(text),
    text,
    ending,
    companions: new Map(await Promise.all(texts)),
  };
}

/** Matches the `variables` block up to the closing brace at the same indentation, because a comment may contain braces. */
const variableBlock = /^(?: {2}variables: \{\n[\s\S]*?\n {2}\}|const variables = \{\n[\s\S]*?\n\})/m;
const variableLine = /^ +(\w+): '([^'\\]*)', \/\/ (.*)$/gm;

function variablesOf(text: string): RecipeVariable[] {
  const [block = ''] = variableBlock.exec(text) ?? [];
  return [...block.matchAll(variableLine)].map(([, name = '', usual = '', about = '']) => ({ name, usual, about }));
}

/** Checks the value given for a variable of a recipe. Errors: `bad-request` if the variable is unknown or the address is invalid. */
export function checkGiven({ variables }: Recipe, name: string, value: string): void {
  const names = variables.map((one) => one.name);
  const variable = variables.find((one) => one.name === name);
  if (variable === undefined) {
    const nearest = nearestName(name, names);
    const known = nearest === undefined ? `expected one of ${names.join(', ')}` : `did you mean "${nearest}"?`;
    throw new HubError('bad-request', `--set ${name}: unknown variable "${name}", ${known}`);
  }
  if (value === '') throw new HubError('bad-request', `--set ${name}: expected a value (${variable.about}), got none`);
  if (!isAddress(variable.usual)) return;
  try {
    parseAddress(value);
  } catch (error) {
    throw new HubError('bad-request', `--set ${name}: ${messageOf(error)}`);
  }
}

/**
 * Returns a recipe whose variables have the values that a copy uses if none are given: a device whose usual connection already exists gets
 * another address.
 */
export function withFreeAddresses(recipe: Recipe, own: string, around: Surroundings): Recipe {
  const { standIns } = standInRegion(recipe.text);
  const variables = recipe.variables.map((one) =>
    standInLine(standIns, one.usual) === undefined ? one : { ...one, usual: freeAddress(one.usual, own, around) },
  );
  return { ...recipe, variables };
}

/** A copy of a recipe: its text, and the files to which it refers. */
export interface RecipeCopy {
  readonly text: string;
  readonly companions: ReadonlyMap<string, string>;
  /** The addresses of the recipe's devices, each with a description and a value type. */
  readonly devices: readonly { readonly address: string; readonly about: string; readonly type: string }[];
  /** Whether the recipe uses parameters from other files. */
  readonly needsOthers: boolean;
}

/** Returns a copy of a recipe under a name, with the given values for its variables. Errors: `bad-request`. */
export function copyRecipe(
  recipe: Recipe,
  own: string,
  given: ReadonlyMap<string, string>,
  around: Surroundings,
): RecipeCopy {
  const region = standInRegion(recipe.text);
  const values = new Map(recipe.variables.map(({ name, usual }) => [name, given.get(name) ?? usual]));
  const standIns = new Map<string, Map<string, string>>();
  const devices: { address: string; about: string; type: string }[] = [];
  const users = new Map<string, string>();
  let needsOthers = false;
  for (const { name, usual, about } of recipe.variables) {
    if (!isAddress(usual)) continue;
    const line = standInLine(region.standIns, usual);
    const wanted = given.get(name);
    const address = wanted ?? (line === undefined ? usual : freeAddress(usual, own, around));
    const other = users.get(address);
    if (other !== undefined)
      throw new HubError(
        'bad-request',
        `--set ${name}: expected an address other than the address of ${other}, got ${address}`,
      );
    users.set(address, name);
    values.set(name, address);
    if (line === undefined) continue; // the device is not connected to this hub
    devices.push({ address, about, type: /^,(\w)/.exec(line)?.[1] ?? 'S' });
    const { connectionId, parameterId } = parseAddress(address);
    const isThere = wanted !== undefined && isKnown(name, address, around);
    if (isThere) needsOthers = true;
    else standIns.set(connectionId, (standIns.get(connectionId) ?? new Map()).set(parameterId, line));
  }
  const toText = recipe.ending === '.ts' ? inQuotes : (text: string) => inQuotes(plainly(text));
  const before = recipe.text.slice(0, region.start);
  const text = before + written(standIns, toText) + recipe.text.slice(region.end);
  return {
    text: text.replace(variableBlock, (block) =>
      block.replace(variableLine, (line, name, usual) => {
        const value = values.get(name) ?? usual;
        return value === usual ? line : line.replace(`'${usual}'`, () => toText(value));
      }),
    ),
    companions: new Map(
      [...recipe.companions].map(([name, text]) => [
        name.startsWith('dashboards/') ? `dashboards/${own}.json5` : name,
        withAddresses(text, recipe, values),
      ]),
    ),
    devices,
    needsOthers,
  };
}

/**
 * Returns whether the target folder contains a parameter, or may get it from another hub. Errors: `bad-request` if the folder contains the
 * connection but not the parameter.
 */
function isKnown(name: string, address: string, { addresses, connections, hasOthers }: Surroundings): boolean {
  if (addresses.has(address)) return true;
  const id = connectionIdOf(address);
  if (!connections.has(id)) return hasOthers;
  const known = [...addresses].filter((one) => connectionIdOf(one) === id);
  const nearest = nearestName(address, known);
  const hint =
    nearest === undefined ? 'use an existing parameter, or declare it there first' : `did you mean "${nearest}"?`;
  throw new HubError('bad-request', `--set ${name}: unknown parameter "${address}" of connection ${id}, ${hint}`);
}

/** Returns the rest of the line that declares an address as a stand-in, or undefined if there is none. */
function standInLine(standIns: StandIns, usual: string): string | undefined {
  if (!isAddress(usual)) return undefined;
  const connectionId = connectionIdOf(usual);
  return standIns.get(connectionId)?.get(usual.slice(connectionId.length + 1));
}

/** Returns the usual address of a device, or an address with another Connection ID if the folder already has such a connection. */
function freeAddress(usual: string, own: string, { connections }: Surroundings): string {
  return connections.has(connectionIdOf(usual)) ? `${own}-${usual}` : usual;
}

const standInComment = '    // Stand-ins for devices\n';
const standIn = / {4}(?:'([\w-]+)'|(\w+)): \{\s*type: 'dummy',\s*parameters: \[([^\]]*)\],?\s*\},\n/y;

/** Finds the stand-ins in the text of a recipe, and where they begin and end. */
function standInRegion(text: string): { readonly start: number; readonly end: number; readonly standIns: StandIns } {
  const standIns = new Map<string, ReadonlyMap<string, string>>();
  const start = text.indexOf(standInComment);
  if (start < 0) return { start: 0, end: 0, standIns };
  let end = start + standInComment.length;
  standIn.lastIndex = end;
  for (let found = standIn.exec(text); found !== null; found = standIn.exec(text)) {
    const [, quoted, word, lines = ''] = found;
    const parameters = [...lines.matchAll(/'([^',]*)([^']*)'/g)].map(([, id = '', rest = '']) => [id, rest] as const);
    standIns.set(quoted ?? word ?? '', new Map(parameters));
    end = standIn.lastIndex;
  }
  return { start, end, standIns };
}

function written(standIns: StandIns, toText: (text: string) => string): string {
  const lines = [...standIns].map(([id, parameters]) => {
    const key = /^[a-z]\w*$/.test(id) ? id : `'${id}'`;
    const list = [...parameters].map(([parameterId, rest]) => toText(parameterId + rest)).join(', ');
    const line = `    ${key}: { type: 'dummy', parameters: [${list}] },\n`;
    return line.length <= 140 ? line : `    ${key}: {\n      type: 'dummy',\n      parameters: [${list}],\n    },\n`;
  });
  return lines.length === 0 ? '' : standInComment + lines.join('');
}

/** Replaces the addresses in the files that accompany a recipe, because these files have no variables. */
function withAddresses(text: string, { variables }: Recipe, values: ReadonlyMap<string, string>): string {
  const others = new Map(variables.map(({ name, usual }) => [usual, values.get(name)!]));
  return text.replace(/(['"])([^'"\n]*)\1/g, (whole, quote, inner) => {
    const other = isAddress(inner) ? others.get(inner) : undefined;
    if (other === undefined || other === inner) return whole;
    return quote === '"' ? JSON.stringify(other) : inQuotes(plainly(other));
  });
}

/** Returns a string in quotes, for JSON5 and TypeScript. */
export function inQuotes(text: string): string {
  return /^[^'\\\p{Cc}\u2028\u2029]*$/u.test(text) ? `'${text}'` : JSON.stringify(text);
}

/** Escapes a string so that a flow file does not replace variables in it. */
function plainly(text: string): string {
  return text.replaceAll('${', '$${');
}

// Recipes for people who use a browser: those that consist of one JSON5 flow file.

/** Returns the recipes that consist of one flow file, sorted by topic. A dashboard next to the flow file is omitted. */
export async function listForms(): Promise<RecipeForm[]> {
  return (await listRecipes()).filter(isOneFile).map((recipe) => {
    const { standIns } = standInRegion(recipe.text);
    const { name, about, variables } = recipe;
    return {
      name,
      about,
      variables: variables.map((one) => {
        if (!isAddress(one.usual)) return one;
        const { connectionId, parameterId } = parseAddress(one.usual);
        const type = /^,(\w)/.exec(standIns.get(connectionId)?.get(parameterId) ?? '')?.[1];
        return { ...one, isAddress: true as const, ...(type !== undefined && { type: type as ValueType }) };
      }),
    };
  });
}

function isOneFile({ ending, companions }: Recipe): boolean {
  return ending === '.json5' && [...companions.keys()].every((name) => name.startsWith('dashboards/'));
}

/** Returns the flow file that a recipe creates under a name, for a browser. Errors: `bad-request`. */
export async function fillForm(
  name: string,
  own: string,
  given: Readonly<Record<string, string>>,
  around: Surroundings,
): Promise<{ readonly file: string; readonly text: string }> {
  try {
    const recipe = await readRecipe(name);
    expectOwnName(own);
    if (!isOneFile(recipe)) throw new HubError('bad-request', `${name}: expected a recipe of one file in JSON5`);
    for (const [variable, value] of Object.entries(given)) checkGiven(recipe, variable, value);
    const { text } = copyRecipe(recipe, own, new Map(Object.entries(given)), around);
    return { file: `${own}.json5`, text };
  } catch (error) {
    if (!(error instanceof HubError)) throw error;
    throw new HubError(error.code, error.message.replace(/^--(?:set )?/, '')); // no command options here
  }
}

/** Checks the name of a copy, which is also the prefix of its Connection IDs. Errors: `bad-request` if the name is invalid. */
export function expectOwnName(own: string): void {
  if (!/^(?!hub$)[a-z\d][a-z\d-]{0,47}$/.test(own))
    throw new HubError(
      'bad-request',
      `--as: expected 1 to 48 characters a-z, 0-9 and -, other than hub, got ${JSON.stringify(own)}`,
    );
}
