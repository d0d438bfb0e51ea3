#!/usr/bin/env node
// The command line, and the only file that uses `process`. Each command declares itself, and is a function that resolves to an exit status.
// Only the requested command is loaded, and its dependencies are loaded only when it runs.

import './command/node-version.ts';
import { existsSync } from 'node:fs';
import { Command } from 'commander';
import type { Cli } from './command/cli.ts';
import { createConsole } from './command/console.ts';
import { createEnding } from './command/ending.ts';
import { calledAs, defaultFolder, firstSteps } from './command/first-steps.ts';
import type { RunOptions } from './command/run/run.ts';
import { version } from './hub/version.ts';
import { nearestName } from './json5/nearest-name.ts';
import { usePrepared } from './prepared.ts';

type RunSettings = Pick<RunOptions, 'logLevel' | 'logFormat' | 'watch' | 'safe' | 'warmUp'>;

usePrepared();

const console = createConsole(process.stdout, process.stderr);
const { finish, untilStopped } = createEnding(process, console);

const program = new Command('patchbay')
  .description('A hub of parameters: connections, rules and dashboards meet in one reactive graph.')
  .version(version)
  .configureOutput({ writeErr: (text) => console.printError(withoutArguments(text).trimEnd()) })
  .showHelpAfterError('(patchbay --help lists all commands)');

program
  .command('run', { isDefault: true })
  .description('run the hub with flow files and folders until SIGINT or SIGTERM; SIGHUP reloads them')
  .argument('[paths...]', 'flow files and folders', [defaultFolder])
  .option('--log-level <level>', 'minimum log level: debug, info, warn, error', 'info')
  .option('--log-format <format>', 'pretty (for terminals) or json', process.stdout.isTTY ? 'pretty' : 'json')
  .option('--no-watch', 'reload flow files only on SIGHUP, not when they are saved')
  .option('--safe', 'start connections but no rules')
  .option('--no-warm-up', 'do not warm up; the first changes will take longer')
  .action((paths: string[], options: RunSettings, { args }: Command) => {
    const [, program = '', typed] = process.argv;
    const [first] = args;
    const steps = first === undefined ? firstSteps(program, process.cwd()) : misspeltCommand(program, first, typed);
    if (steps !== undefined) return finish(Promise.reject(new Error(steps)));
    return finish(runHub(paths, options));
  });

/**
 * The modules that declare the commands, keyed by name, in the order in which the help lists them. To add a command, write a file in
 * `command/` and add a line here.
 */
const commands: Readonly<Record<string, () => Promise<{ register(cli: Cli): void }>>> = {
  init: () => import('./command/init.ts'),
  recipes: () => import('./command/recipe.ts'),
  check: () => import('./command/check-command.ts'),
  test: () => import('./command/test.ts'),
  schema: () => import('./command/schema-command.ts'),
  types: () => import('./command/types-command.ts'),
  permissions: () => import('./command/check-command.ts'),
  drivers: () => import('./command/drivers.ts'),
  devices: () => import('./command/names-command.ts'),
  keys: () => import('./command/names-command.ts'),
  password: () => import('./command/password.ts'),
  get: () => import('./command/remote/values.ts'),
  set: () => import('./command/remote/values.ts'),
  watch: () => import('./command/remote/values.ts'),
  wire: () => import('./command/remote/values.ts'),
  explain: () => import('./command/remote/why-command.ts'),
  trace: () => import('./command/remote/why-command.ts'),
  reload: () => import('./command/remote/shadow-command.ts'),
  shadow: () => import('./command/remote/shadow-command.ts'),
  record: () => import('./command/remote/record-command.ts'),
  replay: () => import('./command/remote/record-command.ts'),
  audit: () => import('./command/remote/audit-command.ts'),
  history: () => import('./command/remote/history-command.ts'),
  events: () => import('./command/remote/events-command.ts'),
  backup: () => import('./command/remote/backup-command.ts'),
  restore: () => import('./command/remote/backup-command.ts'),
};

void call(process.argv[2] ?? 'run');

/** Runs the command with this name. For help, loads the declarations of all commands. */
async function call(name: string): Promise<void> {
  const names = ['help', '--help', '-h'].includes(name) ? Object.keys(commands) : [name];
  const declaring = names.map((one) => (Object.hasOwn(commands, one) ? commands[one]!() : undefined));
  for (const module of new Set(await Promise.all(declaring)))
    module?.register({ program, console, finish, untilStopped, host: process });
  await program.parseAsync();
}

/**
 * Returns an error for an argument that is neither a command nor a path, if the argument resembles a command. The error does not show
 * further arguments, because an argument may be a password.
 */
function misspeltCommand(program: string, word: string, typed: string | undefined): string | undefined {
  if (word !== typed || existsSync(word)) return undefined;
  const nearest = nearestName(word, [...Object.keys(commands), 'run', 'help']);
  if (nearest === undefined) return undefined;
  return `${word}: expected a command, a file or a folder, did you mean "${calledAs(program, process.cwd())} ${nearest}"?`;
}

async function runHub(paths: readonly string[], options: RunSettings): Promise<number> {
  onReloadSignal(() => {}); // so that a signal before the files are read neither ends the process nor reloads anything
  const [{ run }, { createFlowGuard }, { createSupervisor }] = await Promise.all([
    import('./command/run/run.ts'),
    import('./command/run/flow-guard.ts'),
    import('./command/run/run-supervisor.ts'),
  ]);
  return run(paths, {
    ...options,
    logDescriptor: unblockedOutput(),
    supervisor: createSupervisor(process.env),
    createGuard: (log) => createFlowGuard(process, log),
    onReloadSignal,
    untilStopped,
    onExit,
  });
}

/**
 * Returns an error message without the command-line arguments that it quotes, because an argument may be a password. A misspelt option is
 * shown without its value, and surplus arguments only as a number.
 */
function withoutArguments(text: string): string {
  return text.replace(/('-(?:-[^'=]*=|[^-'](?=[^']))).*'/gs, "$1***'").replace(/( but got \d+): .*\.$/m, '$1.');
}

/**
 * Returns the file descriptor of standard output and makes it non-blocking. Node.js does this for pipes and sockets, but not for terminals.
 */
function unblockedOutput(): number {
  const { _handle: handle } = process.stdout as { _handle?: { setBlocking?(isBlocking: boolean): void } };
  if (process.stdout.isTTY) handle?.setBlocking?.(false);
  return 1;
}

function onExit(work: () => void): void {
  process.on('exit', work);
}

/** Calls back on each SIGHUP signal, which requests a reload. */
function onReloadSignal(reload: () => void): void {
  process.on('SIGHUP', reload);
}
