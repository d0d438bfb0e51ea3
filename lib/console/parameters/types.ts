// The names of the value types.

import type { ValueType } from '../../client/index.ts';

export const typeNames: Readonly<Record<ValueType, string>> = {
  S: 'text',
  B: 'boolean',
  I: 'integer',
  F: 'float',
  T: 'trigger',
};
