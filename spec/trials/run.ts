// `npm run trial -- fuzz --seed 7` runs a trial, `npm run trial` lists them. Exit status 1 if a check failed.

import { messageOf } from '../../lib/model/error.ts';
import { chosenOf, listOf, notify, type Trial } from './trial.ts';

/** By name. Each is read when it is run. */
const trials: Readonly<Record<string, () => Promise<{ readonly trial: Trial }>>> = {
  abuse: () => import('./abuse/abuse.ts'),
  clock: () => import('./clock/clock.ts'),
  'console-load': () => import('./console-load.ts'),
  companion: () => import('./companion/companion.ts'),
  dmx: () => import('./dmx/dmx.ts'),
  devices: () => import('./devices/devices.ts'),
  'editing-faults': () => import('./editing-faults.ts'),
  editing: () => import('./editing/editing.ts'),
  operator: () => import('./operator/operator.ts'),
  edits: () => import('./edits.ts'),
  'ember-plus': () => import('./ember-plus/ember-plus.ts'),
  framings: () => import('./framings.ts'),
  fuzz: () => import('./fuzz/fuzz.ts'),
  'home-assistant': () => import('./home-assistant/home-assistant.ts'),
  misbehave: () => import('./misbehave/misbehave.ts'),
  modbus: () => import('./modbus/modbus.ts'),
  networks: () => import('./networks/networks.ts'),
  osc: () => import('./osc/osc.ts'),
  recipes: () => import('./recipes.ts'),
  resume: () => import('./resume/resume.ts'),
  satellite: () => import('./satellite/satellite.ts'),
  shadow: () => import('./shadow/shadow.ts'),
  standards: () => import('./standards/standards.ts'),
  snmp: () => import('./snmp/snmp.ts'),
  soak: () => import('./soak/soak.ts'),
  webhooks: () => import('./webhooks/webhooks.ts'),
  backup: () => import('./store/backup.ts'),
  cuts: () => import('./store/cuts.ts'),
  due: () => import('./store/due.ts'),
  kills: () => import('./store/kills.ts'),
  recording: () => import('./store/recording.ts'),
  faults: () => import('./domain/faults.ts'),
  isolation: () => import('./domain/isolation.ts'),
  rogue: () => import('./domain/rogue.ts'),
};

const groups: Readonly<Record<string, readonly string[]>> = {
  store: ['backup', 'cuts', 'due', 'kills', 'recording'],
  domain: ['faults', 'isolation', 'rogue'],
};

const [name, ...args] = process.argv.slice(2);
process.stdout.once('error', () => process.exit()); // who reads has gone, as `| head` does
try {
  if (name === undefined) await list();
  else for (const one of groups[name] ?? [name]) await run(one);
} catch (error) {
  notify(messageOf(error));
  process.exitCode = 1;
}

async function run(one: string): Promise<void> {
  for (const [, read] of chosenOf(trials, [one])) {
    const { trial } = await read();
    if (args.includes('--help')) notify(trial.usage(one));
    else if (!(await trial.run(args))) process.exitCode = 1;
  }
}

async function list(): Promise<void> {
  const all = Object.entries(trials).map(async ([one, read]) => [one, (await read()).trial] as const);
  notify(listOf(Object.fromEntries(await Promise.all(all))));
  for (const [group, names] of Object.entries(groups)) notify(`${group}: ${names.join(', ')}`);
}
