// Errors in files that people write. Each error contains the file, the line, the path, the expected and the actual value, and the most
// similar known name.

import { z } from 'zod';
import { counted } from '../model/digits.ts';
import { describeSetting, hasSecretKeys, hidden, reportedPath, withoutUserInfo } from '../model/secret.ts';
import { nearestName, unknownName } from './nearest-name.ts';
import { formatPath, type Position } from './positions.ts';

export type SettingPath = readonly (string | number)[];

/** A placeholder for a value whose error has been reported, so that no further errors are reported for the value. */
export const unreadable: unique symbol = Symbol('unreadable');

/** A file that is being checked: its name, and functions that find the positions of its settings. */
export interface CheckedFile {
  readonly name: string;
  /**
   * Returns the position of a path or, with an offset, of a character in the string at the path. `value` is the value at the path if a
   * function in the file created it.
   */
  positionOf(path: SettingPath, offset?: number, value?: unknown): Position | undefined;
  /**
   * Returns the location at which a setting was written, if a template has created the setting. If omitted, all settings are where they
   * appear in the file.
   */
  writtenAt?(path: SettingPath): Written;
  /** Returns a message about a setting with secrets masked. If omitted, messages about this file contain no secrets. */
  withoutSecrets?(path: SettingPath, message: string): string;
}

/** The location at which a setting was written, for a setting that a template has created. */
export interface Written {
  readonly file: string;
  readonly path: SettingPath;
  /** The name of the template's result: `instance s1 of studios.json5`. Empty if no template is involved. */
  readonly made: string;
}

/** An error in a file: `demo.json5:7:20: connections.clock.timers[0]: expected an integer …, got "x" (string)`. */
export interface Mistake {
  readonly file: string;
  readonly path: string;
  readonly message: string;
  readonly line: number | undefined;
  readonly column: number | undefined;
  /** For an error in a template: the name of the first instance with this error. */
  readonly made?: string;
  /** The number of further instances with this error. */
  others?: number;
}

const maxWarnings = 100;

/** Collects errors and warnings without throwing, so that one check finds all errors. */
export class MistakeList {
  readonly items: Mistake[] = [];
  /** The number of errors. An error in a template is a single item, but is counted once for each instance. */
  count = 0;
  /** The errors in templates, keyed by location, so that each error is listed once. */
  readonly #inTemplates = new Map<string, Mistake>();
  readonly #warnings = new Set<string>();
  #unreported = 0;

  /** The warnings, one line each. A warning is a probable error that does not prevent the flow from running. */
  get warnings(): string[] {
    return [...this.#warnings, ...(this.#unreported > 0 ? [counted(this.#unreported, 'more warning')] : [])];
  }

  add(file: CheckedFile, path: SettingPath, message: string, position = file.positionOf(path)): void {
    const written = file.writtenAt?.(path) ?? { file: file.name, path, made: '' };
    const reportedAt = reportedPath(written.path);
    const reported = reportedAt.length < written.path.length ? message.replaceAll(`"${path.at(-1)}"`, hidden) : message;
    const mistake: Mistake = {
      file: written.file,
      path: formatPath(reportedAt),
      message: withoutUserInfo(file.withoutSecrets?.(path, reported) ?? reported),
      line: position?.line,
      column: position?.column,
    };
    if (written.made === '') this.#push(mistake);
    else this.#addInTemplate({ ...mistake, made: written.made, others: 0 });
  }

  /** Adds a warning. A warning in a template appears once for all instances. Warnings beyond `maxWarnings` are only counted. */
  warn(file: CheckedFile, path: SettingPath, message: string, positionOf: () => Position | undefined): void {
    if (this.#warnings.size >= maxWarnings) this.#unreported++;
    else this.#warnings.add(lineAt(file, path, message, positionOf()));
  }

  addFile(file: string, message: string, position?: Position): void {
    const reported = { file: withoutUserInfo(file), message: withoutUserInfo(message) };
    this.#push({ ...reported, path: '', line: position?.line, column: position?.column });
  }

  /** Adds errors that were collected in another list. */
  addAll(mistakes: readonly Mistake[]): void {
    for (const mistake of mistakes) this.#push(mistake);
  }

  #addInTemplate(mistake: Mistake): void {
    const { file, path, line, column, made } = mistake;
    const place = JSON.stringify([file, path, line, column]);
    const first = this.#inTemplates.get(place);
    if (first === undefined) this.#inTemplates.set(place, mistake);
    if (first === undefined || first.made === made) this.#push(mistake);
    else {
      first.others!++;
      this.count++;
    }
  }

  #push(mistake: Mistake): void {
    this.items.push(mistake);
    this.count++;
  }

  /**
   * Checks data against a schema and adds an error for each issue. Returns the valid part: the data without unknown settings and, with
   * `isLenient`, without invalid settings at the top level. Returns undefined if that part is still invalid.
   */
  parse<Schema extends z.ZodType>(
    schema: Schema,
    data: unknown,
    file: CheckedFile,
    path: SettingPath,
    isLenient = false,
  ): z.output<Schema> | undefined {
    const result = schema.safeParse(data, { error: expectation, reportInput: true });
    if (result.success) return result.data;
    const issues = unknownFirst(result.error.issues.filter((issue) => !isReported(issue)));
    const misspelt = new Set(issues.flatMap((issue) => missingBehind(schema, issue)));
    for (const issue of issues)
      if (!misspelt.has(formatPath(issue.path as SettingPath)) || !isMissing(issue))
        this.#addIssue(schema, issue, file, path);
    return schema.safeParse(withoutMistakes(data, issues, isLenient)).data;
  }

  #addIssue(schema: z.ZodType, issue: z.core.$ZodIssue, file: CheckedFile, base: SettingPath): void {
    const path = [...base, ...(issue.path as SettingPath)];
    if (issue.code === 'unrecognized_keys') {
      const known = settingsAt(schema, issue.path as SettingPath, issue.input);
      for (const key of issue.keys) {
        const isHidden = hasSecretKeys(path) && nearestName(key, known) === undefined;
        if (isHidden)
          this.add(file, path, `unknown setting, expected one of ${known.join(', ')}`, file.positionOf([...path, key]));
        else this.add(file, [...path, key], unknownName('setting', key, known));
      }
    } else if (issue.code === 'invalid_key')
      for (const inner of issue.issues) this.#addIssue(schema, { ...inner, path: issue.path }, file, base);
    else if (issue.code === 'custom') this.add(file, path, issue.message);
    else if (issue.code === 'invalid_union' && issue.discriminator !== undefined)
      this.add(file, path, unknownAlternative(issue, issue.discriminator, path));
    else this.add(file, path, `expected ${issue.message}, got ${describeSetting(issue.input, path)}`);
  }
}

/**
 * Moves the issue for an unknown setting before the issues for missing settings in the same object, because an unknown setting is often the
 * reason why a setting is missing.
 */
function unknownFirst(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue[] {
  const ordered: z.core.$ZodIssue[] = [];
  for (const issue of issues) {
    const { code, path } = issue;
    const isMissingBeside = (other: z.core.$ZodIssue) =>
      isMissing(other) && other.path.length === path.length + 1 && path.every((key, at) => other.path[at] === key);
    const place = code === 'unrecognized_keys' ? ordered.findIndex(isMissingBeside) : -1;
    ordered.splice(place < 0 ? ordered.length : place, 0, issue);
  }
  return ordered;
}

/** Formats an error as one line for display. */
export function formatMistake({ file, line, column, path, message, made, others = 0 }: Mistake): string {
  const sentence = [line === undefined ? file : `${file}:${line}:${column}`, path, message]
    .filter((part) => part !== '')
    .join(': ');
  if (made === undefined) return sentence;
  return `${sentence} (${made}${others === 0 ? '' : `, and ${others} more`})`;
}

/** Formats a message about a setting, with its location, as one line for display. */
export function lineAt(file: CheckedFile, path: SettingPath, message: string, position: Position | undefined): string {
  const written = file.writtenAt?.(path) ?? { file: file.name, path };
  const { line, column } = position ?? {};
  const shown = withoutUserInfo(file.withoutSecrets?.(path, message) ?? message);
  return formatMistake({ file: written.file, path: formatPath(written.path), message: shown, line, column });
}

/** The display names of data types in schemas. */
const typeNames: Readonly<Record<string, string>> = {
  array: 'list',
  boolean: 'true or false',
  object: 'object { … }',
  string: 'text',
};

function expectation(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return typeNames[issue.expected] ?? issue.expected;
    case 'invalid_value':
      return issue.values.map((value) => JSON.stringify(value)).join(' or ');
    case 'too_small':
      return `at least ${issue.minimum}`;
    case 'too_big':
      return `at most ${issue.maximum}`;
    default:
      return 'another value';
  }
}

/** Returns the message for data that matches no alternative, such as an output whose `block` is unknown or missing. */
function unknownAlternative(issue: z.core.$ZodIssueInvalidUnion, key: string, path: SettingPath): string {
  const name = (issue.input as Record<string, unknown> | undefined)?.[key];
  const known = ('options' in issue ? (issue.options as unknown[]) : []).filter((option) => typeof option === 'string');
  return typeof name === 'string'
    ? unknownName(key, name, known)
    : `expected ${issue.message}, got ${describeSetting(issue.input, path)}`;
}

/** Returns the paths of the missing settings that misspelt keys stand for. These settings are not reported as missing. */
function missingBehind(schema: z.ZodType, issue: z.core.$ZodIssue): string[] {
  if (issue.code !== 'unrecognized_keys') return [];
  const known = settingsAt(schema, issue.path as SettingPath, issue.input);
  return issue.keys.flatMap((key) => {
    const nearest = nearestName(key, known);
    return nearest === undefined ? [] : [formatPath([...(issue.path as SettingPath), nearest])];
  });
}

/** Returns whether an error has been reported for a value, or for a part on which the value depends. */
function isReported({ input, code }: z.core.$ZodIssue): boolean {
  return input === unreadable || (['invalid_union', 'custom'].includes(code) && hasUnreadable(input));
}

function hasUnreadable(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return value === unreadable;
  return Object.values(value).some(hasUnreadable);
}

function isMissing(issue: z.core.$ZodIssue): boolean {
  return issue.input === undefined && issue.code !== 'unrecognized_keys';
}

function withoutMistakes(data: unknown, issues: readonly z.core.$ZodIssue[], isLenient: boolean): unknown {
  const copy = copyOf(data);
  for (const issue of issues) {
    if (issue.code === 'unrecognized_keys') for (const key of issue.keys) deleteAt(copy, [...issue.path, key]);
    else if (isLenient) deleteAt(copy, issue.path.slice(0, 1));
  }
  return copy;
}

/** Returns a copy of lists and plain objects. Other values, such as streams, are shared with the original. */
function copyOf(data: unknown): unknown {
  if (Array.isArray(data)) return data.map(copyOf);
  const isPlain =
    typeof data === 'object' && data !== null && [Object.prototype, null].includes(Object.getPrototypeOf(data));
  return isPlain ? Object.fromEntries(Object.entries(data).map(([key, value]) => [key, copyOf(value)])) : data;
}

function deleteAt(data: unknown, path: readonly PropertyKey[]): void {
  const parent = path
    .slice(0, -1)
    .reduce<unknown>((place, part) => (place as Record<PropertyKey, unknown>)?.[part], data);
  if (typeof parent === 'object' && parent !== null) Reflect.deleteProperty(parent, path.at(-1) ?? '');
}

/** Returns the names of the settings that a schema allows for the data at a path. */
function settingsAt(schema: z.ZodType, path: SettingPath, data: unknown): string[] {
  let place: z.core.JSONSchema.BaseSchema = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  for (const part of path) {
    const { items, properties = {}, additionalProperties } = place;
    const next =
      typeof part === 'number' ? items : Object.hasOwn(properties, part) ? properties[part] : additionalProperties;
    if (typeof next !== 'object' || Array.isArray(next)) return [];
    place = next;
  }
  const shape = place.oneOf?.find((alternative) => hasConstants(alternative, data)) ?? place;
  return Object.keys(shape.properties ?? {});
}

/** Returns whether the data has all fixed values of a schema alternative, such as `block: 'TON'`. */
function hasConstants({ properties = {} }: z.core.JSONSchema.BaseSchema, data: unknown): boolean {
  return Object.entries(properties).every(
    ([key, property]) =>
      typeof property !== 'object' ||
      property.const === undefined ||
      property.const === (data as Record<string, unknown>)[key],
  );
}
