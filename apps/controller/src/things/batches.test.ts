import { expect, it } from "vitest";
import { Batches, type Single } from "./batches.ts";

const single = (controllerId: string, { topic = "DOWNLOAD_AND_INSTALL", exchange = "e", tenantId = 1, set = "1/1" } = {}): Single => ({
  tenant: { tenantId, tenant: `T${tenantId}`, vhost: `v${tenantId}` },
  exchange,
  controllerId,
  told: {
    type: "EVENT",
    topic,
    set,
    body: { actionId: 5, targetSecurityToken: `of ${controllerId}`, softwareModules: [{ of: controllerId }] },
  },
});
const made = (...singles: Single[]) => {
  const batches = new Batches(1_000);
  for (const one of singles) batches.add(one);
  return batches.messages().map(({ body, ...rest }) => ({ ...rest, body: JSON.parse(body ?? "") }));
};

it("things of one exchange with one set are one message, with the modules of the first", () => {
  expect(made(single("a"), single("b"))).toEqual([
    {
      tenantId: 1,
      tenant: "T1",
      vhost: "v1",
      exchange: "e",
      controllerId: "",
      type: "EVENT",
      topic: "BATCH_DOWNLOAD_AND_INSTALL",
      body: {
        timestamp: 1_000,
        targets: [
          { actionId: 5, controllerId: "a", targetSecurityToken: "of a" },
          { actionId: 5, controllerId: "b", targetSecurityToken: "of b" },
        ],
        softwareModules: [{ of: "a" }],
      },
    },
  ]);
});

it("another exchange, tenant, set or topic is another batch", () => {
  const messages = made(
    single("a"),
    single("b", { exchange: "f" }),
    single("c", { tenantId: 2 }),
    single("d", { set: "1/2" }),
    single("e", { topic: "DOWNLOAD" }),
  );
  expect(messages.map(({ topic, body }) => [topic, body.targets.length])).toEqual([
    ...Array.from({ length: 4 }, () => ["BATCH_DOWNLOAD_AND_INSTALL", 1]),
    ["BATCH_DOWNLOAD", 1],
  ]);
});

it.each(["CONFIRM", "CANCEL_DOWNLOAD", "MULTI_ACTION", "REQUEST_ATTRIBUTES_UPDATE"])("%s is none of a batch", (topic) => {
  expect(new Batches(0).sizeOf(single("a", { topic }))).toBeUndefined();
});

it("the modules count once for a batch", () => {
  const batches = new Batches(0);
  const first = batches.sizeOf(single("a")) ?? 0;
  batches.add(single("a"));
  expect(batches.sizeOf(single("b"))).toBeLessThan(first);
});
