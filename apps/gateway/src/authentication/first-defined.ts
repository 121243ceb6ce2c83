/** Returns the result of the first function, or of the second if the first has none; synchronously where both are. */
export function firstDefined<T extends object>(
  first: T | undefined | Promise<T | undefined>,
  second: () => T | Promise<T>,
): T | Promise<T> {
  return first instanceof Promise ? first.then((found) => found ?? second()) : (first ?? second());
}
