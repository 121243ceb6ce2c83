/** What the first says, and what the second says where the first says nothing: at once where both can. */
export function orElse<T extends object>(first: T | undefined | Promise<T | undefined>, second: () => T | Promise<T>): T | Promise<T> {
  return first instanceof Promise ? first.then((found) => found ?? second()) : (first ?? second());
}
