import { HarrierError } from "@harrier/errors";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Fixture, managementFixture } from "../testing/management.fixture.ts";
import type { Broker } from "./broker.ts";
import { enableMessaging, getMessaging, removeMessaging, setPasswords } from "./messaging.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await managementFixture();
});
afterAll(() => fixture.close());
beforeEach(() => fixture.rows("delete from messaging"));

/** Records what is asked of the broker; `meanwhile` runs while it prepares a virtual host. */
function brokerFake(meanwhile: () => Promise<unknown> = async () => undefined, lost = false) {
  const asked: string[] = [];
  const broker: Broker = {
    settings: {
      publicUrl: new URL("amqps://broker.example.com"),
      serviceUser: "harrier",
      managementUrl: new URL("http://a:b@127.0.0.1:1/rabbit/"),
    },
    async prepare(vhost, use) {
      asked.push(`prepare ${vhost} ${use}`);
      await meanwhile();
    },
    putUser: async ({ name }) => void asked.push(`user ${name}`),
    setPassword: async (name) => void asked.push(`password ${name}`),
    has: async () => !lost,
    count: async () => ({ waitingMessages: 3, deadLetters: 4 }),
    remove: async (vhost, users) => void asked.push(`remove ${vhost} ${users.join()}`),
  };
  return { asked, deps: { db: fixture.db, broker } };
}

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => "none",
    (error: unknown) => (error as HarrierError).code,
  );

test("without a broker everything answers that there is none, and nothing is stored", async () => {
  const deps = { db: fixture.db, broker: undefined };
  for (const work of [getMessaging(deps, 1), setPasswords(deps, 1, { dmf: "x" }), enableMessaging(deps, 1, { use: "dmf" })]) {
    expect(await codeOf(work)).toBe("amqpNotAvailable");
  }
  await removeMessaging(deps, 1);
  expect(await fixture.rows("select * from messaging")).toEqual([]);
});

test("an enabling that failed has enabled nothing, and the next one takes over its virtual host", async () => {
  const failing = brokerFake(() => Promise.reject(new HarrierError("amqpNotAvailable")));
  expect(await codeOf(enableMessaging(failing.deps, 1, { use: "dmf" }))).toBe("amqpNotAvailable");
  const { deps, asked } = brokerFake();
  expect(await getMessaging(deps, 1)).toMatchObject({ enabled: false, ssl: true, port: 5671 });
  const { vhost } = await enableMessaging(deps, 1, { use: "dmf" });
  expect(asked).toEqual([...failing.asked, `user ${vhost}.dmf`]);
  expect(await getMessaging(deps, 1)).toMatchObject({ dmfEnabled: true, sieEnabled: false, waitingMessages: 3, deadLetters: 4 });
});

test("what the broker has lost is said so, and can be enabled again, also where it is enabled once", async () => {
  const { deps } = brokerFake();
  const { vhost } = await enableMessaging(deps, 1, { use: "sie" });
  expect(await codeOf(enableMessaging(deps, 1, { use: "sie" }))).toBe("amqpAlreadyEnabled");
  expect(await getMessaging(deps, 1)).not.toHaveProperty("missing");
  const lost = brokerFake(undefined, true);
  expect(await getMessaging(lost.deps, 1)).toMatchObject({ sieEnabled: true, missing: ["sie"] });
  expect((await enableMessaging(lost.deps, 1, { use: "sie" })).vhost).toBe(vhost);
  expect(lost.asked).toEqual([`prepare ${vhost} sie`, `user ${vhost}.sie`]);
});

test("of two enablings at the same time one is denied, whatever it overrides, so that every answer's password is the right one", async () => {
  const codes: string[] = [];
  const outer = brokerFake(async () => {
    const { deps } = brokerFake();
    codes.push(await codeOf(enableMessaging(deps, 1, { use: "dmf", override: true })));
  });
  await enableMessaging(outer.deps, 1, { use: "dmf" });
  expect(codes).toEqual(["amqpAlreadyEnabled"]);
  const { deps } = brokerFake();
  await enableMessaging(deps, 1, { use: "dmf", override: true });
});

test("addresses in an answer are those for clients, with the port that its scheme has, and the path of the management interface", async () => {
  const { deps } = brokerFake();
  const { vhost, users, ...place } = await enableMessaging(deps, 1, { use: "sie" });
  expect(place).toMatchObject({ ssl: true, service: "broker.example.com", port: 5671 });
  expect(users[`${vhost}.sie`]).toMatchObject({ httpApiUrl: "http://127.0.0.1:1/rabbit/api", dashboardUrl: "http://127.0.0.1:1/rabbit" });
  expect(users[`${vhost}.sie`]?.amqpUri).toMatch(new RegExp(`^amqps://${vhost}\\.sie:[\\w-]{32}@broker\\.example\\.com:5671/${vhost}$`));
});

test("a tenant that goes takes its virtual host and both users along", async () => {
  const { deps, asked } = brokerFake();
  const { vhost } = await enableMessaging(deps, 1, { use: "dmf" });
  await removeMessaging(deps, 1);
  expect(asked.at(-1)).toBe(`remove ${vhost} ${vhost}.dmf,${vhost}.sie`);
});
