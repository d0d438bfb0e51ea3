// Counts as people read them. Locales know that as well, but to load them takes the start of a process some 20 ms.

/** Groups the digits of a whole number: `20,000`. */
export function groupDigits(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}
