// Globs of addresses: `*` stands for any characters within a segment, `**` for any characters, and `**/` between slashes for no
// segment as well. More than two stars in a row are two.

/** The regular expression of a glob, over the whole address. */
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
