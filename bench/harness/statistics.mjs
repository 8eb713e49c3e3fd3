/** The value that a share of the values is at most, for example 0.99. */
export const percentile = (values, share) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))];

export const median = (values) => percentile(values, 0.5);

export const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
