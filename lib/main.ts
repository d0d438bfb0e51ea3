#!/usr/bin/env node
// The command line: the only file that touches `process`. Each command is a function that resolves to an exit status; what it is made
// of is only loaded when it is called.

import './command/node-version.ts';
import { resolve } from 'node:path';
import { Command } from 'commander';
import { createConsole } from './command/console.ts';
import { createEnding } from './command/ending.ts';
import { calledAs, defaultFolder, firstSteps } from './command/first-steps.ts';
import type { InitOptions } from './command/init.ts';
import type { Recipe } from './command/recipe.ts';
import type { RemoteOptions } from './command/remote/ask-hub.ts';
import type { AuditOptions } from './command/remote/audit-command.ts';
import type { EventsOptions } from './command/remote/events-command.ts';
import type { HistoryOptions } from './command/remote/history-command.ts';
import type { RecordOptions, ReplayOptions } from './command/remote/record-command.ts';
import type { RunOptions } from './command/run/run.ts';
import type { TestOptions } from './command/test.ts';
import { version } from './hub/version.ts';
import { auditKinds } from './model/reports/audit-entry.ts';

type RunSettings = Pick<RunOptions, 'logLevel' | 'logFormat' | 'watch' | 'safe' | 'warmUp'>;

const console = createConsole(process.stdout, process.stderr);
const { finish, untilStopped } = createEnding(process, console);

const program = new Command('patchbay')
  .description('A hub of parameters: connections, rules and dashboards meet in one reactive graph.')
  .version(version)
  .configureOutput({ writeErr: (text) => console.printError(withoutArguments(text).trimEnd()) })
  .showHelpAfterError('(patchbay --help shows what there is)');

program
  .command('run', { isDefault: true })
  .description('run the hub with flow files, and folders of them, until SIGINT or SIGTERM; SIGHUP reloads them')
  .argument('[paths...]', 'flow files and folders', [defaultFolder])
  .option('--log-level <level>', 'least level that is logged: debug, info, warn, error', 'info')
  .option(
    '--log-format <format>',
    'pretty (on a terminal) or json (elsewhere)',
    process.stdout.isTTY ? 'pretty' : 'json',
  )
  .option('--no-watch', 'reload flow files at SIGHUP only, not when they are saved')
  .option('--safe', 'start connections, but no rules')
  .option('--no-warm-up', 'start some tenths of a second sooner; the first changes take longer')
  .action((paths: string[], options: RunSettings, { args }: Command) => {
    const steps = args.length === 0 ? firstSteps(process.argv[1] ?? '', process.cwd()) : undefined;
    if (steps !== undefined) return finish(Promise.reject(new Error(steps)));
    return finish(runHub(paths, options));
  });

program
  .command('init')
  .description('make a folder to begin with: flow files with tests, a dashboard and a README; or add a recipe to one')
  .argument('[folder]', 'where; what is there already is never touched', '.')
  .option('--recipe <name>', 'copy this recipe: `recipes` lists them')
  .option('--set <name=value>', 'a variable of the recipe, such as an address of yours; once for each', collect)
  .option('--as <name>', 'the name of the copy (default: that of the recipe)')
  .option('--data <folder>', 'where the hub keeps values and their history (default: "flows/data")')
  .option('--bind-ip <address>', "who may come: '' is the whole network (default: this machine alone)")
  .action((folder: string, options: InitOptions) =>
    finish(
      Promise.all([import('./command/init.ts'), import('./command/recipe.ts')]).then(([{ init }, { askVariables }]) => {
        const isAnswered = process.stdin.isTTY && process.stdout.isTTY;
        const ask = (recipe: Recipe) => askVariables(recipe, process.stdin, process.stdout);
        const call = calledAs(process.argv[1] ?? '', resolve(folder));
        return init(folder, call, console, isAnswered ? { ...options, ask } : options);
      }),
    ),
  );

program
  .command('recipes')
  .description('list the recipes of the cookbook; of one, what it is for and its variables')
  .argument('[recipe]', 'the name of a recipe: tally/two-microphones')
  .action((recipe: string | undefined) =>
    finish(import('./command/recipe.ts').then(({ recipes }) => recipes(recipe, console))),
  );

program
  .command('check')
  .description('check flow files and folders, and name every mistake; exit status 1 when there is any')
  .argument('[paths...]', 'flow files and folders', [defaultFolder])
  .action((paths: string[]) => finish(import('./command/check-command.ts').then(({ check }) => check(paths, console))));

program
  .command('test')
  .description('run the tests of flow files in virtual time; exit status 1 when one fails')
  .argument('[paths...]', 'flow files and folders', [defaultFolder])
  .option('--together', 'all files are one installation; left out, each file is one by itself')
  .action((paths: string[], options: TestOptions) =>
    finish(import('./command/test.ts').then(({ test }) => test(paths, options, console))),
  );

program
  .command('schema')
  .description('print the JSON Schema of flow files, for editors')
  .option('--dashboard', 'that of dashboards instead')
  .action(({ dashboard = false }: { dashboard?: boolean }) =>
    finish(import('./command/schema-command.ts').then(({ schema }) => schema(dashboard, console))),
  );

remote('types', 'print a declaration file with every address, for flow files in TypeScript')
  .argument('[paths...]', 'flow files and folders', [defaultFolder])
  .option('--module <name>', 'what the flow files import defineFlow from', 'patchbay-hub')
  .option('--remote', 'print the parameters of other hubs that a running hub mirrors, as JSON, instead')
  .action((paths: string[], options: RemoteOptions & { module: string; remote?: boolean }) =>
    finish(
      options.remote
        ? import('./command/remote/types-of-hub.ts').then(({ remoteTypes }) => remoteTypes(options, console))
        : import('./command/types-command.ts').then(({ types }) => types(paths, options.module, console)),
    ),
  );

program
  .command('permissions')
  .description('print the least that a NATS server has to permit this hub')
  .argument('[paths...]', 'flow files and folders', [defaultFolder])
  .action((paths: string[]) =>
    finish(import('./command/permissions.ts').then(({ permissions }) => permissions(paths, console))),
  );

program
  .command('keys')
  .description('print the names of keys for keyboard connections, and on which side each works')
  .action(() => finish(import('./command/keys-command.ts').then(({ keys }) => keys(console))));

program
  .command('password')
  .description('read a password, and print the text that stands for it in a flow file')
  .action(() => finish(import('./command/password.ts').then(({ password }) => password(process.stdin, console))));

remote('get', 'print the value of a parameter of a running hub')
  .option('--json', 'print the JSON value')
  .argument('<address>', '<Connection ID>/<Parameter ID>')
  .action((address: string, options: RemoteOptions & { json?: boolean }) =>
    finish(import('./command/remote/values.ts').then(({ get }) => get(address, options, console))),
  );

remote('set', 'set a parameter of a running hub, or fire a trigger')
  .argument('<address>', '<Connection ID>/<Parameter ID>')
  .argument('[value]', 'the new value, converted to the type of the parameter; left out: fire')
  .allowUnknownOption() // a value may begin with a minus
  .action((address: string, value: string | undefined, options: RemoteOptions) =>
    finish(
      import('./command/remote/values.ts').then(({ expectOperands, set }) => {
        expectOperands([address, value], process.argv);
        return set(address, value, options, console);
      }),
    ),
  );

remote('watch', 'print the value of a parameter of a running hub and every change, until interrupted')
  .argument('<address>', '<Connection ID>/<Parameter ID>')
  .action((address: string, options: RemoteOptions) =>
    finish(import('./command/remote/values.ts').then(({ watch }) => watch(address, options, console, untilStopped))),
  );

remote('explain', 'print why a parameter of a running hub is as it is, back to what happened outside')
  .argument('<address>', '<Connection ID>/<Parameter ID>')
  .action((address: string, options: RemoteOptions) =>
    finish(import('./command/remote/why-command.ts').then(({ explain }) => explain(address, options, console))),
  );

remote('trace', 'print the last runs of a rule of a running hub')
  .argument('<rule>', 'the name of the rule')
  .action((rule: string, options: RemoteOptions) =>
    finish(import('./command/remote/why-command.ts').then(({ trace }) => trace(rule, options, console))),
  );

remote('reload', 'have a running hub read its flow files again, and take over what has changed')
  .option('--shadow', 'run in shadow what has changed, and what is saved from then on, until a reload without')
  .action((options: RemoteOptions & { shadow?: boolean }) =>
    finish(import('./command/remote/shadow-command.ts').then(({ reload }) => reload(options, console))),
  );

remote('shadow', 'print what the rules in shadow of a running hub would have done, beside what was done')
  .option('--json', 'print the JSON of the hub')
  .action((options: RemoteOptions & { json?: boolean }) =>
    finish(import('./command/remote/shadow-command.ts').then(({ shadow }) => shadow(options, console))),
  );

remote('record', 'keep what comes from outside of a running hub in a file, until interrupted')
  .option('--for <duration>', 'so long at most: 1h')
  .option('--max-bytes <count>', 'so much at most', '1000000000')
  .argument('<file>', 'the recording that is written; there must be none of this name')
  .action((file: string, options: RecordOptions) =>
    finish(
      import('./command/remote/record-command.ts').then(({ record }) => record(file, options, console, untilStopped)),
    ),
  );

program
  .command('replay')
  .description('run flow files in virtual time on a recording, and print where others would differ from them')
  .argument('<file>', 'the recording')
  .argument('[paths...]', 'flow files and folders as they are', [defaultFolder])
  .requiredOption('--flows <paths...>', 'flow files and folders as they would be')
  .option('--limit <count>', 'the first so many deviations', '1000')
  .action((file: string, paths: string[], options: ReplayOptions) =>
    finish(import('./command/remote/record-command.ts').then(({ replay }) => replay(file, paths, options, console))),
  );

remote('audit', 'print who did what with a running hub that has a store: changes from outside, and what operators did')
  .option('--from <time>', '2026-11-22T03:00, or so long before now: -1h, -7d', '-1h')
  .option('--to <time>', 'the same; left out, now')
  .option('--address <glob>', "only these parameters: 'desk/*'")
  .option('--user <text>', 'a part of the name of who did it')
  .option('--kind <kind>', `one of ${auditKinds.join(', ')}`)
  .option('--text <text>', 'a part of the address, the user, a value or the cause')
  .option('--limit <count>', 'the newest so many', '1000')
  .option('--json', 'print each entry as JSON')
  .action((options: AuditOptions) =>
    finish(import('./command/remote/audit-command.ts').then(({ audit }) => audit(options, console))),
  );

remote('history', 'print what a parameter of a running hub was, as far as its store knows')
  .option('--from <time>', '2026-11-22T03:00, or so long before now: -1h, -7d', '-1h')
  .option('--to <time>', 'the same; left out, now')
  .option('--points <count>', 'how many lines at most, about; 1000 when it is left out')
  .option('--csv', 'print CSV')
  .option('--json', 'print the JSON of the hub')
  .argument('<address>', '<Connection ID>/<Parameter ID>')
  .action((address: string, options: HistoryOptions) =>
    finish(import('./command/remote/history-command.ts').then(({ history }) => history(address, options, console))),
  );

remote('events', 'print what happened to a parameter of a running hub, who did it and why, as far as its store knows')
  .option('--from <time>', '2026-11-22T03:00, or so long before now: -1h, -7d; left out, the beginning')
  .option('--to <time>', 'the same; left out, now')
  .option('--limit <count>', 'the newest so many', '100')
  .option('--json', 'print each event as JSON')
  .argument('<address>', '<Connection ID>/<Parameter ID>')
  .action((address: string, options: EventsOptions) =>
    finish(import('./command/remote/events-command.ts').then(({ events }) => events(address, options, console))),
  );

remote('backup', 'write a backup of a running hub into a file: its flow files, dashboards and databases')
  .argument('<file>', 'the archive that is written, a .tar; one of this name is replaced')
  .action((file: string, options: RemoteOptions) =>
    finish(import('./command/remote/backup-command.ts').then(({ backup }) => backup(file, options, console))),
  );

program
  .command('restore')
  .description('restore a backup into an empty folder')
  .argument('<file>', 'the archive')
  .argument('<folder>', 'an empty folder, or one that there is not yet')
  .action((file: string, folder: string) =>
    finish(
      import('./command/remote/backup-command.ts').then(({ restore }) =>
        restore(file, folder, calledAs(process.argv[1] ?? '', process.cwd()), console),
      ),
    ),
  );

await program.parseAsync();

async function runHub(paths: readonly string[], options: RunSettings): Promise<number> {
  onReloadSignal(() => {}); // one that comes before any file was read ends nothing, and has nothing to reload
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

/** What was typed may be a password: an option that is misspelt is told without its value, and arguments are counted. */
function withoutArguments(text: string): string {
  return text.replace(/('-[^'=]*=)[^']*'/g, "$1***'").replace(/( but got \d+): .*\.$/m, '$1.');
}

/** The values of an option that may be there several times. */
function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

function remote(name: string, description: string): Command {
  return program
    .command(name)
    .description(description)
    .option('--url <url>', 'where the hub is', process.env.PATCHBAY_URL ?? 'http://localhost:17011')
    .option('--username <name>', 'for HTTP Basic', process.env.PATCHBAY_USERNAME ?? '')
    .option('--password <password>', 'for HTTP Basic', process.env.PATCHBAY_PASSWORD ?? '')
    .option('--token <token>', 'for HTTP Bearer', process.env.PATCHBAY_TOKEN ?? '');
}

/** Standard output, which does not block from then on: Node lets pipes and sockets be so, but not terminals. */
function unblockedOutput(): number {
  const { _handle: handle } = process.stdout as { _handle?: { setBlocking?(isBlocking: boolean): void } };
  if (process.stdout.isTTY) handle?.setBlocking?.(false);
  return 1;
}

function onExit(work: () => void): void {
  process.on('exit', work);
}

/** Calls back at each SIGHUP. */
function onReloadSignal(reload: () => void): void {
  process.on('SIGHUP', reload);
}
