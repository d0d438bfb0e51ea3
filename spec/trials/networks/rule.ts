// A rule of a network: what it reads, what it computes, and when it tells.

/** What an expression computes. Sums stay within 0 to 3, so that many writes change nothing. */
export type Term =
  /** `isGiven`: a template has a variable there. */
  | { readonly is: 'number'; readonly number: number; readonly isGiven?: true }
  | { readonly is: 'name'; readonly name: string }
  | { readonly is: 'fired'; readonly name: string }
  | { readonly is: 'param'; readonly id: string; readonly otherwise: number | undefined }
  | { readonly is: 'known'; readonly id: string; readonly known: Term; readonly unknown: Term }
  | { readonly is: 'choice'; readonly on: Term; readonly above: Term; readonly below: Term }
  | { readonly is: 'sum'; readonly left: Term; readonly right: Term };

/** A choice, and a rule with a condition, go on where a number is above this. */
export const threshold = 1.5;

/** A step that goes on between values; without `everyMs` as often as it does by itself. */
export interface GradualStep {
  readonly is: 'average' | 'ramp';
  readonly overMs: number;
  readonly everyMs: number | undefined;
}

/** Of what gradual steps tell, so many digits count. */
export const digits = 6;
/** Is added before they are rounded, so that what lies between two of them is rounded up, however it was computed. */
export const nudge = 1e-9;

export interface NetworkRule {
  readonly name: string;
  /** Parameter IDs, or those by name. */
  readonly from: readonly string[] | Readonly<Record<string, string>>;
  /** Runs as soon as what is known is enough. */
  readonly requiresAny: boolean;
  readonly when: Term | undefined;
  readonly map: Term | undefined;
  readonly startWith: number | undefined;
  readonly step: GradualStep | undefined;
  readonly to: readonly string[];
  /** What each destination gets. */
  readonly split: readonly Term[] | undefined;
  readonly atStart: boolean;
  readonly hearsWrites: boolean;
}

export function isTrigger(id: string): boolean {
  return id.startsWith('t');
}

export function isList(from: NetworkRule['from']): from is readonly string[] {
  return Array.isArray(from);
}

/** Whether what came is written as it is. */
export function isAsItCame({ map, startWith, step }: Pick<NetworkRule, 'map' | 'startWith' | 'step'>): boolean {
  return map === undefined && startWith === undefined && step === undefined;
}
