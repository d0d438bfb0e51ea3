// The type of a function in expressions. Authors call a function either as a function or as a method of its first argument: `round(value)`
// and `value.round()` are the same.

/** The CEL type of an argument or result. Every number is a `double`. */
type Type = string;

export interface FunctionType {
  readonly name: string;
  /** The ways to call the function, for documentation and errors. */
  readonly usages: readonly string[];
  /** A description of the function's result, for documentation. */
  readonly summary: string;
  /** Whether the function receives the hub's time as its first argument. */
  readonly readsNow?: true;
  readonly overloads: readonly Overload[];
}

export interface Overload {
  readonly takes: readonly Type[];
  readonly gives: Type;
  // biome-ignore lint/suspicious/noExplicitAny: the language checks the types of the arguments
  readonly compute: (...values: any[]) => unknown;
}

/** Defines a function that takes only numbers and returns a number. */
export function numeric(
  usage: string,
  summary: string,
  compute: (...numbers: number[]) => number,
  count = compute.length,
): FunctionType {
  const takes = Array<Type>(count).fill('double');
  return { name: nameIn(usage), usages: [usage], summary, overloads: [{ takes, gives: 'double', compute }] };
}

/** Defines a function, given its overloads by signature. A signature has the form `string, double: string`. */
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
