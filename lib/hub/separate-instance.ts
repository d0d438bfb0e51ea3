// Turns an instance of a template into a separate flow file, as a person would: a copy of the template beside the file that lists the
// instances, with the instance's values as its variables. The new file has the name of the instance, so `${instance}` stays the same.

import { dirname, join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { FileEdit } from '../connections/editing.ts';
import { type EditOp, editJson5 } from '../json5/edit-json5.ts';
import { nodeAt, readTree } from '../json5/json5-tree.ts';
import { formatPath, type Path, parsePath, positionAt } from '../json5/positions.ts';
import { parseJson5 } from '../json5/read-json5.ts';
import { HubError } from '../model/error.ts';
import { isJsonObject } from '../model/json-object.ts';
import type { FileText } from './edit-files.ts';

interface Instance {
  readonly name: string;
  /** The absolute path of the template from which the instance is created. */
  readonly templatePath: string;
  /** The name of the flow file that lists the instance. */
  readonly list: string;
  readonly listPath: string;
}

/** The order in which a person writes the parts of a flow file. */
const order = ['variables', 'connections', 'describe', 'rules', 'tests'];

/**
 * A change set, and the location in the new file, such as `s2.json5:4:5`, that corresponds to the location that was open in the template.
 */
export interface Separation {
  readonly files: readonly FileEdit[];
  readonly place: string;
}

/** Returns the change set that turns an instance into a separate file. `path` is a location in the template. Errors: `conflict`. */
export function separateInstance(instance: Instance, template: FileText, list: FileText, path: string): Separation {
  const { at, given, isOnly } = findIn(instance, list);
  if (JSON.stringify(given).includes('${'))
    throw new HubError(
      'conflict',
      `${instance.list}: expected values without variables: separate the instance by hand`,
    );
  const { text } = editJson5(template.text, valuesOf(template.text, given), () => order);
  const file = join(dirname(instance.list), `${instance.name}.json5`);
  const opened = nodeAt(readTree(text), parsePath(path) ?? []);
  const { line, column } = positionAt(text, opened?.start ?? 0);
  const left = isOnly ? at : [...at, 'each', instance.name];
  return {
    files: [
      { file: instance.list, base: list.etag, ops: [{ path: formatPath(left), remove: true }] },
      { file, base: '', ops: [{ path: '', text }] },
    ],
    place: `${file}:${line}:${column}`,
  };
}

/**
 * Finds an instance in the file that lists it. `isOnly` states whether this is the only instance at its location. Errors: `conflict` if the
 * instance no longer exists.
 */
function findIn({ name, list, listPath, templatePath }: Instance, { text }: FileText) {
  const data = parseJson5(text);
  const instances = isJsonObject(data) ? data.instances : undefined;
  for (const [index, item] of [instances].flat().entries()) {
    if (!isJsonObject(item) || !isJsonObject(item.each) || typeof item.template !== 'string') continue;
    if (resolve(dirname(listPath), item.template) !== templatePath || !Object.hasOwn(item.each, name)) continue;
    const isList = Array.isArray(instances) && instances.length > 1;
    const at: Path =
      Array.isArray(instances) && (isList || Object.keys(item.each).length > 1) ? ['instances', index] : ['instances'];
    return { at, given: item.each[name] as Record<string, unknown>, isOnly: Object.keys(item.each).length === 1 };
  }
  throw new HubError('conflict', `${list}: expected the instance "${name}": open the rule again`);
}

/** Returns the edits that set the values of an instance as variables in a template. */
function valuesOf(template: string, given: Readonly<Record<string, unknown>>): EditOp[] {
  const data = parseJson5(template);
  const variables = isJsonObject(data) && isJsonObject(data.variables) ? data.variables : undefined;
  if (variables === undefined) return Object.keys(given).length === 0 ? [] : [{ path: 'variables', set: given }];
  return Object.entries(given)
    .filter(([name, value]) => !isDeepStrictEqual(variables[name], value))
    .map(([name, value]) => ({ path: formatPath(['variables', name]), set: value }));
}
