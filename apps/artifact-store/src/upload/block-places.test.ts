import { PassThrough } from "node:stream";
import { expect, test, vi } from "vitest";
import { createBlockPlaces } from "./block-places.ts";

const tick = () => new Promise((resolve) => setImmediate(resolve));
const limits = { perTenant: 1, total: 2, waiting: 1 };

/** A piece of work that ends when it is told to. */
function held() {
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const work = vi.fn(() => ended);
  return { work, end };
}

test("an upload waits for a place without reading, is told when it has one, and others of its tenant come after it", async () => {
  const placesOf = createBlockPlaces({ limits });
  const said: string[] = [];
  const upload = (tenantId: number, name: string) =>
    placesOf(tenantId, { onWait: () => said.push(`${name} waits`), onPlace: () => said.push(`${name} goes on`) });
  const [first, second, other] = [held(), held(), held()];
  const [a, b, c] = [upload(1, "a"), upload(1, "b"), upload(2, "c")];
  const taken = [a.take(new PassThrough(), first.work), b.take(new PassThrough(), second.work), c.take(new PassThrough(), other.work)];
  await tick();
  expect([first.work, second.work, other.work].map(({ mock }) => mock.calls.length)).toEqual([1, 0, 1]);
  expect(said.toSorted()).toEqual(["a goes on", "a waits", "b waits", "c goes on", "c waits"]);
  first.end();
  await taken[0];
  const again = held();
  // it was let in once, so it may come again although another one waits
  const next = a.take(new PassThrough(), again.work);
  await tick();
  expect([second.work, again.work].map(({ mock }) => mock.calls.length)).toEqual([1, 0]);
  for (const one of [second, other, again]) one.end();
  await Promise.all([...taken, next]);
});

test("beyond the queue an upload is refused, and one that waits for too long is too; both hear when to come again", async () => {
  const placesOf = createBlockPlaces({ limits, waitMs: 20 });
  const silent = { onWait: () => {}, onPlace: () => {} };
  const refused = { code: "tooManyRequests", headers: { "retry-after": expect.any(String) } };
  const first = held();
  const running = placesOf(1, silent).take(new PassThrough(), first.work);
  const waiting = placesOf(1, silent).take(new PassThrough(), held().work);
  await expect(placesOf(1, silent).take(new PassThrough(), held().work)).rejects.toMatchObject(refused);
  await expect(waiting).rejects.toMatchObject(refused);
  first.end();
  await running;
  expect(await placesOf(1, silent).take(new PassThrough(), async () => "done")).toBe("done");
});

test("a block that does not come in time ends its upload and frees the place", async () => {
  const placesOf = createBlockPlaces({ limits, blockMs: 20 });
  const silent = { onWait: () => {}, onPlace: () => {} };
  const source = new PassThrough();
  const read = async () => {
    for await (const _chunk of source);
  };
  await expect(placesOf(1, silent).take(source, read)).rejects.toMatchObject({ code: "requestTimeout" });
  expect(await placesOf(1, silent).take(new PassThrough(), async () => "done")).toBe("done");
});
