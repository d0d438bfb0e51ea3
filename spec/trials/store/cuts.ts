// npm run trial -- cuts: damages the databases of a store in every way that a disk may, cut at every 4 KiB and with turned bits among
// them, and starts a hub on each. The hub has to start, to have what the database has or to say that it is lost, never to have other
// values, and to keep what is new. It also fills the disk while a hub runs, and has the store fill it. Exit status 1 otherwise.

import { type Numbers, runScript, tell } from '../script.ts';
import { crowdDisk } from './cuts/crowded-disk.ts';
import { type Cuts, prepareCuts } from './cuts/cuts.ts';
import { cutAt, folderInPlace, noise, readOnly, turnBits } from './cuts/damages.ts';
import { fillDisk } from './cuts/full-disk.ts';
import { prepareRecords } from './cuts/records.ts';

const usage = `npm run trial -- cuts [options]

  --parameters <n>  how many values the database of the values has (10000)
  --changes <n>     how many changes those of the history and the audit have (10000)
  --every <bytes>   at which lengths it is cut (4096)
  --turns <n>       how often bits are turned; a tenth as often bytes become noise (200)
`;

await runScript(usage, { parameters: 10_000, changes: 10_000, every: 4096, turns: 200 }, run);

async function run({
  parameters,
  changes,
  every,
  turns,
}: Numbers<'parameters' | 'changes' | 'every' | 'turns'>): Promise<number> {
  let failed = 0;
  for (const [what, work] of Object.entries({ 'a full disk': fillDisk, 'a crowded disk': crowdDisk })) {
    const done = await work();
    if ('reason' in done) tell(`${what} is left out: ${done.reason}`);
    else for (const mistake of done.mistakes) tell(`${what}: ${mistake}`);
    if ('mistakes' in done && done.mistakes.length > 0) failed++;
  }
  const isAdministrator = process.getuid?.() === 0;
  if (isAdministrator) process.seteuid?.('nobody'); // rights bind it
  const databases = {
    values: () => prepareCuts(parameters),
    history: () => prepareRecords(['history'], changes),
    audit: () => prepareRecords(['audit'], changes),
  };
  for (const [name, prepare] of Object.entries(databases))
    failed += await damageAll(name, await prepare(), every, turns);
  return failed === 0 ? 0 : 1;
}

/** Returns how many damages a hub did not bear. */
async function damageAll(name: string, cuts: Cuts, every: number, turns: number): Promise<number> {
  const damages = [
    folderInPlace,
    ...readOnly,
    ...Array.from({ length: Math.ceil(cuts.bytes / every) }, (_, index) => cutAt(index * every)),
    ...Array.from({ length: turns }, (_, index) => turnBits(1 + (index % 8) ** 2, index)),
    ...Array.from({ length: turns / 10 }, (_, index) => noise(16 * 4 ** (index % 8), index)),
  ];
  let failed = 0;
  let slowestMs = 0;
  let costly = 0;
  try {
    for (const { what, damage, repair } of damages) {
      const { mistakes, startMs, lost } = await cuts.start(damage, repair);
      slowestMs = Math.max(slowestMs, startMs);
      if (lost > 0) costly++;
      if (mistakes.length > 0) failed++;
      for (const mistake of mistakes.slice(0, 5)) tell(`${name}, ${what}: ${mistake}`);
    }
  } finally {
    await cuts.remove();
  }
  tell(
    `${name}: ${damages.length} damages, ${failed} of them with a mistake; ${costly} cost something; ` +
      `slowest start ${slowestMs.toFixed(0)} ms`,
  );
  return failed;
}
