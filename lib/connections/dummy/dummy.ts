// The connection type `dummy`: parameters that the author of a flow file defines, as storage between connections and rules (S-16, D-11).

import { NEVER, of } from 'rxjs';
import { concatWith } from 'rxjs/operators';
import { z } from 'zod';
import { parameterIdMistake } from '../../model/address.ts';
import { HubError } from '../../model/error.ts';
import type { ParameterDeclaration } from '../../model/parameter.ts';
import { convert, type Value, type ValueType, valueTypes } from '../../model/value.ts';
import { type ConnectionEvent, defineConnectionType } from '../connection.ts';

/** The regular expression for a line, for use in the JSON Schema. It checks numbers only roughly. */
const linePattern = String.raw`^\s*(?:#.*|[^/,#\s][^,]*(?:,\s*(?:[SB]?\s*(?:,.*)?|[IF]\s*(?:,\s*[-+.\dA-FXa-fx]*\s*)?|T\s*))?)?$`;

export const settingsSchema = z.strictObject({
  parameters: z
    .union(
      [
        z.string(),
        z.array(
          z.string({ error: 'a line <Parameter ID>[,<Value Type>[,<Default Value>]]' }).meta({ pattern: linePattern }),
        ),
      ],
      {
        error: 'lines <Parameter ID>[,<Value Type>[,<Default Value>]] as a list or as one string',
      },
    )
    .default([])
    .transform(readLines)
    .describe('One line per parameter: <Parameter ID>[,<Value Type S|B|I|F|T>[,<Default Value>]]'),
});

export const dummy = defineConnectionType({
  type: 'dummy',
  isExternal: false,
  isKept: true,
  settingsSchema,
  declaring: ['parameters'],
  parameters: (settings) => settings.parameters,
  run: () => of<ConnectionEvent>({ state: 'running' }).pipe(concatWith(NEVER)),
});

/**
 * Parses a line in the form `ID,type,default` (D-11). For example, `level,F,0.5` is a read-write float with the default 0.5. Errors:
 * `HubError`.
 */
export function readLine(line: string): ParameterDeclaration {
  const firstComma = line.indexOf(',');
  const secondComma = firstComma < 0 ? -1 : line.indexOf(',', firstComma + 1);
  const id = (firstComma < 0 ? line : line.slice(0, firstComma)).trim();
  const idMistake = parameterIdMistake(id);
  if (idMistake) throw new HubError('bad-address', idMistake);
  const typeText = firstComma < 0 ? '' : line.slice(firstComma + 1, secondComma < 0 ? undefined : secondComma).trim();
  const type = typeText === '' ? 'S' : valueTypes.find((known) => known === typeText);
  if (type === undefined)
    throw new HubError('bad-flow', `expected a value type S, B, I, F or T, got "${typeText}" (string)`);
  if (secondComma < 0) return { id, type, access: 'read-write' };
  return { id, type, access: 'read-write', defaultValue: readDefault(type, line.slice(secondComma + 1)) };
}

function readDefault(type: ValueType, text: string): Value {
  if (type === 'T') throw new HubError('bad-flow', `expected no default value for a trigger, got "${text}" (string)`);
  return convert(type, type === 'S' ? text : text.trim());
}

function readLines(input: string | string[], context: z.RefinementCtx): ParameterDeclaration[] {
  const isText = typeof input === 'string';
  const lines = isText ? input.split(/\r?\n/) : input;
  const ids = new Set<string>();
  const declarations: ParameterDeclaration[] = [];
  lines.forEach((line, index) => {
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#')) return;
    try {
      const declaration = readLine(line);
      if (ids.has(declaration.id))
        throw new HubError('bad-flow', `expected each Parameter ID once, got "${declaration.id}" twice`);
      ids.add(declaration.id);
      declarations.push(declaration);
    } catch (error) {
      const message = (error as HubError).message;
      if (isText) context.addIssue({ code: 'custom', message: `line ${index + 1}: ${message}` });
      else context.addIssue({ code: 'custom', path: [index], message });
    }
  });
  return declarations;
}
