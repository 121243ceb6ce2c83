import { expect, it } from "vitest";
import { InOrder } from "./in-order.ts";

/** A promise that the test resolves by itself. */
function gate<T = void>() {
  return Promise.withResolvers<T>();
}
const soon = () => new Promise((resolve) => setImmediate(resolve));

it("handles the messages of a thing one after the other in the order in which they came, also where only the action is known", async () => {
  const found = gate<ReadonlyMap<number, string>>();
  const asked: (readonly number[])[] = [];
  const order = new InOrder((ids) => {
    asked.push(ids);
    return found.promise;
  });
  const done: string[] = [];
  const first = gate();
  order.add({ of: { actionId: 7 }, work: () => first.promise.then(() => void done.push("status")) });
  order.add({ of: { thingId: "a" }, work: async () => void done.push("attributes") });
  order.add({ of: { thingId: "b" }, work: async () => void done.push("other thing") });
  await soon();
  expect(asked).toEqual([[7]]);
  expect(done).toEqual([]);
  found.resolve(new Map([[7, "a"]]));
  await soon();
  expect(done).toEqual(["other thing"]);
  first.resolve();
  await soon();
  expect(done).toEqual(["other thing", "status", "attributes"]);
});

it("asks for the actions of all messages that came meanwhile at once, and says so where nobody has one", async () => {
  const gates = [gate<ReadonlyMap<number, string>>(), gate<ReadonlyMap<number, string>>()];
  const asked: (readonly number[])[] = [];
  const order = new InOrder((ids) => {
    asked.push(ids);
    return gates[asked.length - 1]?.promise ?? Promise.resolve(new Map());
  });
  const things: (string | undefined)[] = [];
  for (const actionId of [1, 2, 2, 3]) order.add({ of: { actionId }, work: async (thingId) => void things.push(thingId) });
  gates[0]?.resolve(new Map([[1, "a"]]));
  await soon();
  expect(asked).toEqual([[1], [2, 3]]);
  gates[1]?.resolve(new Map([[2, "b"]]));
  await soon();
  expect(things).toEqual(["a", "b", undefined, "b"]);
});
