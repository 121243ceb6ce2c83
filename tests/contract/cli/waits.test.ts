import type { Server } from "node:http";
import { afterAll, describe, expect, test } from "vitest";
import { answering, closeAll, environmentOf, harrier, json } from "./harrier.ts";

describe("waits behind an outage of the server (contract console.md §5)", () => {
  const servers: Server[] = [];
  afterAll(() => closeAll(servers));

  /** A server with a rollout that runs, and then, for each further look, what `later` says. */
  async function withRollout(later: (look: number) => "cut" | "busy" | "silent" | "finished") {
    let seen = 0;
    const { url } = await answering(servers, (request, response) => {
      if (!request.url?.includes("/rollouts/11")) return json(response, { message: "there is none" }, 404);
      seen += 1;
      const state = seen <= 3 ? "running" : later(seen - 3);
      if (state === "cut") return request.socket.destroy();
      if (state === "busy") return json(response, { message: "not now" }, 503);
      if (state === "silent") return undefined;
      return json(response, { id: 11, name: "fw", status: state, totalTargets: 1 });
    });
    return environmentOf({ HARRIER_SERVER: url });
  }

  test("what waits goes on behind connections that break and answers of a proxy, and says so", { timeout: 60_000 }, async () => {
    const env = await withRollout((look) => (look <= 3 ? "cut" : look <= 4 ? "busy" : "finished"));
    const ran = await harrier(["rollout", "wait", "11", "--timeout", "50s"], { env });
    expect(ran).toMatchObject({ code: 0, stderr: expect.stringContaining("cannot be seen at the moment") });
  });

  test("a server that takes the connection and says nothing does not outlast --timeout", async () => {
    const env = await withRollout(() => "silent");
    const began = performance.now();
    const ran = await harrier(["rollout", "wait", "11", "--timeout", "1s"], { env });
    expect(ran).toMatchObject({ code: 3, stderr: expect.stringMatching(/is still (running|not to be seen)/) });
    expect(performance.now() - began).toBeLessThan(20_000);
  });
});
