// The text of an expression as the language reads it: a number may begin with its point, `.5`, which the language writes `0.5`.

interface Source {
  readonly text: string;
  /** The place in what was written of a place in the text. */
  offsetOf(place: number): number;
}

/** Texts, comments, names and numbers, in which a point is something else; and a point before a digit. */
const token = new RegExp(
  [
    String.raw`[bB]?[rR](?:'''[^]*?'''|"""[^]*?"""|'[^'\n]*'|"[^"\n]*")`,
    String.raw`[bB]?(?:'''(?:\\[^]|[^\\])*?'''|"""(?:\\[^]|[^\\])*?"""|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*")`,
    '//.*',
    String.raw`[A-Za-z_]\w*`,
    String.raw`\d[\w.]*`,
    String.raw`(?<point>\.\d)`,
    String.raw`\S`,
  ].join('|'),
  'g',
);

/** What a point follows that belongs to it: `list[0].size`. */
const value = /[\w'"\])}]$/;

export function readSource(written: string): Source {
  const places: number[] = [];
  if (/\.\d/.test(written)) {
    let before = '';
    for (const { 0: text, index, groups } of written.matchAll(token)) {
      if (groups!.point !== undefined && !value.test(before)) places.push(index);
      before = text;
    }
  }
  const text = places.reduceRight((all, place) => `${all.slice(0, place)}0${all.slice(place)}`, written);
  return { text, offsetOf: (place) => place - places.filter((one, count) => one + count < place).length };
}
