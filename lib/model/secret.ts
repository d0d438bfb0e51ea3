// Texts that nobody may read, such as passwords from the environment.

/** Shorter texts are words like any others: nothing is hidden behind them. */
const leastLength = 4;
const hidden = '***';

/** The text with `***` in place of each secret, as it is and as JSON has it. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  let result = text;
  for (const secret of secrets.filter(({ length }) => length >= leastLength).sort((a, b) => b.length - a.length))
    result = result.replaceAll(secret, hidden).replaceAll(JSON.stringify(secret).slice(1, -1), hidden);
  return result;
}

/** A message without what came instead of what was expected. */
export function withoutValue(message: string): string {
  return message.replace(/, got .*$/s, `, got ${hidden}`);
}
