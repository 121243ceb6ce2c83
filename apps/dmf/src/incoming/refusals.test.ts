import { expect, it } from "vitest";
import { Refusals } from "./refusals.ts";

const controller = (fails: () => boolean) => {
  const told: object[] = [];
  const recordRefusals = async ({ refusals }: { refusals: readonly object[] }) => {
    if (fails()) throw new Error("away");
    told.push(...refusals.map((one) => ({ ...one })));
  };
  return { told, counts: new Refusals({ recordRefusals } as unknown as ConstructorParameters<typeof Refusals>[0]) };
};

it("counts by tenant and kind, with the last reason, and tells each once", async () => {
  const { told, counts } = controller(() => false);
  counts.add(1, { kind: "body", message: "first" });
  counts.add(1, { kind: "body", message: "second" });
  counts.add(2, { kind: "tenant", message: "other" });
  expect(await counts.tell()).toBe(false);
  expect(told).toMatchObject([
    { tenantId: 1, kind: "body", count: 2, lastReason: "second" },
    { tenantId: 2, kind: "tenant", count: 1 },
  ]);
  expect(await counts.tell()).toBe(false);
  expect(told).toHaveLength(2);
});

it("what controller could not be told is told the next time, with what came meanwhile", async () => {
  let away = true;
  const { told, counts } = controller(() => away);
  counts.add(1, { kind: "body", message: "first" });
  await expect(counts.tell()).rejects.toThrow("away");
  counts.add(1, { kind: "body", message: "second" });
  away = false;
  await counts.tell();
  expect(told).toMatchObject([{ count: 2, lastReason: "second" }]);
});
