// Checks that no two connections that are enabled claim the same port, file or device.

import { type Claim, claimsClash } from '../../../connections/claim.ts';
import { type FoundConnection, resolver } from './found-connection.ts';

export class ClaimCheck {
  readonly #taken: { readonly claim: Claim; readonly id: string }[] = [];

  add({ spot, id, type, settings, folder }: FoundConnection): void {
    for (const claim of type.claims?.(settings, resolver(folder)) ?? []) {
      const other = this.#taken.find((taken) => claimsClash(claim, taken.claim));
      if (other) spot.add(`expected ${claim.name} for itself, "${other.id}" has it too`);
      this.#taken.push({ claim, id });
    }
  }
}
