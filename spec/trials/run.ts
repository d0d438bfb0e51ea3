// `npm run trial -- fuzz --seed 7`: runs a trial. Without a name it lists them.

import { chosenOf, tell } from './script.ts';

const trials: Readonly<Record<string, string>> = {
  abuse: './abuse.ts',
  backup: './store/backup.ts',
  cuts: './store/cuts.ts',
  due: './store/due.ts',
  faults: './domain/faults.ts',
  fuzz: './fuzz.ts',
  isolation: './domain/isolated.ts',
  kills: './store/kills.ts',
  misbehave: './misbehave.ts',
  networks: './networks.ts',
  recipes: './recipes.ts',
  resume: './resume.ts',
  shadow: './shadow.ts',
  soak: './soak.ts',
};

const [name] = process.argv.splice(2, 1);
if (name === undefined) tell(Object.keys(trials).join('\n'));
else
  try {
    for (const [, path] of chosenOf(trials, [name])) await import(path);
  } catch (error) {
    tell(String(error));
    process.exitCode = 1;
  }
