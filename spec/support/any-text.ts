import fc from 'fast-check';

/** Any code point, halves of pairs too. fast-check's own unit, 'binary', lists all 1,114,112 before its first text: seconds for a process. */
export const codePoint = fc
  .oneof(fc.integer({ min: 0x20, max: 0x7e }), fc.nat(0x10ffff))
  .map((code) => String.fromCodePoint(code));
