import type { Server } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import { answering, closeAll, environmentOf, harrier, json } from "./harrier.ts";

const servers: Server[] = [];

/** A server that names to each token the tags of its tenant. */
async function ofTwoTenants() {
  const { url } = await answering(servers, ({ headers }, response) => {
    const name = { "Bearer token-of-a": "of-a", "Bearer token-of-b": "of-b", "Bearer third": "of-c" }[headers.authorization ?? ""];
    json(response, { content: name === undefined ? [] : [{ id: 1, name }], total: 1, size: 1 });
  });
  const bare = { HARRIER_SERVER: "", HARRIER_USER: "", HARRIER_PASSWORD: "", TOKEN_A: "token-of-a", TOKEN_B: "token-of-b" };
  const env = environmentOf(bare);
  for (const [as, variable] of [
    ["a", "TOKEN_A"],
    ["b", "TOKEN_B"],
  ] as const)
    expect((await harrier(["login", "--server", url, "--token-env", variable, "--as", as], { env })).code).toBe(0);
  const offered = async (line: string) => (await harrier(["__complete", line], { env })).stdout;
  return { env, url, offered };
}

describe("what is offered while a line is typed (contract console.md §5)", () => {
  afterEach(() => closeAll(servers));

  test("names of one tenant are not offered to another, neither after `context use` nor by options in the line", async () => {
    const { env, url, offered } = await ofTwoTenants();
    // after a second without an answer nothing is offered, and the next Tab asks again
    const eventually = (line: string) => expect.poll(() => offered(line), { timeout: 20_000 });
    await eventually("harrier tag get ").toBe("of-b\n");
    await harrier(["context", "use", "a"], { env });
    await eventually("harrier tag get ").toBe("of-a\n");
    await eventually("harrier tag get --context b ").toBe("of-b\n");
    await eventually("harrier --context=b tag get ").toBe("of-b\n");
    await eventually(`harrier tag get --server ${url} --token third `).toBe("of-c\n");
    await eventually("harrier tag get ").toBe("of-a\n");
  });

  test("short forms and values of options do not shift what is asked for", async () => {
    const { offered } = await ofTwoTenants();
    const eventually = (line: string) => expect.poll(() => offered(line), { timeout: 20_000 });
    expect(await offered("harrier dev ge")).toBe("get\n");
    expect(await offered("harrier type mod")).toBe("module\n");
    expect(await offered("harrier type module cre")).toBe("create\n");
    expect(await offered("harrier tag update --colour ")).toBe("");
    await eventually("harrier tag update --colour red ").toBe("of-b\n");
    await eventually("harrier tag update --description 'two words' -o name ").toBe("of-b\n");
  });
});
