/** So many reads are under way at a time: what the server tells only object by object is not waited for one by one. */
const atATime = 8;

/** Does work for items in their order, eight at a time. */
export async function* inBatches<T, R>(items: AsyncIterable<T> | Iterable<T>, work: (item: T) => Promise<R>): AsyncGenerator<R> {
  let held: T[] = [];
  for await (const item of items) {
    held.push(item);
    if (held.length < atATime) continue;
    yield* await Promise.all(held.map(work));
    held = [];
  }
  yield* await Promise.all(held.map(work));
}
