// The order of addresses: segment by segment, so that a folder stands together, and numbers by their value.

const digits = 12;

/** Returns a text for an address that sorts as people expect: `desk/2` before `desk/10`. Different addresses have different texts. */
export function orderingKey(address: string): string {
  if (!/\d/.test(address)) return address.replaceAll('/', '\u0001');
  return address
    .split('/')
    .map((segment) => {
      const padded = segment.replace(/\d+/g, (number) => number.padStart(digits, '0'));
      return /(^|\D)0\d/.test(segment) ? `${padded}\u0000${segment}` : padded; // 7 and 07 are not the same
    })
    .join('\u0001');
}
