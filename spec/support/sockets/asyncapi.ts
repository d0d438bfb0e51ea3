// The AsyncAPI document of `patchbay.v1` as a judge of messages: which kind of message a JSON value is.

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Ajv, type ValidateFunction } from 'ajv';

type Direction = 'send' | 'receive';

const folder = resolve(import.meta.dirname, '../../../lib/client');
export const asyncApi = JSON.parse(await readFile(resolve(folder, 'asyncapi.json'), 'utf8'));

const ajv = new Ajv({ strict: false, allErrors: true });
ajv.addSchema(asyncApi, 'asyncapi');
const validators = new Map<string, ValidateFunction>();

/** Whether a value is right by a schema of the document: `components/schemas/pattern`. */
export function fits(path: string, value: unknown): boolean {
  const pointer = `asyncapi#/${path}`;
  const validate = validators.get(pointer) ?? ajv.compile({ $ref: pointer });
  validators.set(pointer, validate);
  return validate(value) as boolean;
}

/** Names of the messages that the hub sends, or receives. */
export function kinds(direction: Direction): string[] {
  return asyncApi.operations[direction].messages.map(({ $ref }: { $ref: string }) => $ref.split('/').at(-1));
}

/** The one kind of message that a value is, all of whose keys the document knows. Errors: it is none, or several. */
export function kindOf(direction: Direction, message: object): string {
  const fitting = kinds(direction).filter((kind) => fits(`components/messages/${kind}/payload`, message));
  const [kind] = fitting;
  if (kind === undefined || fitting.length > 1)
    throw new Error(`expected one kind of message, got [${fitting}]: ${JSON.stringify(message)}`);
  const known = Object.keys(asyncApi.components.messages[kind].payload.properties);
  const unknown = Object.keys(message).filter((key) => !known.includes(key));
  if (unknown.length > 0) throw new Error(`${kind}: unknown keys ${unknown}: ${JSON.stringify(message)}`);
  return kind;
}
