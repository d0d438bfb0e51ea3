// npm run sbom: prints what the hub is made of when it is installed, as CycloneDX. `npm sbom --omit dev` leaves out what a tool for
// developers needs as well, such as json5; so this asks for everything, and keeps what the hub's own dependencies lead to.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Bill, npmSbom } from './packing.ts';

/** The names of packages, each with the version that is asked for; `npm:<name>@<version>` is one under another name. */
type Wanted = Readonly<Record<string, string>>;

const root = join(import.meta.dirname, '..');
const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const bill = npmSbom(root);
const kept = keepWanted(bill, { ...dependencies, ...optionalDependencies });
process.stdout.write(`${JSON.stringify(kept, undefined, 2)}\n`);

/** What some of the dependencies of the root lead to, and the root. */
function keepWanted(bill: Bill, wanted: Wanted): Bill {
  const root = bill.metadata.component['bom-ref'];
  const names = new Set(Object.entries(wanted).map(([name, version]) => /^npm:(.+)@/.exec(version)?.[1] ?? name));
  const isNamed = (ref: string) => names.has(ref.slice(0, ref.lastIndexOf('@')));
  const edges = bill.dependencies.map(
    ({ ref, dependsOn }) => [ref, ref === root ? dependsOn.filter(isNamed) : dependsOn] as const,
  );
  const found = new Set([root]);
  const byRef = new Map(edges);
  for (const ref of found) for (const next of byRef.get(ref) ?? []) found.add(next); // the set grows while it is walked
  return {
    ...bill,
    components: bill.components.filter((component) => found.has(component['bom-ref'])),
    dependencies: edges.filter(([ref]) => found.has(ref)).map(([ref, dependsOn]) => ({ ref, dependsOn })),
  };
}
