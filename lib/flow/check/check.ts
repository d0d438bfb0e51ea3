// Checks all flow files together before anything starts: settings, addresses across files, rules, tests, and conflicting claims of two
// connections. Errors go to the list of mistakes; everything else becomes the hub's plan.

import type { AnyConnectionType } from '../../connections/connection.ts';
import type { MistakeList } from '../../json5/mistake.ts';
import type { FlowFile } from '../files/flow-file.ts';
import type { ConnectionPlan, Plan, RulePlan } from '../plan.ts';
import { privateFilesOf } from '../private-files.ts';
import { ConnectionCheck } from './connections/check-connections.ts';
import { hubConnection, type KnownConnections } from './connections/declarations.ts';
import { RuleCheck } from './rules/check-rules.ts';
import type { Folders, KnownRules } from './rules/known-rules.ts';
import { warningsOf } from './rules/rule-warnings.ts';
import { flowFileSchema, flowProgramSchema } from './schema.ts';
import { type FindDeclaration, SourceLocation } from './source-location.ts';
import { checkTests, type Testable } from './tests/tests.ts';

/** Checks flow files together. The plan contains everything that has no errors; do not run the plan if there are any errors. */
export function checkFlowFiles(
  files: readonly FlowFile[],
  types: ReadonlyMap<string, AnyConnectionType>,
  mistakes: MistakeList,
): Plan {
  return new FlowCheck(types).check(files, mistakes);
}

/** Checks flow files repeatedly. Parts that have not changed since the last check keep their plans and are not checked again. */
export class FlowCheck {
  readonly #types: ReadonlyMap<string, AnyConnectionType>;
  #connections: KnownConnections | undefined;
  #rules: KnownRules | undefined;

  constructor(types: ReadonlyMap<string, AnyConnectionType>) {
    this.#types = types;
  }

  check(files: readonly FlowFile[], mistakes: MistakeList): Plan {
    const countBefore = mistakes.count;
    const contents = files.flatMap((file) => {
      const location = new SourceLocation(file, mistakes);
      const data = location.parse(isProgram(file.data) ? flowProgramSchema : flowFileSchema, file.data, true);
      return data === undefined ? [] : [{ location, data }];
    });
    const connectionCheck = new ConnectionCheck(this.#types, this.#connections);
    for (const { location, data } of contents)
      for (const [id, settings] of Object.entries(data.connections))
        connectionCheck.add(location.at('connections', id), id, settings);
    const declared = connectionCheck.finish();
    const find: FindDeclaration = (...wanted) => connectionCheck.find(...wanted);

    const ruleCheck = new RuleCheck(find, connectionCheck.declaresTheSame ? this.#rules : undefined);
    for (const { location, data } of contents)
      if (typeof data.rules === 'function') ruleCheck.addProgram(location.at('rules'), data.rules, data.shadow);
      else ruleCheck.addAll(location.at('rules'), data.rules ?? [], foldersOf(location.file, data.shadow));
    const externals = new Set(declared.filter(({ type }) => type.isExternal).map(({ id }) => id));
    const isRemote = (connectionId: string) => connectionCheck.isRemote(connectionId);
    const isExternal = (id: string) => externals.has(id) || isRemote(id);
    const testable: Testable = { find, isRemote, isExternal, connections: declared };
    const tests = contents.flatMap(({ location, data }) =>
      checkTests(location.at('tests'), data.tests, testable, new Set(Object.keys(data.connections))),
    );
    const describes = contents.flatMap(({ location, data }) =>
      Object.entries(data.describe).map(([glob, about]) => {
        if (!glob.includes('*')) find(location.at('describe', glob), glob);
        return { glob, about };
      }),
    );
    const namesHub = connectionCheck.isHubNamed || ruleCheck.namesHub;
    const connections = namesHub ? [...declared, hubConnection] : declared;
    const rules = ruleCheck.finish(connections);
    if (mistakes.count === countBefore) {
      this.#connections = connectionCheck.known;
      this.#rules = ruleCheck.known;
    }
    const reports = reportFiles(files, connections, rules);
    const templates = files.flatMap((file) => file.templates ?? []);
    const furtherFiles = [...templates, ...connectionCheck.namedFiles];
    const hints = () => connectionCheck.hints(privateFilesOf({ files: reports, connections, furtherFiles }));
    const furtherMistakes = () => connectionCheck.furtherMistakes();
    const placeOf = ruleCheck.placesOf(rules);
    const typeOf = (address: string) => connectionCheck.typeOf(address);
    const aboutRules = mistakes.count > countBefore ? [] : warningsOf({ rules, connections, placeOf, typeOf });
    const warnings = [...mistakes.warnings, ...aboutRules];
    const lineAbout = (id: string, reason: string) => connectionCheck.lineAbout(id, reason);
    const looks = { hints, furtherMistakes, placeOf, lineAbout };
    return { warnings, ...looks, files: reports, connections, rules, tests, describes, templates, furtherFiles };
  }
}

/** Returns the folders that enclose all rules in a flow file: for an instance, a folder with its name; for any other file, no folders. */
function foldersOf({ instance }: FlowFile, isShadow: boolean): Folders {
  return { names: instance === undefined ? [] : [instance], isEnabled: true, isShadow };
}

/** Returns whether a flow file's data comes from TypeScript, in which case `rules` is a function. */
function isProgram(data: unknown): boolean {
  return typeof data === 'object' && data !== null && 'rules' in data && typeof data.rules === 'function';
}

/** Returns the number of connections and rules that each flow file declares. */
function reportFiles(
  files: readonly FlowFile[],
  connections: readonly ConnectionPlan[],
  rules: readonly RulePlan[],
): Plan['files'] {
  const connectionsBy = Map.groupBy(connections, ({ file }) => file);
  const rulesBy = Map.groupBy(rules, ({ file }) => file);
  return [...new Set(files.map(({ name }) => name))].map((name) => ({
    path: name,
    connections: connectionsBy.get(name)?.length ?? 0,
    rules: rulesBy.get(name)?.length ?? 0,
  }));
}
