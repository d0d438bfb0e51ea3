// Estimates how large the program of a regular expression will be, before it is compiled: `(a{9}){9}` is short, and its program is long.

/** Where capitals and small letters are the same, these take long to compile: a range of letters that are not English, and a class. */
const foldedRangeSteps = 800;
const foldedClassSteps = 20;

const token = new RegExp(
  [
    String.raw`(?<quoted>\\Q.*?(?:\\E|$))`,
    String.raw`(?<flags>\(\?[A-Za-z-]*\))`,
    String.raw`(?<open>\((?:\?(?:P?<\w*>|[A-Za-z-]*:))?)`,
    String.raw`(?<close>\))`,
    String.raw`\{(?<least>\d+)(?<comma>,(?<most>\d*))?\}`,
    String.raw`(?<class>\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]|\\[pP](?:\{[^}]*\}|.))`,
    '(?<repeat>[*+?])',
    String.raw`\\x\{[^}]*\}|\\.|.`,
  ].join('|'),
  'gsy',
);

/** Returns about how many steps the program will have, rather too many than too few. */
export function estimateSteps(pattern: string): number {
  const isFolded = /\(\?[A-Za-z]*i/.test(pattern);
  /** How many steps came before each group that is open. */
  const before: number[] = [];
  let steps = 2;
  /** Steps that count once, however often they are repeated. */
  let once = 0;
  let last = 0;
  const add = (count: number) => {
    last = count;
    steps += count;
  };
  for (const { 0: text, groups = {} } of pattern.matchAll(token)) {
    if (groups.open !== undefined) {
      before.push(steps);
      steps = 2;
    } else if (groups.close !== undefined) {
      const group = steps;
      steps = before.pop() ?? 0;
      add(group);
    } else if (groups.least !== undefined) {
      const times = groups.comma === undefined ? Number(groups.least) : Number(groups.most || groups.least) + 1;
      const repeated = (last + 1) * times;
      steps += repeated - last;
      last = repeated;
    } else if (groups.repeat !== undefined) {
      steps++;
      last++;
    } else if (groups.quoted !== undefined) add(text.length);
    else if (groups.flags === undefined) add(1);
    if (isFolded && groups.class !== undefined) once += stepsOfFolded(text);
  }
  return before.reduce((sum, count) => sum + count, steps + once);
}

function stepsOfFolded(text: string): number {
  if (/-(?:[^ -~]|\\x)/.test(text)) return foldedRangeSteps;
  return /\\[pP]/.test(text) ? foldedClassSteps : 0;
}
