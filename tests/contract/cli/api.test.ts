import { beforeAll, describe, expect, test } from "vitest";
import { inOwnTenant } from "../support/tenants.ts";
import { environmentOf, harrier } from "./harrier.ts";

describe("the operations by their id, or by method and path (contract console.md §5)", () => {
  inOwnTenant();
  let env: Record<string, string>;
  const ids = Array.from({ length: 520 }, (_, n) => `dev-${String(n).padStart(3, "0")}`);
  const api = (...args: string[]) => harrier(["api", ...args], { env });
  beforeAll(async () => {
    env = environmentOf();
    const input = JSON.stringify(ids.map((controllerId) => ({ controllerId })));
    expect(await harrier(["api", "targets.create", "--input", "-"], { env, input })).toMatchObject({ code: 0 });
  });

  test.each([
    ["by id", ["targets.list"]],
    ["by method and path", ["GET", "/targets"]],
  ])("--paginate walks the whole list %s, as one JSON array", async (_how, asked) => {
    const ran = await api(...asked, "--paginate");
    expect(ran).toMatchObject({ code: 0, stderr: "" });
    const all = JSON.parse(ran.stdout) as { controllerId: string }[];
    expect(all.map(({ controllerId }) => controllerId).sort()).toEqual(ids);
  });

  test("--paginate keeps what is asked for, in the path and by -f, and writes the format of -o", async () => {
    const some = ["GET", "/targets?q=controllerid==dev-00*", "-f", "sort=controllerid:DESC", "-f", "limit=3", "--paginate"];
    const ran = await api(...some, "-o", "name");
    expect(ran.stdout.trim().split("\n")).toEqual(ids.slice(0, 10).reverse());
    expect((await api("GET", "/targettags", "--paginate")).stdout).toBe("[]\n");
  });

  test("what has no pages, or is no operation, is a wrong usage", async () => {
    for (const args of [
      ["GET", "/targets/dev-001", "--paginate"],
      ["GET", "/targetgroups", "--paginate"],
      ["GET", "/nothing"],
      ["POST", "/targets/dev-001"],
      ["GET", "targets"],
      ["GET", "/targets", "limit=1"],
    ])
      expect((await api(...args)).code, args.join(" ")).toBe(64);
  });

  test("a path takes what its operation takes: CSV as it is, and no file where one belongs", async () => {
    const csv = await harrier(["api", "POST", "/targets.csv", "--input", "-"], { env, input: "controllerId\nby-path\n" });
    expect(csv).toMatchObject({ code: 0 });
    expect((await api("GET", "/targets/by-path")).stdout).toContain('"controllerId":"by-path"');
    expect((await api("POST", "/softwaremodules/1/artifacts")).stderr).toContain("harrier artifact upload");
  });
});
