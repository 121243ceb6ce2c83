import { HarrierError } from "@harrier/errors";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Answer, RunningService } from "../service.suite.ts";
import { tenantId } from "../testing.suite.ts";
import { serveFile, shapes } from "./download.suite.ts";

let service: RunningService;
beforeAll(async () => {
  ({ service } = await serveFile());
});
afterAll(async () => service?.stop());

const [path] = shapes("open");
const get = (url: string, headers: Record<string, string> = {}, method = "GET"): Promise<Answer> =>
  service.call(method, url, { controllerId: "open", headers });

describe("records of downloads (contract device.md §6)", () => {
  it("records downloads of whole files and checksum files, but not of ranges, and never fails because of that", async () => {
    const { neighbours } = service;
    await get(path); // this download waits until all earlier records are written
    neighbours.noted.length = 0;
    neighbours.failures.noteDownloads.push(new HarrierError("unavailable"));
    await get(`${path}?${"x".repeat(9_000)}`);
    await get(path, { range: "bytes=0-9" });
    await get(path, { range: "bytes=0-9", "if-range": '"other"' }); // the whole file is sent
    await get(path, {}, "HEAD");
    await get(`${path}.MD5SUM`);
    await get(path, { "if-match": '"other"' });
    await expect.poll(() => neighbours.noted.length, { timeout: 5_000 }).toBe(4);
    expect(neighbours.noted.map((download) => download.path)).toEqual([path, path, path, `${path}.MD5SUM`]);
    expect(neighbours.noted[0]).toMatchObject({ tenantId, actionId: 11, at: expect.any(Number) });
  });

  it.each([
    ["a file", path, "GET"],
    ["a checksum file", `${path}.MD5SUM`, "GET"],
    ["the head of a file", path, "HEAD"],
  ])("sends no byte of %s before its record is written", async (_what, url, method) => {
    const { neighbours } = service;
    const held = Promise.withResolvers<void>();
    const requested = Promise.withResolvers<void>();
    neighbours.beforeRecorded = () => {
      requested.resolve();
      return held.promise;
    };
    let answered = false;
    const answer = service.open(method, url, { controllerId: "open" }).answer.then((response) => {
      answered = true;
      response.resume();
      return response;
    });
    await requested.promise;
    // requests that are not recorded do not wait
    expect((await get(path, { range: "bytes=0-9" })).status).toBe(206);
    expect(answered).toBe(false);
    held.resolve();
    expect((await answer).statusCode).toBe(200);
    neighbours.beforeRecorded = async () => {};
  });

  it("serves downloads without waiting for their records while controller hangs, until it answers again", async () => {
    const { neighbours } = service;
    const held = Promise.withResolvers<void>();
    neighbours.beforeRecorded = () => held.promise;
    neighbours.noted.length = 0;
    expect((await get(path)).status).toBe(200);
    const began = Date.now();
    for (let i = 0; i < 5; i += 1) expect((await get(path, {}, "HEAD")).status).toBe(200);
    expect(Date.now() - began).toBeLessThan(2_500); // otherwise each of them would wait a second
    expect(neighbours.noted).toEqual([]);
    held.resolve();
    neighbours.beforeRecorded = async () => {};
    await expect.poll(() => neighbours.noted.length).toBe(6);
  });
});
