// Parameters by the million, named as a building would name them: 1,000 to a group.

export const connectionId = 'plant';

/** `group-7/sensor-42`, for any whole number. */
export function parameterIdOf(index: number): string {
  return `group-${Math.floor(index / 1000)}/sensor-${index % 1000}`;
}

/** The line of a Dummy connection (D-11); the default value, where there is one, is the index in hundredths. */
export function lineOf(index: number, hasDefault: boolean): string {
  return `${parameterIdOf(index)},F${hasDefault ? `,${defaultOf(index)}` : ''}`;
}

export function defaultOf(index: number): number {
  return index / 100;
}
