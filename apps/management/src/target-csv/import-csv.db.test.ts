import { PassThrough } from "node:stream";
import { HarrierError } from "@harrier/errors";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type HttpFixture, httpFixture } from "../testing/http.fixture.ts";
import { type Fixture, managementFixture } from "../testing/management.fixture.ts";
import { importTargets } from "./import-csv.ts";

let fixture: Fixture;
let http: HttpFixture;
beforeAll(async () => {
  fixture = await managementFixture();
  http = await httpFixture(fixture);
});
afterAll(async () => {
  await http.close();
  await fixture.close();
});

const path = "/api/mgmt/v1/targets.csv";
/** This is more than all buffers between the client and the parser hold: the file is refused while most of it has not been sent. */
const lines = `${"x".repeat(99)}\n`.repeat(200_000);

test.each([
  ["its header is wrong", "controllerId,colour", []],
  ["it is no CSV", 'controllerId\n"x"y', [{ line: 2 }]],
])("a large file that is refused because %s is answered, and its connection is not cut", async (_, start, errors) => {
  const { status, body } = await http.upload(path, `${start}\n${lines}`);
  expect([status, body.errorCode]).toEqual([400, "hawkbit.server.error.repo.constraintViolation"]);
  expect(body.info).toMatchObject({ created: 0, failed: errors.length, errors });
});

test("a large file whose lines controller refuses is answered, and its connection is not cut", async () => {
  http.failNext(new HarrierError("quotaTooManyEntries", "There are too many targets."));
  const { status, body } = await http.upload(path, `controllerId\n${lines}`);
  expect([status, body.errorCode]).toEqual([403, "hawkbit.server.error.quota.tooManyEntries"]);
});

test.each(["before it is read", "while it is read"])(
  "when a client disconnects %s, its import ends and nothing is created",
  async (when) => {
    const file = new PassThrough();
    const requested: unknown[] = [];
    const targets = { importTargets: async (request: unknown) => void requested.push(request) };
    const actor = { out: () => ({}) };
    file.write("controllerId\na\n");
    if (when === "before it is read") file.destroy();
    const importing = importTargets({ targets } as never, actor as never, { file, onError: "abort" });
    setTimeout(() => file.destroy(), 20);
    await expect(importing).rejects.toMatchObject({ code: "bodyNotReadable" });
    expect(requested).toEqual([]);
  },
);

test("controller discards the lines of a file that breaks off", async () => {
  const file = new PassThrough();
  const requested: { last: boolean; discard: boolean }[] = [];
  const targets = {
    importTargets: async ({ last, discard }: { last: boolean; discard: boolean }) => {
      requested.push({ last, discard });
      return { created: 0, failed: 0, problems: [] };
    },
  };
  file.write(`controllerId\n${Array.from({ length: 1_100 }, (_, n) => `c-${n}\n`).join("")}`);
  const importing = importTargets({ targets } as never, { out: () => ({}) } as never, { file, onError: "abort" });
  await expect.poll(() => requested).toEqual([{ last: false, discard: false }]);
  file.destroy();
  await expect(importing).rejects.toMatchObject({ code: "bodyNotReadable" });
  expect(requested).toEqual([
    { last: false, discard: false },
    { last: true, discard: true },
  ]);
});

test("a tenant has two imports under way, and a third is refused until one has ended", async () => {
  const ends: (() => void)[] = [];
  http.holdImports(() => new Promise<void>((resolve) => ends.push(resolve)));
  const file = `controllerId\n${Array.from({ length: 1_100 }, (_, n) => `h-${n}\n`).join("")}`;
  const running = [http.upload(path, file), http.upload(path, file)];
  await expect.poll(() => ends.length).toBe(2);
  expect(await http.upload(path, file)).toMatchObject({ status: 429 });
  http.holdImports(async () => {});
  for (const end of ends) end();
  expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200]);
  expect((await http.upload(path, file)).status).toBe(200);
});
