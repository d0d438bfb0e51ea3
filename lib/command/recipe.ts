// The command `patchbay recipes`, and the prompts for a recipe's variables on a terminal.

import { createInterface } from 'node:readline/promises';
import { checkGiven, listRecipes, type Recipe, readRecipe } from '../hub/recipes.ts';
import { describe, HubError, messageOf } from '../model/error.ts';
import { printable } from '../model/printable.ts';
import { type Cli, command } from './cli.ts';
import type { Console } from './console.ts';

export function register(cli: Cli): void {
  command(cli, 'recipes', 'list the cookbook recipes, or describe one recipe and its variables')
    .argument('[recipe]', 'name of a recipe, such as tally/two-microphones')
    .action((recipe: string | undefined) => cli.finish(recipes(recipe, cli.console)));
}

/** Prints one line per recipe, or the description and the variables of one recipe. */
export async function recipes(name: string | undefined, { print }: Pick<Console, 'print'>): Promise<number> {
  if (name === undefined) {
    const all = await listRecipes();
    const width = Math.max(...all.map((one) => one.name.length));
    for (const one of all) print(`${one.name.padEnd(width)}  ${one.about[0]}`);
    return 0;
  }
  const { about, variables } = await readRecipe(name);
  const width = Math.max(...variables.map((one) => one.name.length + one.usual.length));
  const lines = variables.map((one) => `${`${one.name}=${one.usual}`.padEnd(width + 1)}  ${one.about}`);
  print([...about, '', ...lines].join('\n'));
  return 0;
}

/** Reads the values of a recipe's variables from strings of the form `name=value`. Errors: `bad-request`. */
export function readGiven(recipe: Recipe, texts: readonly string[]): Map<string, string> {
  const given = new Map<string, string>();
  for (const text of texts) {
    const [, name = '', value = ''] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
    if (name === '') throw new HubError('bad-request', `--set: expected <name>=<value>, got ${describe(text)}`);
    checkGiven(recipe, name, value);
    if (given.has(name)) throw new HubError('bad-request', `--set ${name}: expected one value, got two`);
    given.set(name, value);
  }
  return given;
}

/** Prompts for each variable of a recipe on a terminal. An empty line keeps the recipe's value. Throws if the input ends early. */
export async function askVariables(
  recipe: Recipe,
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
): Promise<Map<string, string>> {
  const given = new Map<string, string>();
  const lines = createInterface({ input, output });
  const closed = new AbortController();
  lines.once('close', () => closed.abort());
  try {
    output.write(`${recipe.about.join('\n')}\n\nPress Enter to accept the value in brackets.\n`);
    for (const { name, about, usual } of recipe.variables)
      for (;;) {
        const answer = (await lines.question(`${name}, ${about} [${usual}]: `, { signal: closed.signal })).trim();
        if (answer === '') break;
        try {
          checkGiven(recipe, name, answer);
          given.set(name, answer);
          break;
        } catch (error) {
          output.write(`${printable(messageOf(error).replace('--set ', ''))}\n`);
        }
      }
    return given;
  } catch {
    throw new HubError('bad-request', 'expected an answer, got none; nothing was created');
  } finally {
    lines.close();
  }
}
