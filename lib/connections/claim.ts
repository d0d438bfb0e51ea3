// What only one connection of a hub can have.

/** Something that only one connection may hold: `{name: 'port 17011', scope: '127.0.0.1'}`; scope `*` is all of them. */
export interface Claim {
  readonly name: string;
  readonly scope: string;
}

/** Whether two connections cannot both have what they claim. */
export function isSameClaim(one: Claim, other: Claim): boolean {
  return one.name === other.name && (one.scope === other.scope || one.scope === '*' || other.scope === '*');
}
