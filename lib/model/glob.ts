// Globs for addresses: `*` matches any characters within a segment, `**` matches any characters, and `**/` after a slash also matches no
// segment. More than two consecutive asterisks count as two.

/** Returns a regular expression that matches exactly the addresses that a glob matches. */
export function globToRegExp(glob: string): RegExp {
  const parts = glob
    .replace(/\*{3,}/g, '**')
    .split(/(\*\*\/|\*+)/)
    .map((part, index, all) => {
      if (index % 2 === 0) return part.replace(/[$()+.?[\\\]^{|}]/g, '\\$&');
      if (part !== '**/') return part === '*' ? '[^/]*' : '.*';
      return /(^|\/)$/.test(all[index - 1]!) ? '(.*/)?' : '.*/';
    });
  return new RegExp(`^${parts.join('')}$`, 's');
}
