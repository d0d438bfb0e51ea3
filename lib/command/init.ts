// `patchbay init`: creates a folder for a new installation, or adds a recipe to a folder. Existing files are never changed.

import { lstatSync, mkdtempSync } from 'node:fs';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { makeFolder } from '../files/make-folder.ts';
import {
  copyRecipe,
  expectOwnName,
  inQuotes,
  type Recipe,
  type RecipeCopy,
  readRecipe,
  type Surroundings,
  withFreeAddresses,
} from '../hub/recipes.ts';
import { HubError } from '../model/error.ts';
import { printable } from '../model/printable.ts';
import { type Cli, command, fromEnvironment } from './cli.ts';
import type { Console } from './console.ts';
import { calledAs, defaultFolder, quoted } from './first-steps.ts';
import { askVariables, readGiven } from './recipe.ts';

export function register(cli: Cli): void {
  const { host, console, finish } = cli;
  command(
    cli,
    'init',
    'create a starter folder with flow files, tests, a dashboard and a README, or add a recipe to a folder',
  )
    .argument('[folder]', 'target folder; existing files are never changed', '.')
    .option('--recipe <name>', 'copy this recipe; `recipes` lists them all')
    .option('--set <name=value>', 'set a variable of the recipe, such as an address; can be repeated', collect)
    .option('--as <name>', 'name of the copy (default: the name of the recipe)')
    .option('--data <folder>', 'folder where the hub stores values and history (default: "flows/data")')
    .option('--bind-ip <address>', "IP address to listen on, '' for all interfaces (default: this machine only)")
    .addOption(
      fromEnvironment(
        '--image <name>',
        'prepare the folder for a container that runs this image, and print the command that starts the container',
        'IMAGE',
      ),
    )
    .action((folder: string, options: InitOptions) => {
      const isAnswered = host.stdin.isTTY && host.stdout.isTTY;
      const ask = (recipe: Recipe) => askVariables(recipe, host.stdin, host.stdout);
      const call = calledAs(host.argv[1] ?? '', resolve(folder));
      return finish(init(folder, call, console, isAnswered ? { ...options, ask } : options));
    });
}

/** Adds a value to the values of an option that may be repeated. */
function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

const examples = join(import.meta.dirname, '../../flows/init');
const dashboard = 'dashboards/studio.json5';

/** The settings in the first flow file that depend on where the hub runs. */
export interface Place {
  /** The path of the store's folder, relative to the flow file. */
  readonly data?: string;
  /** The IP address to listen on; empty stands for all interfaces. */
  readonly bindIp?: string;
}

export interface InitOptions extends Place {
  /** The name of the recipe to copy. The default is a first studio. */
  readonly recipe?: string;
  /** Values for the recipe's variables, in the form `name=value`. */
  readonly set?: readonly string[];
  /** The container image in which the folder runs. If omitted or empty, no container is used. */
  readonly image?: string;
  /** The name of the copy. The default is the name of the recipe. */
  readonly as?: string;
  /** Prompts for the recipe's variables if no variable is set. If omitted, the recipe keeps its values. */
  ask?(recipe: Recipe): Promise<ReadonlyMap<string, string>>;
}

/** The files to create, keyed by their path within the folder, and the hints to print afterwards. */
interface Making {
  readonly files: ReadonlyMap<string, string>;
  /** The commands with which the user can try the result. */
  readonly steps: readonly string[];
  /** The part after `/hub/` of the page's URL. */
  readonly page: string;
}

/**
 * Creates the files of an installation or a recipe in a folder. `calledAs` is the name of the command in hints. Errors: `conflict` if a
 * file exists, `bad-request` if the recipe or a variable is unknown or an address is invalid, `bad-flow` if the copy would have errors.
 * After an error, no files have been created.
 */
export async function init(
  folder: string,
  calledAs: string,
  { print }: Pick<Console, 'print'>,
  given: InitOptions = {},
): Promise<number> {
  const { image = '' } = given;
  const call = image === '' ? calledAs : 'docker exec hub patchbay';
  const options = image === '' ? given : { ...inContainer, ...given };
  if (options.recipe === undefined)
    for (const name of ['set', 'as'] as const)
      if (options[name] !== undefined && options[name].length > 0)
        throw new HubError('bad-request', `--${name} requires --recipe`);
  const { files, steps, page } =
    options.recipe === undefined
      ? await makeStudio(call, options)
      : await makeRecipe(folder, call, options.recipe, options);
  expectNothing(folder, [...files.keys()]);
  for (const [name, text] of files) {
    const path = join(folder, name);
    makeFolder(dirname(path));
    await writeFile(path, text, { flag: 'wx' });
    print(printable(`created ${path}`));
  }
  const start = folder === '.' ? steps : [`cd ${quoted(folder)}`, ...steps];
  const lines = image === '' ? start : runInContainer(folder, image);
  print(['', ...lines, '', `Then open http://localhost:17011/hub/${page}`].join('\n'));
  return 0;
}

function expectNothing(folder: string, names: readonly string[]): void {
  for (const name of names)
    if (lstatSync(join(folder, name), { throwIfNoEntry: false }) !== undefined)
      // a dangling link counts as a file, too
      throw new HubError('conflict', `${join(folder, name)}: file already exists; nothing was created`);
}

/**
 * The settings for a folder that runs in a container, which has a volume and a separate network. The container runtime controls access to
 * the network.
 */
const inContainer: Place = { data: '/var/lib/patchbay', bindIp: '' };

/** Returns the command that runs a folder's flow files in a container. */
function runInContainer(folder: string, image: string): string[] {
  const flows = quoted(join(folder, defaultFolder));
  const mounted = isAbsolute(folder) ? flows : `"$PWD"/${flows}`;
  return [
    'docker run -d --name hub --restart unless-stopped --read-only --cap-drop ALL --security-opt no-new-privileges \\',
    `  -p 127.0.0.1:17011:17011 -v ${mounted}:/etc/patchbay/flows:ro -v hub:${inContainer.data} ${image}`,
  ];
}

async function makeStudio(call: string, options: InitOptions): Promise<Making> {
  const files = new Map<string, string>();
  files.set(join(defaultFolder, 'studio.json5'), placed(await example('studio.json5'), options));
  files.set(join(defaultFolder, dashboard), await example(dashboard));
  addOwn(files, call, options, 'studio.json5', 'studio');
  return { files, steps: [`${call} run`], page: '' };
}

function example(name: string): Promise<string> {
  return readFile(join(examples, name), 'utf8');
}

/** Adapts the first flow file to the place where the hub runs. Throws if the template does not contain the settings to replace. */
export function placed(text: string, { data, bindIp }: Place): string {
  if (bindIp !== undefined && bindIp !== '' && isIP(bindIp) === 0)
    throw new HubError(
      'bad-request',
      `--bind-ip: expected an IP address, or '' for all, got ${JSON.stringify(bindIp)}`,
    );
  const inPlace = data === undefined ? text : replaceOnce(text, "folder: 'data'", `folder: ${inQuotes(data)}`);
  return bindIp === undefined ? inPlace : replaceOnce(inPlace, "bindIp: '127.0.0.1'", `bindIp: '${bindIp}'`);
}

export function replaceOnce(text: string, from: string, to: string): string {
  const parts = text.split(from);
  if (parts.length !== 2) throw new Error(`studio.json5: expected "${from}" once, got ${parts.length - 1} occurrences`);
  return parts.join(to);
}

/** Adds the files that belong next to the flow files. `page` is the name of a dashboard. */
function addOwn(files: Map<string, string>, call: string, options: InitOptions, flowFile: string, page?: string): void {
  const { data = `${defaultFolder}/data`, image = '' } = options;
  const console = 'The console is at <http://localhost:17011/hub/>';
  const dashboard = `, and the dashboard is at\n  <http://localhost:17011/hub/#/dashboards?name=${page}>`;
  files.set(
    'README.md',
    `# A studio

- ${image === '' ? `\`${call} run\`` : 'The container `hub`'} runs the hub. ${console}${page === undefined ? '' : dashboard}.
- ${defaultFolder}/${flowFile} defines the parameters and the rules. Save it, and the hub applies the changes.
- \`${call} check\` reports every error with its location, \`${call} test\` runs the tests of the file.
- ${data} contains the stored values and their history.
  \`${call} backup ${image === '' ? '' : `${data}/`}studio.tar\` saves everything while the hub runs.
`,
  );
  files.set('.gitignore', `${defaultFolder}/data\nnode_modules\n`);
}

// Next to other flow files, only the recipe is copied. In a folder without flow files, the recipe also gets the connections that a hub
// needs.

async function makeRecipe(folder: string, call: string, name: string, options: InitOptions): Promise<Making> {
  const recipe = await readRecipe(name);
  const own = options.as ?? recipe.name.split('/')[1]!;
  expectOwnName(own);
  const around = await lookAround(join(folder, defaultFolder));
  const isAsked = options.ask !== undefined && (options.set ?? []).length === 0;
  const given = isAsked
    ? await options.ask!(withFreeAddresses(recipe, own, around ?? nothing))
    : readGiven(recipe, options.set ?? []);
  const copy = copyRecipe(recipe, own, given, around ?? nothing);
  const files = new Map<string, string>([[`${own}${recipe.ending}`, copy.text]]);
  for (const [companion, text] of copy.companions)
    if (!(await isSame(join(folder, defaultFolder, companion), text))) files.set(companion, text);
  const isFirst = around === undefined;
  if (isFirst) files.set('hub.json5', hubFor(copy.text));
  expectNothing(join(folder, defaultFolder), [...files.keys()]);
  const writes = await checkCopy(folder, files, isFirst ? [] : [join(folder, defaultFolder)]);
  const isShown = isFirst && files.get('hub.json5')!.includes('dashboards:');
  const hasPanel = isShown || copy.companions.has(`dashboards/${own}.json5`);
  if (isShown && !copy.companions.has(`dashboards/${own}.json5`))
    files.set(`dashboards/${own}.json5`, panelOf(own, copy, writes));
  setPlace(files, options);
  const made = new Map([...files].map(([file, text]) => [join(defaultFolder, file), text]));
  if (isFirst) addOwn(made, call, options, `${own}${recipe.ending}`, hasPanel ? own : undefined);
  return {
    files: made,
    steps: [`${call} test${copy.needsOthers ? ' --together' : ''}`, `${call} run`],
    page: hasPanel ? `#/dashboards?name=${own}` : '',
  };
}

const nothing: Surroundings = { addresses: new Set(), connections: new Set(), hasOthers: false };

/**
 * Returns what the flow files in a folder declare, or undefined if the folder has no flow files. Errors: `bad-flow` if the files have
 * errors.
 */
async function lookAround(flows: string): Promise<Surroundings | undefined> {
  const names = await readdir(flows, { recursive: true }).catch(() => []);
  if (!names.some((name) => /^(?!.*(?:^|[\\/])(?:[._]|node_modules|dashboards[\\/])).*\.(?:json5|ts)$/.test(name)))
    return undefined;
  const { checkFlows } = await import('../hub/index.ts');
  const { plan, mistakes } = await checkFlows([flows]);
  if (mistakes.length > 0)
    throw new HubError(
      'bad-flow',
      `${someOf(mistakes)}\ncannot add a recipe to flow files with errors: correct the errors first`,
    );
  const { connections } = plan;
  return {
    addresses: new Set(connections.flatMap(({ id, parameters }) => parameters.map((one) => `${id}/${one.id}`))),
    connections: new Set(connections.map(({ id }) => id)),
    hasOthers: connections.some(({ type }) => type.remotes !== undefined),
  };
}

const connectionsOfHub: Readonly<Record<string, string>> = {
  'rest-api': `    // http://localhost:17011/hub/. Without bindIp, the whole network can connect: in that case, set a password as well.
    api: { type: 'rest-api', port: 17011, bindIp: '127.0.0.1', dashboards: 'dashboards' },
`,
  store: `    // Stores all values on disk, with their history.
    store: { type: 'store', folder: 'data' },
`,
};

/**
 * Returns the text of the connections that a hub needs besides the recipe. Types that the recipe contains are omitted, because a hub can
 * have only one store, and a port only one listener.
 */
function hubFor(recipe: string): string {
  const missing = Object.entries(connectionsOfHub).filter(([type]) => !recipe.includes(`type: '${type}'`));
  return `// The connections that a hub needs besides its rules: a server for clients, and a store for values.
{
  connections: {
${missing.map(([, connection]) => connection).join('')}  },
}
`;
}

/**
 * Checks the new files together with the existing files. Returns the addresses to which the rules in the new files write. Errors:
 * `bad-flow`.
 */
async function checkCopy(
  folder: string,
  files: ReadonlyMap<string, string>,
  others: readonly string[],
): Promise<ReadonlySet<string>> {
  const stage = mkdtempSync(join(tmpdir(), 'patchbay-init-'));
  try {
    for (const [name, text] of files) {
      makeFolder(dirname(join(stage, name)));
      await writeFile(join(stage, name), text);
    }
    const { checkFlows } = await import('../hub/index.ts');
    const { plan, mistakes } = await checkFlows([...others, stage]);
    const lines = mistakes.map((line) => line.replaceAll(stage, () => join(folder, defaultFolder)));
    if (lines.length > 0) throw new HubError('bad-flow', `${someOf(lines)}\nnothing was created`);
    return new Set(plan.rules.flatMap(({ to }) => to));
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}

function someOf(lines: readonly string[]): string {
  return [...lines.slice(0, 20), ...(lines.length > 20 ? [`and ${lines.length - 20} more`] : [])].join('\n');
}

async function isSame(path: string, text: string): Promise<boolean> {
  return (await readFile(path, 'utf8').catch(() => undefined)) === text;
}

/** Sets the store's folder and the listen address in flow files. Errors: `bad-request` if no file contains the setting to change. */
function setPlace(files: Map<string, string>, { data, bindIp }: Place): void {
  for (const [option, value, said] of [
    ['data', data, "folder: 'data'"],
    ['bindIp', bindIp, "bindIp: '127.0.0.1'"],
  ] as const) {
    if (value === undefined) continue;
    const file = [...files].find(([, text]) => text.includes(said));
    if (file === undefined) {
      const name = option === 'data' ? '--data' : '--bind-ip';
      throw new HubError(
        'bad-request',
        `${name}: this setting is not part of the recipe; use it in your own flow files`,
      );
    }
    files.set(file[0], placed(file[1], { [option]: value }));
  }
}

/**
 * Returns a dashboard with a widget for each device in a recipe: a lamp or value if rules write to the device, otherwise a button or fader.
 */
function panelOf(own: string, { devices }: RecipeCopy, writes: ReadonlySet<string>): string {
  const widgets = devices.map(({ address, about, type }) => {
    const label = inQuotes(asTitle(about.replace(/^the |[,;:].*$/g, '')));
    const start = `label: ${label}, address: ${inQuotes(address)}`;
    if (writes.has(address)) {
      if (type !== 'B' && type !== 'T') return `{ type: 'value', ${start} }`;
      return `{ type: 'lamp', ${start}${/\bred\b/i.test(about) ? ", tone: 'danger'" : ''} }`;
    }
    if (type === 'B') return `{ type: 'button', ${start} }`;
    if (type === 'T') return `{ type: 'button', ${start}, mode: 'fire' }`;
    if (type === 'S') return `{ type: 'value', ${start} }`;
    const [, min, max] = /(-?\d+) to (-?\d+)/.exec(about) ?? (/dB/.test(about) ? ['', -60, 10] : ['', 0, 100]);
    return `{ type: 'fader', ${start}, min: ${min}, max: ${max}, size: [1, 2] }`;
  });
  return `// http://localhost:17011/hub/#/dashboards?name=${own}
{
  title: ${inQuotes(asTitle(own.replaceAll('-', ' ')))},
  columns: 3,
  widgets: [
${widgets.map((widget) => `    ${widget},\n`).join('')}  ],
}
`;
}

function asTitle(text: string): string {
  return text.replace(/^./, (first) => first.toUpperCase());
}
