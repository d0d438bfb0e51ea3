// What a function of expressions is. Authors write it as a function or, where it has a first argument, as a method of it:
// `round(value)` and `value.round()` are the same.

/** The types of the language that functions take and give; every number is a `double`. */
type Type = string;

export interface FunctionType {
  readonly name: string;
  /** How it is written, for people. */
  readonly usages: readonly string[];
  /** What it gives, for people. */
  readonly summary: string;
  /** It reads the clock of the hub, which it is given as its first argument. */
  readonly readsNow?: true;
  readonly overloads: readonly Overload[];
}

export interface Overload {
  readonly takes: readonly Type[];
  readonly gives: Type;
  // biome-ignore lint/suspicious/noExplicitAny: the language has checked the types of the arguments
  readonly compute: (...values: any[]) => unknown;
}

/** Defines a function of numbers that gives a number. */
export function numeric(
  usage: string,
  summary: string,
  compute: (...numbers: number[]) => number,
  count = compute.length,
): FunctionType {
  const takes = Array<Type>(count).fill('double');
  return { name: nameIn(usage), usages: [usage], summary, overloads: [{ takes, gives: 'double', compute }] };
}

/** Defines a function; an overload is told as `string, double: string`. */
export function define(
  usages: readonly string[],
  summary: string,
  overloads: Readonly<Record<string, Overload['compute']>>,
): FunctionType {
  return {
    name: nameIn(usages[0]!),
    usages,
    summary,
    overloads: Object.entries(overloads).map(([signature, compute]) => {
      const [takes = '', gives = ''] = signature.split(': ');
      return { takes: takes === '' ? [] : takes.split(/, (?![^<]*>)/), gives, compute };
    }),
  };
}

function nameIn(usage: string): string {
  return usage.slice(0, usage.indexOf('('));
}
