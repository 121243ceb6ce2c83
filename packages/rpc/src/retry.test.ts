import { once } from "node:events";
import { createServer } from "node:net";
import { HarrierError } from "@harrier/errors";
import { afterEach, describe, expect, it, vi } from "vitest";
import { call, cleanUp, connect, failure, force, keyText, secret, serve } from "../test-support/actions.ts";
import { servicePrincipal } from "./identity.ts";
import { parseKeys } from "./keys.ts";
import type { RpcServer } from "./server.ts";

afterEach(cleanUp);

describe("a retry", () => {
  const flaky = (failures: number) => {
    let attempts = 0;
    const handler = async () => {
      attempts += 1;
      if (attempts <= failures) throw new HarrierError("unavailable");
      return {};
    };
    return { handler, attempts: () => attempts };
  };

  it("is made for an idempotent call at most twice", async () => {
    const two = flaky(2);
    const three = flaky(3);
    const [, port] = await serve({ forceAction: two.handler, cancelSetChunk: three.handler });
    const client = connect([port]);
    await client.forceAction(force, call());
    expect(two.attempts()).toBe(3);
    expect((await failure(client.cancelSetChunk({ setId: 1 }, call({ principal: servicePrincipal("management") })))).code).toBe(
      "unavailable",
    );
    expect(three.attempts()).toBe(3);
  });

  it("is made for no other call, unless it has a command id", async () => {
    const bare = flaky(1);
    const [, port] = await serve({ cancelAction: bare.handler });
    const client = connect([port]);
    expect((await failure(client.cancelAction(force, call()))).code).toBe("unavailable");
    expect(bare.attempts()).toBe(1);
    const command = flaky(1);
    const [, other] = await serve({ cancelAction: command.handler });
    await connect([other]).cancelAction(force, call({ commandId: "c-1" }));
    expect(command.attempts()).toBe(2);
  });

  it("is made for no other error", async () => {
    const forceAction = vi.fn(() => Promise.reject(new HarrierError("concurrentModification")));
    const [, port] = await serve({ forceAction });
    await failure(connect([port]).forceAction(force, call()));
    expect(forceAction).toHaveBeenCalledTimes(1);
  });

  it("goes to another replica if one refuses the identity, whatever the call is, and nothing is done twice", async () => {
    let done = 0;
    const handlers = {
      cancelAction: async () => {
        done += 1;
        return {};
      },
    };
    const otherKeys = parseKeys(keyText.replaceAll(/=k1:[^;]+/g, `=k1:${secret("z")}`));
    const [, a] = await serve(handlers, { keys: otherKeys });
    const [, b] = await serve(handlers);
    const client = connect([a, b]);
    for (let n = 0; n < 8; n += 1) await client.cancelAction(force, call());
    expect(done).toBe(8);
    // if no replica accepts it, the error stays the same
    expect((await failure(connect([a]).cancelAction(force, call()))).code).toBe("identityRefused");
  });

  it("is not made if the handler itself was refused by a further service", async () => {
    const cancelAction = vi.fn(() => Promise.reject(new HarrierError("identityRefused")));
    const [, port] = await serve({ cancelAction });
    expect((await failure(connect([port]).cancelAction(force, call()))).code).toBe("unavailable");
    expect(cancelAction).toHaveBeenCalledTimes(1);
  });

  it("reaches another replica if the one that had the call is cut off", async () => {
    const servers: RpcServer[] = [];
    let taken = 0;
    const handlers = (index: number) => ({
      forceAction: async () => {
        taken += 1;
        if (taken > 1) return {};
        void servers[index]?.stop(0);
        return new Promise<never>(() => undefined);
      },
    });
    const [first, a] = await serve(handlers(0));
    const [second, b] = await serve(handlers(1));
    servers.push(first, second);
    await connect([a, b]).forceAction(force, call());
    expect(taken).toBe(2);
  });

  it("follows the round-robin over replicas", async () => {
    const counts = [0, 0];
    const counting = (index: 0 | 1) => ({
      forceAction: async () => {
        counts[index] = (counts[index] ?? 0) + 1;
        return {};
      },
    });
    const [, a] = await serve(counting(0));
    const [, b] = await serve(counting(1));
    const client = connect([a, b]);
    await vi.waitFor(async () => {
      await client.forceAction(force, call());
      expect(Math.min(...counts)).toBeGreaterThanOrEqual(3);
    }, 8_000);
  });

  it("ends as unavailable if no server listens", async () => {
    const error = await failure(connect([1]).forceAction(force, call()));
    // the call ends after two repetitions, and not at the deadline, which would be another error
    expect(error.code).toBe("unavailable");
  });

  it("succeeds soon after the server is back", async () => {
    const [server, port] = await serve({ forceAction: async () => ({}) });
    const client = connect([port]);
    await client.forceAction(force, call());
    await server.stop(0);
    expect((await failure(client.forceAction(force, call()))).code).toBe("unavailable");
    await serve({ forceAction: async () => ({}) }, { port });
    await vi.waitFor(() => client.forceAction(force, call()), { timeout: 8_000, interval: 100 });
  });

  it("reaches a replica that has just come back when the other one ends, however long it was away", { timeout: 20_000 }, async () => {
    const handlers = { forceAction: async () => ({}) };
    const [first, port] = await serve(handlers);
    const [second, other] = await serve(handlers);
    const client = connect([port, other]);
    await client.forceAction(force, call());
    await first.stop(0);
    const away = createServer((socket) => socket.destroy()).listen(port, "127.0.0.1");
    try {
      await once(away, "listening");
      // by then a channel waits between two attempts as long as it ever does
      await new Promise((resolve) => setTimeout(resolve, 5_000));
      // it comes back just after an attempt: the next one is as far as can be
      await once(away, "connection");
    } finally {
      away.close();
      await once(away, "close");
    }
    await serve(handlers, { port });
    await second.stop(0);
    await client.forceAction(force, call());
  });
});
