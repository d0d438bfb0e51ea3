// Instances: `instances: { template: './_studio.json5', each: { s1: { host: '…' }, s2: { … } } }` creates a flow file for each instance
// from the template and the instance's variables. Relative paths start from the folder of the file that contains the instances. A flow file
// with `variables` is expanded with them.

import { basename, resolve } from 'node:path';
import type { CheckedFile, MistakeList, SettingPath } from '../../json5/mistake.ts';
import { nearestName } from '../../json5/nearest-name.ts';
import { isJsonObject } from '../../model/json-object.ts';
import { Budget, expand, type Unknown } from '../../template/expand.ts';
import { Scope, unknownVariable } from '../../template/scope.ts';
import { instancesSchema } from '../instances-schema.ts';
import { versionOf } from '../programs/flow-code.ts';
import type { FlowFile } from './flow-file.ts';
import { type ReadFile, readFromDisk, readTemplate, readVariables, type Template } from './flow-template.ts';

type Variables = Template['defaults'];

/** Expands the variables in a flow file. Returns the file and a flow file for each of its instances. */
export async function expandFlowFile(
  file: FlowFile,
  text: string,
  mistakes: MistakeList,
  read: ReadFile = readFromDisk,
): Promise<FlowFile[]> {
  const budget = new Budget();
  const whole: FlowFile = { ...file, ...expandOwn(file, text, budget, mistakes) };
  if (!isJsonObject(whole.data) || !('instances' in whole.data)) return [whole];
  const { instances, ...data } = whole.data;
  const templates: string[] = [];
  const made: FlowFile[] = [];
  for (const [index, item] of [instances].flat().entries()) {
    const path = Array.isArray(instances) ? ['instances', index] : ['instances'];
    const parsed = mistakes.parse(instancesSchema, item, whole, path);
    if (parsed === undefined) continue;
    templates.push(resolve(file.folder, parsed.template));
    const template = await readTemplate(whole, [...path, 'template'], parsed.template, mistakes, read);
    if (template !== undefined)
      made.push(...new Maker(whole, [...path, 'each'], template, budget, mistakes).make(parsed.each));
  }
  return [{ ...whole, data, templates }, ...made];
}

/** Expands a flow file with its own variables and with `${instance}`, which stands for the file's name. */
function expandOwn(
  file: FlowFile,
  text: string,
  budget: Budget,
  mistakes: MistakeList,
): CheckedFile & { data: unknown } {
  if (!isJsonObject(file.data) || !('variables' in file.data)) return expand(file, text, mistakes, { budget });
  const { variables, ...data } = file.data;
  const defaults = readVariables(file, variables, mistakes);
  if (defaults === undefined) return { ...file, data: {} }; // otherwise every variable would be reported as unknown
  const used = new Set<string>();
  const own = new Map([['instance', basename(file.name, '.json5')]]);
  const expanded = expandWith({ ...file, data }, text, defaults, new Scope(own, used, undefined, ''), mistakes, {
    budget,
  });
  reportUnused(file, defaults, used, mistakes);
  return expanded;
}

function reportUnused(file: CheckedFile, variables: Variables, used: ReadonlySet<string>, mistakes: MistakeList): void {
  for (const name of Object.keys(variables))
    if (!used.has(name) && name !== 'instance')
      mistakes.add(file, ['variables', name], `unused variable "${name}": nothing uses \${${name}}`);
}

/** Expands data with the variables in a scope, and with the defaults for all other variables. Defaults may use variables in the scope. */
function expandWith(
  file: CheckedFile & { readonly data: unknown },
  text: string,
  defaults: Variables,
  own: Scope,
  mistakes: MistakeList,
  options: Parameters<typeof expand>[3],
): ReturnType<typeof expand> {
  const settled = expand({ ...file, data: { variables: defaults } }, text, mistakes, { ...options, scope: own });
  const { variables } = settled.data as { variables: Variables };
  return expand(file, text, mistakes, { ...options, scope: own.with(variables) });
}

/** Creates the instances of one template, as flow files. */
class Maker {
  readonly #file: FlowFile;
  readonly #path: SettingPath;
  readonly #template: Template;
  readonly #budget: Budget;
  readonly #mistakes: MistakeList;
  /** The names of the template's variables that any instance has used. */
  readonly #used = new Set<string>();

  /** `path` is the path of the `instances` setting in the file. */
  constructor(file: FlowFile, path: SettingPath, template: Template, budget: Budget, mistakes: MistakeList) {
    this.#file = file;
    this.#path = path;
    this.#template = template;
    this.#budget = budget;
    this.#mistakes = mistakes;
  }

  make(each: Readonly<Record<string, Variables>>): FlowFile[] {
    const givenSomewhere = new Set(Object.values(each).flatMap((given) => Object.keys(given)));
    const made = Object.entries(each).flatMap(([name, given]) =>
      this.#budget.isSpent ? [] : [this.#makeOne(name, given, givenSomewhere)],
    );
    if (made.length > 0) reportUnused(this.#template, this.#template.defaults, this.#used, this.#mistakes);
    return made;
  }

  #makeOne(instance: string, given: Variables, givenSomewhere: ReadonlySet<string>): FlowFile {
    const { name, folder } = this.#file;
    const { text, defaults, version } = this.#template;
    const [budget, mistakes, title] = [this.#budget, this.#mistakes, `instance ${instance} of ${name}`];
    const spent = budget.take(1);
    if (spent !== undefined) mistakes.add(this.#file, [...this.#path, instance], spent);
    const used = new Set<string>();
    const unknown: Unknown[] = [];
    const own = new Map(Object.entries({ ...given, instance }));
    const options = { budget, instance, onUnknown: (one: Unknown) => void unknown.push(one) };
    const scope = new Scope(own, used, undefined, title);
    const expanded = expandWith(this.#template, text, defaults, scope, mistakes, options);
    const unused = Object.keys(given).filter((variable) => !used.has(variable));
    this.#reportVariables(instance, unused, unknown, scope, givenSomewhere);
    for (const variable of used) this.#used.add(variable);
    const ownVersion = versionOf(Buffer.from(JSON.stringify([version, instance, given])));
    return { ...expanded, name, folder, version: ownVersion, instance };
  }

  /** Reports each unknown or unused variable once, and a misspelt variable only where its value is given. */
  #reportVariables(
    instance: string,
    unused: readonly string[],
    unknown: readonly Unknown[],
    scope: Scope,
    givenSomewhere: ReadonlySet<string>,
  ): void {
    const missing = new Map(unknown.map((one) => [one.name, one]).reverse() as [string, Unknown][]);
    const at = (...path: string[]) => [...this.#path, instance, ...path];
    for (const name of unused) {
      const nearest = nearestName(name, [...missing.keys()]);
      missing.delete(nearest ?? '');
      const message =
        name === 'instance'
          ? 'expected a different name, because ${instance} stands for the name of the instance'
          : nearest === undefined
            ? `unused variable "${name}": ${this.#template.name} does not use \${${name}}`
            : `unknown variable "${name}", did you mean "${nearest}"?`;
      this.#mistakes.add(this.#file, at(name), message);
    }
    for (const [name, { report }] of missing)
      if (givenSomewhere.has(name))
        this.#mistakes.add(this.#file, at(), `expected the variable "${name}" as in other instances, got none`);
      else report(unknownVariable(name, scope.names));
  }
}
