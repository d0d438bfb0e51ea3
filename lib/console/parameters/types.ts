// What the letters of value types mean.

import type { ValueType } from '../../client/index.ts';

export const typeNames: Readonly<Record<ValueType, string>> = {
  S: 'text',
  B: 'boolean',
  I: 'integer',
  F: 'float',
  T: 'trigger',
};
