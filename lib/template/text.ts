// Texts with variables: `s${n}/mic`. `$${` stands for `${` itself.

import { describeSetting } from '../model/secret.ts';
import type { Scope } from './scope.ts';

/** A part of a text: characters as they are, or a variable. */
export interface Part {
  /** Where it begins in the text as it is written. */
  readonly offset: number;
  readonly literal?: string;
  /** What stands between `${` and `}`. */
  readonly variable?: string;
}

const partPattern = /\$\$\{|\$\{([^}]*)\}?/g;

/** The parts of a text; undefined: it is the same in every expansion. */
export function partsOf(text: string): readonly Part[] | undefined {
  if (!text.includes('${')) return undefined;
  const parts: Part[] = [];
  let end = 0;
  for (const { 0: written, 1: variable, index: offset } of text.matchAll(partPattern)) {
    if (offset > end) parts.push({ offset: end, literal: text.slice(end, offset) });
    parts.push(variable === undefined ? { offset, literal: '${' } : { offset, variable: variable.trim() });
    end = offset + written.length;
  }
  if (end < text.length) parts.push({ offset: end, literal: text.slice(end) });
  return parts;
}

/** What a variable is within a longer text. Errors: it has no text, in a sentence. */
export function textOf(variable: string, value: unknown): string {
  if (['string', 'number', 'boolean'].includes(typeof value)) return String(value);
  throw new Error(
    isReference(value)
      ? `expected \${${variable}} alone in a text, since it is { env: … } or { file: … }`
      : `expected a text, a number, true or false in \${${variable}}, got ${describeSetting(value, variable.split('.'))}`,
  );
}

/** A key as it is in a scope; undefined: a variable of it has no text. */
export function keyText(key: string, scope: Scope): string | undefined {
  let text = '';
  for (const { literal, variable } of partsOf(key) ?? [{ literal: key, variable: undefined }]) {
    const found = variable === undefined ? { value: literal } : scope.find(variable);
    if (found === undefined || !('value' in found) || typeof found.value === 'object') return undefined;
    text += String(found.value);
  }
  return text;
}

/** Where a character of an expanded text stands in the text as it is written. */
export function writtenOffset(text: string, index: number, scope: Scope): number {
  let at = 0;
  for (const { offset, literal, variable } of partsOf(text) ?? [{ offset: 0, literal: text }]) {
    const found = variable === undefined ? { value: literal } : scope.find(variable);
    const { length } = String(found !== undefined && 'value' in found ? found.value : '');
    if (index < at + length) return variable === undefined && literal !== '${' ? offset + index - at : offset;
    at += length;
  }
  return text.length;
}

function isReference(value: unknown): boolean {
  return typeof value === 'object' && value !== null && ('env' in value || 'file' in value);
}
