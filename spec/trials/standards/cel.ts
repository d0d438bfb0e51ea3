// The conformance tests of CEL, tests/simple/testdata/*.textproto of google/cel-spec, and those where expressions differ from CEL on
// purpose.

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compileExpression } from '../../../lib/expression/expression.ts';
import type { Value, ValueType } from '../../../lib/model/value.ts';
import { type Field, type Message, readTextproto } from './textproto.ts';

export interface CelCase {
  /** `logic AND/error_left` */
  readonly name: string;
  readonly file: string;
  readonly text: string;
  readonly test: Message;
}

export async function readCel(folder: string): Promise<CelCase[]> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.textproto')).sort();
  const cases = files.map(async (name) => {
    const file = name.slice(0, -'.textproto'.length);
    const message = readTextproto(await readFile(join(folder, name), 'utf8'));
    return all(message, 'section').flatMap((section) =>
      all(section, 'test').map(
        (test): CelCase => ({
          name: `${file} ${text(section, 'name')}/${text(test, 'name')}`,
          file,
          text: text(test, 'expr'),
          test,
        }),
      ),
    );
  });
  return (await Promise.all(cases)).flat();
}

interface Difference {
  /** In what the test computes or expects. */
  readonly text?: RegExp;
  readonly file?: RegExp;
  /** In what the check says of it. */
  readonly refusal?: RegExp;
}

/** What expressions do not have of CEL, or have otherwise: docs/rules.md lists the same. */
export const differences: Readonly<Record<string, Difference>> = {
  'no messages, wrappers and enumerations of protocol buffers': {
    file: /^(?:proto|enums|wrappers|dynamic|namespace|unknowns|plumbing|block_ext)/,
    text: /TestAllTypes|google\.protobuf|object_value|enum_value|message_type/,
  },
  'names stand for texts, numbers, true and false alone': {
    text: /"(?:list_value|map_value|null_value|list_type|function|ident)"/,
  },
  'no unsigned integers and no bytes': {
    text: /\b\d[\da-fA-Fx]*[uU]\b|\b[bB][rR]?['"]|\buint|\bbytes\(|uint64_value|bytes_value/,
  },
  'no types as values': {
    text: /\btype\(|type_value|\b(?:dyn|int|list|map|bool|string|double|null_type|type)\b(?!\()/,
  },
  'every number is a float: 7 / 2 is 3.5, 1 / 0 is infinite, nothing overflows': {
    file: /^integer_math/,
    text: /[/%] ?0|12 ?\/ ?n|4 ?\/ ?n|e\+307|\d{19}|1e99|%|\.0: 5/,
  },
  'one type in a list, in a map, on both sides of : and of a comparison': {
    refusal:
      /expected a single type|expected the same type|expected text, a number or true\/false|got null|number [=!]= text|< can take/,
  },
  'conditions, names and functions are checked at load': {
    refusal: /expected a condition|unknown name|unknown function|expected a name for/,
  },
  'no optional values, and no names in backticks': { file: /^optionals/, text: /`|\[\?|\.\?|optional/ },
  'has(…) takes a field of a map that has a name': { refusal: /^expected has/ },
  'methods of lists bind one name': { refusal: /with [34] arguments/ },
  'functions of the extensions are those that are listed': {
    file: /^(?:math_ext|network_ext|encoders_ext|string_ext)/,
    refusal: /^expected \w+\(/,
  },
  'any value may be a key of a map': { text: /\{null/ },
  'indexOf finds nothing beyond the end of the text': { text: /indexOf\('a', 30\)/ },
  'points in time count whole milliseconds': { text: /\d{9}Z|ns'/ },
};

/** undefined: an expression does what the test says; else why the check refuses it, or what it does. */
export function failureOf({ text: expression, test }: CelCase): string | undefined {
  const isError = test.eval_error !== undefined || test.any_eval_errors !== undefined;
  let refusal = '';
  try {
    const { types, scope } = namesOf(test);
    const compiled = compileExpression(`(${expression}) == (${isError ? expression : expectedOf(test)})`, types);
    const isEqual = compiled.evaluate(scope) === true;
    return isEqual && !isError ? undefined : 'it gives something else';
  } catch (error) {
    if (isError && !(error instanceof UnknownKind)) return undefined;
    refusal = (error as Error).message;
  }
  return refusal;
}

/** The difference that a failure shows; undefined: none that is meant. */
export function differenceOf({ file, text: expression, test }: CelCase, failure: string): string | undefined {
  const shown = expression + JSON.stringify([test.value, test.typed_result, test.bindings, test.type_env]);
  const found = Object.entries(differences).find(
    ([, one]) => one.file?.test(file) || one.text?.test(shown) || one.refusal?.test(failure),
  );
  return found?.[0];
}

class UnknownKind extends Error {}

function namesOf(test: Message): { types: Record<string, ValueType>; scope: Record<string, Value> } {
  const types: Record<string, ValueType> = {};
  const scope: Record<string, Value> = {};
  for (const binding of all(test, 'bindings')) {
    const name = text(binding, 'key');
    const value = all(all(binding, 'value')[0]!, 'value')[0]!;
    const [kind, [given]] = Object.entries(value)[0] as [string, [Value]];
    const type = ({ int64_value: 'F', double_value: 'F', string_value: 'S', bool_value: 'B' } as const)[kind];
    if (type === undefined) throw new UnknownKind(kind);
    types[name] = type;
    scope[name] = given;
  }
  return { types, scope };
}

function expectedOf(test: Message): string {
  const result = all(test, 'value')[0] ?? all(all(test, 'typed_result')[0] ?? {}, 'result')[0];
  return result === undefined ? 'true' : literalOf(result);
}

function literalOf(value: Message): string {
  const [kind, [given]] = Object.entries(value)[0] as [string, [Field]];
  switch (kind) {
    case 'int64_value':
    case 'double_value':
      if (given === Number.POSITIVE_INFINITY) return '1.0 / 0.0';
      return given === Number.NEGATIVE_INFINITY ? '-1.0 / 0.0' : String(given);
    case 'string_value':
      return JSON.stringify(given);
    case 'bool_value':
      return String(given);
    case 'null_value':
      return 'null';
    case 'list_value':
      return `[${all(given as Message, 'values')
        .map(literalOf)
        .join(', ')}]`;
    case 'map_value': {
      const entries = all(given as Message, 'entries');
      return `{${entries.map((entry) => `${literalOf(all(entry, 'key')[0]!)}: ${literalOf(all(entry, 'value')[0]!)}`).join(', ')}}`;
    }
    default:
      throw new UnknownKind(kind);
  }
}

function all(message: Message, name: string): Message[] {
  return (message[name] ?? []) as Message[];
}

function text(message: Message, name: string): string {
  return String(message[name]?.[0] ?? '');
}
