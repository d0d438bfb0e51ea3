// The log of a connection whose settings have secrets: no entry shows them.

import type { Log } from '../../../connections/connection.ts';
import { withoutSecrets } from '../../../model/secret.ts';

/** `secretsOf` tells the secrets at the moment of an entry. */
export function secretLog(log: Log, secretsOf: () => readonly string[]): Log {
  const hide = (text: string) => withoutSecrets(text, secretsOf());
  const hideIn = (data: object) =>
    Object.fromEntries(
      Object.entries(data).map(([key, value]) => [key, typeof value === 'string' ? hide(value) : value]),
    );
  const entry =
    (level: keyof Log): Log['info'] =>
    (data, message, kind) =>
      log[level](hideIn(data), hide(message), ...(kind === undefined ? [] : ([hide(kind)] as const)));
  return { debug: entry('debug'), info: entry('info'), warn: entry('warn'), error: entry('error') };
}
