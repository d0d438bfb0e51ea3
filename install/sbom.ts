// npm run sbom: prints the components of an installed hub, as CycloneDX. `npm sbom --omit dev` also leaves out packages that a
// development tool needs too, such as json5; so this asks for everything, and keeps what the hub's own dependencies lead to.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Bill, npmSbom, withBuiltIn } from './packing.ts';

/** The names of packages, each with the requested version; `npm:<name>@<version>` is a package under another name. */
type Wanted = Readonly<Record<string, string>>;

const root = join(import.meta.dirname, '..');
const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const bill = npmSbom(root);
const kept = withBuiltIn(keepWanted(bill, { ...dependencies, ...optionalDependencies }), bill);
process.stdout.write(`${JSON.stringify(kept, undefined, 2)}\n`);

/** Keeps the root, and everything that the given dependencies of the root lead to. */
function keepWanted(bill: Bill, wanted: Wanted): Bill {
  const root = bill.metadata.component['bom-ref'];
  const names = new Set(Object.entries(wanted).map(([name, version]) => /^npm:(.+)@/.exec(version)?.[1] ?? name));
  const isNamed = (ref: string) => names.has(ref.slice(0, ref.lastIndexOf('@')));
  const edges = bill.dependencies.map(
    ({ ref, dependsOn }) => [ref, ref === root ? dependsOn.filter(isNamed) : dependsOn] as const,
  );
  const found = new Set([root]);
  const byRef = new Map(edges);
  for (const ref of found) for (const next of byRef.get(ref) ?? []) found.add(next); // the set grows during the loop
  return {
    ...bill,
    components: bill.components.filter((component) => found.has(component['bom-ref'])),
    dependencies: edges.filter(([ref]) => found.has(ref)).map(([ref, dependsOn]) => ({ ref, dependsOn })),
  };
}
