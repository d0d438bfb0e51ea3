// `patchbay drivers`: driver modules made for Bitfocus Companion. These commands run modules only to find out what the modules offer,
// without any network access.

import { constants, existsSync } from 'node:fs';
import { copyFile, readdir } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import type { Description } from '../connections/companion/messages.ts';
import type { Driver } from '../connections/companion/package.ts';
import { makeFolder } from '../files/make-folder.ts';
import { HubError, messageOf } from '../model/error.ts';
import { printable, printableLines } from '../model/printable.ts';
import { type Cli, command } from './cli.ts';
import type { Console } from './console.ts';

type Field = Description['config'][number];

const usualFolder = 'drivers';
/** The maximum number of variables, and of actions, in the connection that is printed as a starting point. */
const mostMapped = 20;

export function register(cli: Cli): void {
  const drivers = command(cli, 'drivers', 'list, add and describe driver modules for connections of type companion');
  drivers
    .command('list')
    .description('list the driver modules in a folder')
    .argument('[folder]', 'folder with driver modules', usualFolder)
    .action((folder: string) => cli.finish(list(folder, cli.console)));
  drivers
    .command('add')
    .description('check a driver module, and copy it to a folder')
    .argument('<file>', 'the .tgz file of a driver module')
    .option('--folder <folder>', 'folder with driver modules', usualFolder)
    .action((file: string, { folder }: { folder: string }) => cli.finish(add(file, folder, cli.console)));
  drivers
    .command('show')
    .description('describe a driver module: its config; with a config, also its variables, actions and feedbacks')
    .argument('<module>', 'a driver module: a .tgz file or a folder')
    .option('--config <json5>', 'the config of the driver module, such as "{ host: \'10.0.0.9\', port: 9990 }"', '{}')
    .action((module: string, { config }: { config: string }) => cli.finish(show(module, config, cli.console)));
}

export async function list(folder: string, { print }: Pick<Console, 'print'>): Promise<number> {
  const { openDriver } = await import('../connections/companion/package.ts');
  const entries = existsSync(folder) ? await readdir(folder, { withFileTypes: true }) : [];
  const modules = entries.filter((entry) => entry.isDirectory() || entry.name.endsWith('.tgz')).map(({ name }) => name);
  if (modules.length === 0) print(`${folder} has no driver modules: add one with patchbay drivers add <file>`);
  for (const name of modules.sort()) {
    try {
      const driver = await openDriver(resolve(folder, name), name);
      await driver.remove();
      print(`${name.padEnd(36)}${about(driver)}`);
    } catch (error) {
      print(`${name.padEnd(36)}${printable(messageOf(error))}`);
    }
  }
  return 0;
}

function about({ manufacturer, products, name, apiVersion }: Driver): string {
  const what = [manufacturer, products.slice(0, 5).join(', ') || name].filter((part) => part !== '').join(': ');
  return printable(`${what} (API ${apiVersion})`);
}

/**
 * Adds a driver module to a folder. Errors: `bad-request`, `conflict` if the module already exists, `cannot-start` if the module has a
 * fault.
 */
export async function add(file: string, folder: string, { print }: Pick<Console, 'print'>): Promise<number> {
  const { openDriver } = await import('../connections/companion/package.ts');
  if (!/\.tgz$/.test(file))
    throw new HubError('bad-request', `expected the .tgz file of a driver module, got ${basename(file)}`);
  const driver = await openDriver(resolve(file), file);
  await driver.remove();
  const target = join(folder, `${driver.id}-${driver.version}.tgz`);
  makeFolder(folder);
  try {
    await copyFile(file, target, constants.COPYFILE_EXCL);
  } catch (error) {
    if ((error as { code?: string }).code === 'EEXIST')
      throw new HubError('conflict', `${target} already exists: to replace it, delete it first`);
    throw error;
  }
  print(`${target}: ${about(driver)}\nTo see the module's config: patchbay drivers show ${target}`);
  return 0;
}

/** Prints what a driver module offers. Errors: `bad-request` if the config is invalid, `cannot-start` if the module has a fault. */
export async function show(module: string, config: string, { print }: Pick<Console, 'print'>): Promise<number> {
  const { openDriver } = await import('../connections/companion/package.ts');
  const { describeDriver } = await import('../connections/companion/child.ts');
  const { parseJson5 } = await import('../json5/read-json5.ts');
  const read = readConfig(parseJson5, config);
  const driver = await openDriver(resolve(module), module);
  try {
    const description = await describeDriver(driver, read);
    print(textOf(module, driver, read, description));
    return 0;
  } finally {
    await driver.remove();
  }
}

type Config = Readonly<Record<string, unknown>>;

function readConfig(read: (text: string) => unknown, text: string): Config {
  let value: unknown;
  try {
    value = read(text);
  } catch (error) {
    throw new HubError('bad-request', `--config: ${messageOf(error)}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new HubError('bad-request', `--config: expected an object such as { host: '10.0.0.9' }, got ${text}`);
  return value as Config;
}

function textOf(module: string, driver: Driver, given: Config, description: Description): string {
  const { config, actions, feedbacks, variables, more } = description;
  const lacking = config.filter(({ id }) => !Object.hasOwn(given, id));
  const lines = [`${driver.id} ${driver.version}, ${about(driver)}`, '', 'config', ...config.map(fieldLine)];
  if (lacking.length > 0) {
    const example = Object.fromEntries(config.map(({ id, default: suggested = '' }) => [id, given[id] ?? suggested]));
    lines.push('', `To see what the module offers, pass its complete config: --config '${JSON.stringify(example)}'`);
    return printableLines(lines.join('\n'));
  }
  const section = (name: string, offers: Description['actions']) => {
    lines.push('', name);
    for (const { id, name: title, kind, fields = [] } of offers)
      lines.push(
        `  ${id.padEnd(28)}${title}${kind === undefined ? '' : ` (${kind})`}`,
        ...fields.map((field) => `  ${fieldLine(field)}`),
      );
  };
  lines.push('', 'variables', ...variables.map(({ id, name }) => `  ${id.padEnd(28)}${name}`));
  section('feedbacks', feedbacks);
  section('actions', actions);
  if (more > 0) lines.push('', `and ${more} more`);
  lines.push('', 'A first connection:', '', connectionText(module, driver, given, description));
  return printableLines(lines.join('\n'));
}

function fieldLine({ id, type, label, default: suggested }: Field): string {
  const usual = suggested === undefined || suggested === '' ? '' : `, such as ${JSON.stringify(suggested)}`;
  return `  ${id.padEnd(28)}${type}${usual}${label === '' ? '' : `: ${label}`}`;
}

/** Returns the JSON5 text of a connection that uses a part of what the module offers, as a starting point. */
function connectionText(module: string, { id }: Driver, config: Config, description: Description): string {
  const named = (text: string) => text.replaceAll(/[^\w/-]+/g, '_');
  const values = Object.fromEntries(
    description.variables.slice(0, mostMapped).map(({ id: variable }) => [named(variable), { variable }]),
  );
  const writes = Object.fromEntries(
    description.actions.slice(0, mostMapped).map(({ id: action, fields = [] }) => {
      const options = fields.map(({ id: option, default: suggested = '' }) => [
        option,
        fields.length === 1 ? '{value}' : suggested,
      ]);
      return [
        `do/${named(action)}`,
        { action, options: Object.fromEntries(options), type: fields.length === 1 ? typeOfField(fields[0]!) : 'T' },
      ];
    }),
  );
  const hosts = Object.entries(config).flatMap(([name, value]) => (/host|ip/i.test(name) ? [value] : []));
  const connection = { type: 'companion', module, config, allowHosts: hosts, values, writes };
  const json = JSON.stringify({ [named(id)]: connection }, undefined, 2).slice(2, -2);
  return json.replaceAll(/^( *)"([A-Za-z_$][\w$]*)":/gm, '$1$2:').replaceAll(/"((?:[^"\\'])*)"/g, "'$1'");
}

function typeOfField({ type }: Field): string {
  return type === 'number' ? 'F' : type === 'checkbox' ? 'B' : 'S';
}
