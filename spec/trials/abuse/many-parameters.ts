// Parameters for abuses that need many of them.

/** The lines of 10,000 parameters with values, `group-3/sensor-1203/value`. */
export const manyParameters: readonly string[] = Array.from(
  { length: 10_000 },
  (_, index) => `group-${index % 10}/sensor-${index}/value,F,${index}`,
);
