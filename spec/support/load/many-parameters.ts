// Millions of parameters, named as in a building: 1,000 per group.

export const connectionId = 'plant';

/** `group-7/sensor-42`, for any whole number. */
export function parameterIdOf(index: number): string {
  return `group-${Math.floor(index / 1000)}/sensor-${index % 1000}`;
}

/** The number of a parameter by its address. Errors: when it is none of these. */
export function parameterNumberOf(address: string): number {
  const [, group, sensor] = /^plant\/group-(\d+)\/sensor-(\d+)$/.exec(address) ?? [];
  if (sensor === undefined) throw new Error(`expected an address of ${connectionId}, got ${address}`);
  return Number(group) * 1000 + Number(sensor);
}

/** The settings of a Dummy connection with so many of them, of unknown values. */
export function plantOf(parameters: number): { readonly connections: Record<string, object> } {
  const lines = Array.from({ length: parameters }, (_, index) => lineOf(index, false));
  return { connections: { [connectionId]: { type: 'dummy', parameters: lines } } };
}

/** The line of a Dummy connection (D-11); the default value, where there is one, is the index in hundredths. */
export function lineOf(index: number, hasDefault: boolean): string {
  return `${parameterIdOf(index)},F${hasDefault ? `,${defaultOf(index)}` : ''}`;
}

export function defaultOf(index: number): number {
  return index / 100;
}
