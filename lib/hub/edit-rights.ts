// Checks what an edit may change: users never gain access to anything that they may not read, write or manage. The check compares the
// expanded files before and after the edit, so variables, `each` and templates hide nothing. The check considers only the text of the edit,
// and thus does not reveal what exists.

import type { AnyConnectionType } from '../connections/connection.ts';
import type { EditRights } from '../connections/editing.ts';
import type { FlowFile } from '../flow/files/flow-file.ts';
import { keyOfFile } from '../flow/files/flow-file.ts';
import type { Plan } from '../flow/plan.ts';
import { countLoops } from '../flow/rule-expression.ts';
import { formatMistake, lineAt, type SettingPath } from '../json5/mistake.ts';
import { isAddress } from '../model/address.ts';
import { HubError } from '../model/error.ts';
import { isJsonObject } from '../model/json-object.ts';
import type { NamedAddress } from '../model/named-address.ts';
import type { Parameter } from '../model/parameter.ts';
import type { FoundFile } from './edit-files.ts';

interface Changed {
  readonly before: readonly FlowFile[];
  readonly after: readonly FlowFile[];
  readonly parameters: () => Iterable<Parameter>;
  readonly typeOf: (name: unknown) => AnyConnectionType | undefined;
  /** Returns whether the user may edit the template with this absolute path. */
  readonly mayEditTemplate: (path: string) => boolean;
}

/** Checks that a user may make an edit. Errors: `forbidden`, which names the location. */
export function expectAllowed(changed: Changed, rights: EditRights): void {
  if (rights.isOwner) return;
  const check = new Check(changed, rights);
  const old = new Map(changed.before.map((file) => [keyOfFile(file), file]));
  const known = new Set(changed.before.flatMap((file) => [...rulesOf(file)].map(({ signature }) => signature)));
  for (const file of changed.after) check.file(file, old.get(keyOfFile(file)), known);
  const now = new Set(changed.after.map(keyOfFile));
  for (const file of changed.before) if (!now.has(keyOfFile(file))) check.removed(file);
}

/** Checks that a user may edit a file. `name` is the file's name as given in the request. Errors: `forbidden`. */
export function expectMayEdit({ names }: Pick<FoundFile, 'names'>, file: string, rights: EditRights): void {
  if (!rights.mayEdit(names))
    throw new HubError(
      'forbidden',
      `${file}: expected a file that you may edit: your user's setting \`edit\` does not include it`,
    );
}

/**
 * Checks that a user may use the addresses in an edited document. A user who adds or changes a widget must be allowed to read the widget's
 * addresses, and to write the addresses that the widget writes. Otherwise, an author could get other users to press a button that the
 * author may not press. Errors: `forbidden`, which names the location.
 */
export function expectAddressesAllowed(
  file: string,
  before: readonly NamedAddress[],
  after: readonly NamedAddress[],
  rights: EditRights,
): void {
  if (rights.isOwner) return;
  const known = new Set(before.map(({ address, part }) => `${address} ${part}`));
  for (const { address, part, isWritten, path, line, column } of after) {
    if (known.has(`${address} ${part}`)) continue;
    const verb = !rights.mayRead(address) ? 'read' : isWritten && !rights.mayWrite(address) ? 'write' : undefined;
    if (verb === undefined) continue;
    const message = `expected an address that you may ${verb}, got ${JSON.stringify(address)}`;
    throw new HubError('forbidden', formatMistake({ file, path, line, column, message }));
  }
}

/** Matches the names of loop macros in expressions. A few characters of nested macros can make an evaluation run for hours. */
const hasLoop = /\b(?:all|exists|exists_one|map|filter|bind)\b/;

interface WrittenRule {
  readonly item: Readonly<Record<string, unknown>>;
  readonly path: SettingPath;
  /** Identifies the rule by its text and by everything else that determines whether the rule runs. */
  readonly signature: string;
}

function* rulesOf(file: FlowFile): Generator<WrittenRule> {
  const { rules, shadow } = dataOf(file);
  yield* rulesIn(rules, ['rules'], [keyOfFile(file), shadow ?? false]);
}

function* rulesIn(list: unknown, path: SettingPath, around: readonly unknown[]): Generator<WrittenRule> {
  if (!Array.isArray(list)) return;
  for (const [index, item] of list.entries()) {
    if (!isJsonObject(item)) continue;
    const at = [...path, index];
    if (Array.isArray(item.rules))
      yield* rulesIn(item.rules, [...at, 'rules'], [...around, item.folder, item.enabled ?? true]);
    else yield { item, path: at, signature: JSON.stringify([...around, item]) };
  }
}

function dataOf({ data }: FlowFile): Readonly<Record<string, unknown>> {
  return isJsonObject(data) ? data : {};
}

/**
 * Checks that a user may read and write what the rules and connections in a plan read and write, in addition to the check of the text.
 * Errors: `forbidden`.
 */
export function expectPlanAllowed(before: Plan, after: Plan, rights: EditRights): void {
  if (rights.isOwner) return;
  const known = new Set(before.rules.map(({ key, folder, isEnabled }) => JSON.stringify([key, folder, isEnabled])));
  const refuse = (place: string | undefined, message: string) => {
    throw new HubError('forbidden', `${place ?? ''}: ${message}`);
  };
  for (const rule of after.rules) {
    if (known.has(JSON.stringify([rule.key, rule.folder, rule.isEnabled]))) continue;
    const place = after.placeOf?.(rule) ?? rule.file;
    const to = new Set(rule.to);
    for (const address of rule.to)
      if (!rights.mayWrite(address)) refuse(place, `expected an address that you may write, got "${address}"`);
    for (const address of rule.addresses)
      if (!to.has(address) && !rights.mayRead(address))
        refuse(place, `expected an address that you may read, got "${address}"`);
  }
  const keys = new Map(before.connections.map(({ id, key }) => [id, key]));
  for (const { id, key, inputs, parameters, file } of after.connections) {
    if (keys.get(id) === key) continue;
    for (const address of Object.values(inputs))
      if (!rights.mayRead(address))
        refuse(file, `connections.${id}: expected an address that you may read, got "${address}"`);
    for (const { id: parameter, access } of parameters)
      if (!rights.mayRead(`${id}/${parameter}`) || (access !== 'read-only' && !rights.mayWrite(`${id}/${parameter}`)))
        refuse(file, `connections.${id}: expected a connection with only parameters that you may read and write`);
  }
}

class Check {
  readonly #changed: Changed;
  readonly #rights: EditRights;

  constructor(changed: Changed, rights: EditRights) {
    this.#changed = changed;
    this.#rights = rights;
  }

  file(file: FlowFile, old: FlowFile | undefined, known: ReadonlySet<string>): void {
    const [before, after] = [old === undefined ? {} : dataOf(old), dataOf(file)];
    for (const { item, path, signature } of rulesOf(file)) if (!known.has(signature)) this.#rule(file, item, path);
    this.#connections(file, before.connections, after.connections);
    if (!isSame(before.tests, after.tests)) this.#mayReadAll(file, after.tests, ['tests']);
    this.#describes(file, before.describe, after.describe);
    const templates = new Set(old?.templates ?? []);
    for (const template of file.templates ?? [])
      if (!templates.has(template) && !this.#changed.mayEditTemplate(template))
        this.#refuse(file, ['instances'], 'expected a template that you may edit');
  }

  removed(file: FlowFile): void {
    this.#connections(file, dataOf(file).connections, undefined);
  }

  #rule(file: FlowFile, item: WrittenRule['item'], path: SettingPath): void {
    const { from, to, name: _, ...others } = item;
    this.#mayReadAll(file, from, [...path, 'from']);
    this.#mayReadAll(file, others, path);
    const targets = isJsonObject(to) ? Object.keys(to) : [to].flat();
    for (const address of targets)
      if (typeof address === 'string' && !this.#rights.mayWrite(address))
        this.#refuse(file, [...path, 'to'], `expected an address that you may write, got ${JSON.stringify(address)}`);
    if (isJsonObject(to)) this.#mayReadAll(file, Object.values(to), [...path, 'to']);
  }

  #connections(file: FlowFile, before: unknown, after: unknown): void {
    const [old, now] = [isJsonObject(before) ? before : {}, isJsonObject(after) ? after : {}];
    for (const id of new Set([...Object.keys(old), ...Object.keys(now)])) {
      if (isSame(old[id], now[id])) continue;
      const path = ['connections', id];
      for (const settings of [old[id], now[id]].filter((one) => one !== undefined))
        if (!isHarmless(this.#changed.typeOf(isJsonObject(settings) ? settings.type : undefined)))
          this.#refuse(file, path, 'expected a user with all rights, because this connection acts outside the hub');
      if (hasReference(now[id]))
        this.#refuse(
          file,
          path,
          'expected a user with all rights, because this setting reads the environment or another file',
        );
      this.#mayReadAll(file, now[id], path);
      for (const { address, access } of this.#changed.parameters())
        if (address.startsWith(`${id}/`)) this.#owns(file, path, address, access);
      this.#owns(file, path, `${id}/any`, 'read-write');
    }
  }

  #owns(file: FlowFile, path: SettingPath, address: string, access: Parameter['access']): void {
    const { mayRead, mayWrite } = this.#rights;
    if (!mayRead(address) || (access !== 'read-only' && !mayWrite(address)))
      this.#refuse(file, path, 'expected a connection with only parameters that you may read and write');
  }

  #describes(file: FlowFile, before: unknown, after: unknown): void {
    const [old, now] = [isJsonObject(before) ? before : {}, isJsonObject(after) ? after : {}];
    for (const glob of new Set([...Object.keys(old), ...Object.keys(now)]))
      if (!isSame(old[glob], now[glob]) && (glob.includes('*') || !this.#rights.mayWrite(glob)))
        this.#refuse(file, ['describe', glob], 'expected an address that you may write, without *');
  }

  /** Checks that the user may read each address in a value, including the addresses in keys and expressions. */
  #mayReadAll(file: FlowFile, value: unknown, path: SettingPath): void {
    if (typeof value === 'string') {
      for (const address of addressesIn(value))
        if (!this.#rights.mayRead(address))
          this.#refuse(file, path, `expected an address that you may read, got ${JSON.stringify(address)}`);
      if (hasLoop.test(value) && countLoops(value) > 1)
        this.#refuse(
          file,
          path,
          'expected at most one call to `all`, `exists`, `map`, `filter` or `cel.bind`, unless you may edit everything',
        );
    } else if (Array.isArray(value)) value.forEach((one, index) => void this.#mayReadAll(file, one, [...path, index]));
    else if (isJsonObject(value))
      for (const [key, one] of Object.entries(value)) {
        this.#mayReadAll(file, key, [...path, key]);
        this.#mayReadAll(file, one, [...path, key]);
      }
  }

  #refuse(file: FlowFile, path: SettingPath, message: string): never {
    throw new HubError('forbidden', lineAt(file, path, message, file.positionOf(path)));
  }
}

/**
 * Yields a string that is an address, or the quoted addresses within an expression. A string that contains an escape counts as an address
 * that may be read only by users who may read everything.
 */
function* addressesIn(text: string): Generator<string> {
  if (isAddress(text)) yield text;
  for (const [, , inner = ''] of text.matchAll(/(["'])((?:\\.|(?!\1).)*)\1/gs))
    if (isAddress(inner) || /\\[^"'\\nrt]/.test(inner)) yield inner;
}

/** Returns whether connections of a type have no effect outside the hub, that is, neither open ports nor read or write files. */
function isHarmless(type: AnyConnectionType | undefined): boolean {
  return (
    type !== undefined &&
    !type.isExternal &&
    !type.isGateway &&
    type.files === undefined &&
    type.belongings === undefined &&
    type.claims === undefined
  );
}

/** Returns whether a value contains a reference to a secret: `{ env: … }` or `{ file: … }`. */
function hasReference(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (!Array.isArray(value) && ('env' in value || 'file' in value)) return true;
  return Object.values(value).some(hasReference);
}

function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}
