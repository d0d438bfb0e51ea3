// The font for the text on keys. Letters are strokes on a grid, so that one small table serves all key sizes. Each pair of digits is a
// point (x, y). Capitals extend from y = 0 to the baseline at y = 6; small letters begin at y = 2, and descenders reach y = 8.

const strokes: Readonly<Record<string, string>> = {
  A: '062046 1434',
  B: '06003041423303 3344453606',
  C: '4130100105163645',
  D: '06003041453606',
  E: '40000646 0333',
  F: '400006 0333',
  G: '41301001051636454323',
  H: '0006 4046 0343',
  I: '1016 0020 0626',
  J: '4045361605',
  K: '0006 4004 1346',
  L: '000646',
  M: '0600234046',
  N: '06004640',
  O: '103041453616050110',
  P: '06003041423303',
  Q: '103041453616050110 2446',
  R: '06003041423303 2346',
  S: '413010010213334445361605',
  T: '0040 2026',
  U: '000516364540',
  V: '002640',
  W: '0016233640',
  X: '0046 4006',
  Y: '002340 2326',
  Z: '00400646',
  a: '12324346 441405163645',
  b: '0006 0312324345361605',
  c: '4332120305163645',
  d: '4046 4332120305163645',
  e: '044443321203051636',
  f: '30201116 0222',
  g: '4332120305163645 4247381807',
  h: '0006 0312324346',
  i: '0206 0000',
  j: '22271808 2020',
  k: '0006 3204 1436',
  l: '000516',
  m: '0206 03122326 23324346',
  n: '0206 0312324346',
  o: '123243453616050312',
  p: '0208 0312324345361605',
  q: '4248 4332120305163645',
  r: '0206 031232',
  s: '43321203143445361605',
  t: '10152636 0232',
  u: '0205163645 4246',
  v: '022642',
  w: '0216243642',
  x: '0246 4206',
  y: '0226 4218',
  z: '02420646',
  0: '103041453616050110',
  1: '012026 1636',
  2: '01103041420646',
  3: '01103041423313 334445361605',
  4: '36300444',
  5: '400002324345361605',
  6: '413010010516364544331304',
  7: '004016',
  8: '103041423313020110 3344453616050413',
  9: '423313020110304145361605',
  '.': '0606',
  ',': '1607',
  ':': '0202 0606',
  ';': '1212 1607',
  '!': '0004 0606',
  '?': '01103041422324 2626',
  '-': '0333',
  '+': '2125 0343',
  '=': '0242 0444',
  '/': '4006',
  '\\': '0046',
  '|': '0007',
  _: '0646',
  '(': '10010516',
  ')': '00111506',
  '[': '10000616',
  ']': '00101606',
  '{': '20111203141526',
  '}': '00111223141506',
  '<': '310335',
  '>': '013305',
  '*': '2125 0244 4204',
  '#': '1016 3036 0242 0444',
  '%': '4006 0000 4646',
  '&': '4612112021320405163644',
  '@': '34242333344441301001051636',
  "'": '0001',
  '"': '0001 2021',
  '`': '0011',
  '^': '022042',
  '~': '04132433',
  $: '413010010213334445361605 2027',
  '€': '4130201115263645 0232 0434',
  '°': '1021120110',
  '•': '1313',
  '·': '0303',
  '–': '0343',
  '—': '0353',
  '…': '0606 2626 4646',
  '→': '0343 213243 4324',
  '←': '0343 211203 0314',
  '↑': '2026 022042',
  '↓': '2026 042644',
  '×': '0145 4105',
  ß: '0601103041423344453616',
  Ø: '103041453616050110 4006',
  ø: '123243453616050312 4206',
  Æ: '0630 303650 3353 3656 1434',
  Þ: '0006 0131424314',
  ð: '4332120305163645433010',
};

/** Letters that are replaced by similar letters from the table. */
const substitutes: Readonly<Record<string, string>> = {
  æ: 'ae',
  œ: 'oe',
  Œ: 'OE',
  '’': "'",
  '‘': "'",
  '“': '"',
  '”': '"',
  '„': '"',
  '\u00a0': ' ',
  '\u2212': '-',
  ı: 'i',
  ł: 'l',
  Ł: 'L',
};

/** The strokes of combining accents as `[x, y, x, y, …]`, in half grid units, relative to the middle and the top of the letter. */
const accents: Readonly<Record<string, readonly (readonly number[])[]>> = {
  '\u0300': [[-2, -4, 1, -2]],
  '\u0301': [[2, -4, -1, -2]],
  '\u0302': [[-2, -2, 0, -4, 2, -2]],
  '\u0303': [[-3, -2, -1, -3, 1, -2, 3, -3]],
  '\u0304': [[-2, -3, 2, -3]],
  '\u0308': [
    [-2, -3, -2, -3],
    [2, -3, 2, -3],
  ],
  '\u030a': [[0, -5, 1, -4, 0, -3, -1, -4, 0, -5]],
  '\u030b': [
    [-1, -4, -2, -2],
    [2, -4, 1, -2],
  ],
  '\u030c': [[-2, -4, 0, -2, 2, -4]],
  '\u0327': [[0, 12, 1, 14, -1, 15]],
  '\u0328': [[1, 12, 0, 14, 2, 15]],
};
const unknown = '0040460600';

/** The strokes of a letter, as segments `[x1, y1, x2, y2]` in grid units. */
export interface Letter {
  readonly segments: readonly (readonly [number, number, number, number])[];
  readonly width: number;
}

/**
 * The height of a line, from the accents on capitals to the descenders, and the distance from the top of the line to the top of its
 * capitals, in grid units.
 */
export const lineHeight = 10;
export const capitalTop = 2;
/** The space between two letters and the width of a space character, in grid units. */
export const letterSpace = 1.6;
export const spaceWidth = 2;

/** Splits a text into letters. Each letter includes its accents: `['U\u0308', 'b']`. */
export function lettersOf(text: string): string[] {
  if (/^[\x20-\x7e]*$/.test(text)) return text.split('');
  const plain = text.replaceAll(/[æœŒ’‘“”„\u00a0\u2212ıłŁ]/g, (letter) => substitutes[letter]!);
  return plain.normalize('NFD').match(/\P{M}\p{M}*/gu) ?? [];
}

const maxKnown = 1024;
const known = new Map<string, Letter>();

/** Returns the strokes of a letter. A letter that is not in the table is drawn as a box. */
export function letterOf(letter: string): Letter {
  let found = known.get(letter);
  if (found === undefined) {
    if (known.size >= maxKnown) known.clear();
    found = compose(letter);
    known.set(letter, found);
  }
  return found;
}

function compose(letter: string): Letter {
  const [base = ' ', ...marks] = letter;
  if (base === ' ') return { segments: [], width: spaceWidth };
  const paths = (strokes[base] ?? unknown).split(' ').map(pointsOf);
  const width = Math.max(...paths.flat().map(([x]) => x));
  const top = /[a-z]/.test(base) && !/[bdfhklt]/.test(base) ? 2 : 0;
  const all = [
    ...paths,
    ...marks.flatMap((mark) =>
      (accents[mark] ?? []).map((path) => {
        const points: [number, number][] = [];
        for (let at = 0; at < path.length; at += 2) {
          const y = path[at + 1]!;
          points.push([width / 2 + path[at]! / 2, y / 2 + (y < 0 ? top : 0)]);
        }
        return points;
      }),
    ),
  ];
  const segments = all.flatMap((points) =>
    points.slice(1).map(([x, y], index) => [...points[index]!, x, y] as [number, number, number, number]),
  );
  return { segments, width };
}

function pointsOf(path: string): [number, number][] {
  const points: [number, number][] = [];
  for (let at = 0; at < path.length; at += 2) points.push([Number(path[at]), Number(path[at + 1])]);
  return points;
}
