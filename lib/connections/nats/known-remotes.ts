// The parameters of other hubs as a file tells them, so that flow files can be checked against them: `patchbay types --remote` writes it.

import { z } from 'zod';
import { decodeUtf8, FileError, nothing, readRegularFileSync } from '../../files/regular-file.ts';
import { parseAddress } from '../../model/address.ts';
import { messageOf } from '../../model/error.ts';
import { record } from '../../model/record-schema.ts';
import { shownPath } from '../../model/secret.ts';
import { valueTypes } from '../../model/value.ts';
import type { Remotes } from '../connection.ts';
import type { ResolvePath } from '../setting.ts';

/** `{"desk/lamp":{"type":"B","access":"read-write","hub":"west"}}` */
const fileSchema = record(
  z.string(),
  z.strictObject({
    type: z.enum(valueTypes),
    access: z.enum(['read-only', 'write-only', 'read-write']),
    hub: z.string().optional(),
  }),
);

const setting = 'mirrors';
/** Some 200,000 parameters. */
const maxFileBytes = 16 * 1024 * 1024;

export function readRemotes(path: string, resolvePath: ResolvePath): Remotes {
  if (path === '') return { parameters: undefined, file: undefined };
  const file = resolvePath(path);
  try {
    const parameters = Object.entries(
      fileSchema.parse(JSON.parse(decodeUtf8(readRegularFileSync(file, maxFileBytes)))),
    );
    for (const [address] of parameters) parseAddress(address);
    return { parameters: new Map(parameters), file };
  } catch (error) {
    const message = `expected a file that "patchbay types --remote" has written, got "${shownPath(path)}": ${reasonOf(error)}`;
    return { parameters: undefined, file, mistake: { path: [setting], message } };
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof SyntaxError) return 'it is no JSON'; // its words quote the file, which may be one of secrets
  if (error instanceof FileError) return error.message === nothing ? 'there is none' : error.message;
  if (!(error instanceof z.ZodError)) return messageOf(error);
  const [issue] = error.issues;
  return `${issue!.path.join('.') || 'it'}: ${issue!.message}`;
}
