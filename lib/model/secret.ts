// Secrets, such as passwords. Secrets from the environment or a file are known, and are hidden wherever they would appear. Secrets in a
// flow file are identified by the name of their setting, even if the value is invalid and not a string.

import { describe } from './error.ts';

/** The minimum length of a hidden string. Shorter strings may be ordinary words. */
const leastLength = 4;
/** The string that is shown instead of a secret. */
export const hidden = '***';

/** Returns the text with each secret replaced by `***`, whether the secret is plain or in JSON notation. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  let result = text;
  for (const secret of secrets.filter(({ length }) => length >= leastLength).sort((a, b) => b.length - a.length))
    result = result.replaceAll(secret, hidden).replaceAll(JSON.stringify(secret).slice(1, -1), hidden);
  return result;
}

/** Returns an error message without the received value, which might be a secret. */
export function withoutValue(message: string): string {
  return message.replace(/, got .*$/s, `, got ${hidden}`);
}

/**
 * Returns the text without the usernames and passwords in its addresses, with or without a scheme: `nats://***@10.0.0.5`, `***@10.0.0.5`.
 */
export function withoutUserInfo(text: string): string {
  return text.replace(/([a-z][a-z\d+.-]*:\/\/|(?<![^\s"'`])(?=[^\s/?#"'`@:]*:[^/]))[^\s/?#"'`]*@/gi, `$1${hidden}@`);
}

/** Matches the names of settings that contain secrets, and names that users write instead. */
const secretName =
  /^(?:pass|key|pin|auth|bearer)$|passw|passphrase|passcode|pwd|kennwort|token|secret|credential|nkey|jwt|bearer|api[-_]?key|seed|private/i;
const writtenNames = ['password', 'token', 'credentials', 'secret'];
/** The names of settings that contain objects with secrets. A value in place of such an object may be a secret. */
const holderNames: ReadonlySet<string> = new Set(['users', 'anonymous', 'credentials']);

/** Returns whether a setting with this name may hold a secret, even if the name is misspelt. */
export function isSecretName(name: string): boolean {
  if (secretName.test(name)) return true;
  const letters = name.toLowerCase();
  return writtenNames.some((one) => Math.abs(one.length - letters.length) <= 2 && isNear(letters, one));
}

/** Returns whether the value at a path in a flow file may be or contain a secret. Rules and tests contain addresses but no secrets. */
export function mayHoldSecret(path: readonly (string | number)[]): boolean {
  const [section] = path;
  if (section === 'rules' || section === 'tests') return false;
  return path.some((part, index) => {
    if (typeof part !== 'string' || (section === 'connections' && index === 1)) return false;
    if (holderNames.has(part)) return path.length <= index + (part === 'users' ? 2 : 1);
    return isSecretName(part);
  });
}

/** Returns the part of a setting's path that may be shown, because keys within a secret may themselves be the secret. */
export function reportedPath(path: readonly (string | number)[]): readonly (string | number)[] {
  const at = path.findIndex((_, index) => {
    const upTo = path.slice(0, index + 1);
    return mayHoldSecret(upTo) && !holderNames.has(String(path[index])) && isSecretName(String(path[index]));
  });
  if (at >= 0) return ['env', 'file'].includes(String(path[at + 1])) ? path : path.slice(0, at + 1);
  const isWord = /^[a-z]{1,12}$/.test(String(path.at(-1))) || isSecretName(String(path.at(-1)));
  return hasSecretKeys(path.slice(0, -1)) && !isWord ? path.slice(0, -1) : path;
}

/** Returns whether the keys of the object at a path may be secrets, because a secret was written without its own key. */
export function hasSecretKeys(path: readonly (string | number)[]): boolean {
  return path.at(-1) === 'credentials' || path.at(-2) === 'users';
}

/** Describes the value at a path in a flow file, with `***` instead of everything that may be a secret. */
export function describeSetting(value: unknown, path: readonly (string | number)[] = []): string {
  const isConnection = path.length === 2 && path[0] === 'connections' && typeof value === 'string';
  return isConnection || mayHoldSecret(path) ? hidden : withoutUserInfo(describe(withoutSecretSettings(value, path)));
}

/** The maximum depth to which a value is shown in an error. */
const mostDepth = 8;

/** Returns a value in a flow file with `***` instead of everything that may be a secret. Long lists are truncated. */
export function withoutSecretSettings(value: unknown, path: readonly (string | number)[] = []): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (path.length > mostDepth) return hidden;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null) return value;
  const mask = (item: unknown, key: string | number) => {
    const at = [...path, key];
    const isHidden = mayHoldSecret(at) && (typeof item !== 'object' || item === null || isSecretName(String(key)));
    return isHidden ? hidden : withoutSecretSettings(item, at);
  };
  return Array.isArray(value)
    ? value.slice(0, 100).map(mask)
    : Object.fromEntries(
        Object.entries(value)
          .slice(0, 100)
          .map(([key, item]) => [key, mask(item, key)]),
      );
}

/** Returns a path from the settings in a form suitable for display, or `***` if the path looks like the content of a file. */
export function shownPath(path: string): string {
  return /[\r\n]|-----BEGIN|^.{1025}/s.test(path) ? hidden : path;
}

/**
 * Returns whether two words differ by one letter, or two long words by up to two letters, which are inserted, removed, swapped or replaced.
 */
function isNear(one: string, other: string): boolean {
  const rows = [Array.from({ length: other.length + 1 }, (_, index) => index)];
  for (let at = 1; at <= one.length; at++) {
    const row = [at];
    for (let to = 1; to <= other.length; to++) {
      const isSame = one[at - 1] === other[to - 1];
      const isSwapped = at > 1 && to > 1 && one[at - 1] === other[to - 2] && one[at - 2] === other[to - 1];
      const swapped = isSwapped ? rows[at - 2]![to - 2]! + 1 : Number.POSITIVE_INFINITY;
      row.push(Math.min(rows[at - 1]![to]! + 1, row[to - 1]! + 1, rows[at - 1]![to - 1]! + (isSame ? 0 : 1), swapped));
    }
    rows.push(row);
  }
  return rows.at(-1)!.at(-1)! <= (other.length > 5 ? 2 : 1);
}
