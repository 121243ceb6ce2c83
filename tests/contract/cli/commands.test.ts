import { randomBytes } from "node:crypto";
import { chmodSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { sha256, unique } from "../support/build.ts";
import { inOwnTenant } from "../support/tenants.ts";
import { environmentOf, harrier, inTerminal, run } from "./harrier.ts";

describe("the command line against the service (contract console.md §5)", () => {
  inOwnTenant();
  let env: Record<string, string>;
  const ok = async (...args: string[]) => {
    const ran = await harrier(args, { env });
    expect(ran, args.join(" ")).toMatchObject({ code: 0 });
    return ran.stdout;
  };
  beforeAll(async () => {
    env = environmentOf();
    for (const [id, name] of [
      ["dev-1", "the first"],
      ["dev-2", "a name, with a comma"],
      ["dev-3", "=1+1"],
    ] as const)
      await ok("target", "create", id, "--name", name);
  });

  test("a list is a table with tabs in a pipe, aligned and cut in a terminal", async () => {
    expect(await ok("targets", "list", "--sort", "controllerid:ASC", "--columns", "id,name,status")).toBe(
      "ID\tNAME\tSTATUS\ndev-1\tthe first\tunknown\ndev-2\ta name, with a comma\tunknown\ndev-3\t=1+1\tunknown\n",
    );
    const { stdout } = await inTerminal(
      ["devices", "list", "--sort", "controllerid:ASC", "--columns", "id,name,status,createdBy,_links"],
      env,
    );
    const lines = stdout.replaceAll("\r", "").trimEnd().split("\n");
    expect(lines[0]).toMatch(/^ID {5}NAME {18}STATUS {3}CREATED BY +_LINKS/);
    expect(lines.map((line) => line.length).every((length) => length <= 60)).toBe(true);
    expect(lines[1]).toMatch(/…$/);
  });

  test("csv, json, jsonl, yaml, name and jsonpath are what programs read", async () => {
    const list = ["target", "list", "--sort", "controllerid:ASC"];
    expect(await ok(...list, "-o", "csv", "--columns", "id,name")).toBe(
      `controllerId,name\ndev-1,the first\ndev-2,"a name, with a comma"\ndev-3,'=1+1\n`,
    );
    expect((JSON.parse(await ok(...list, "-o", "json")) as { controllerId: string }[]).map(({ controllerId }) => controllerId)).toEqual([
      "dev-1",
      "dev-2",
      "dev-3",
    ]);
    expect(
      (await ok(...list, "--jsonl"))
        .trim()
        .split("\n")
        .map((line) => (JSON.parse(line) as { name: string }).name),
    ).toHaveLength(3);
    expect(await ok(...list, "-o", "name")).toBe("dev-1\ndev-2\ndev-3\n");
    expect(await ok(...list, "-o", "jsonpath={.name}", "--limit", "1")).toBe("the first\n");
    expect(await ok("target", "get", "dev-1", "-o", "yaml")).toContain("controllerId: dev-1\n");
    expect((await harrier([...list, "--limit", "2", "-o", "name"], { env })).stderr).toBe("2 of 3, use --all\n");
    expect(await ok(...list, "--all", "-o", "name")).toBe("dev-1\ndev-2\ndev-3\n");
  });

  test("the security token is shown where it is asked for, and nowhere else", async () => {
    const token = (await ok("target", "token", "dev-1", "-o", "jsonpath={.securityToken}")).trim();
    expect(token.length).toBeGreaterThan(15);
    for (const args of [["get", "dev-1"], ["list"], ["list", "--all"]])
      expect(await ok("target", ...args, "-o", "json")).not.toContain(token);
  });

  test("a module is uploaded, verified, downloaded, put into a set by name, and --dry-run changes nothing", async () => {
    const folder = mkdtempSync(join(tmpdir(), "harrier-cli-"));
    const file = join(folder, "fw.bin");
    const bytes = randomBytes(200_000);
    writeFileSync(file, bytes);
    const name = unique("m");
    await ok("module", "create", `${name}:1.0`, "--type", "os");
    expect(await ok("artifact", "upload", `${name}:1.0`, file, "-o", "jsonpath={.hashes.sha256}")).toBe(`${sha256(bytes)}\n`);
    await ok("artifact", "upload", `${name}:1.0`, file, "--if-absent", "--sha256", sha256(bytes));
    await ok("artifact", "download", `${name}:1.0`, "fw.bin", "--to", join(folder, "copy.bin"));
    expect(sha256(readFileSync(join(folder, "copy.bin")))).toBe(sha256(bytes));
    await ok("artifact", "verify", `${name}:1.0`, "fw.bin", file);
    writeFileSync(file, "something else");
    expect((await harrier(["artifact", "verify", `${name}:1.0`, "fw.bin", file], { env })).code).toBe(7);
    const shown = await ok("set", "create", `${name}:1.0`, "--type", "os", "--module", `${name}:1.0`, "--dry-run");
    expect(shown).toMatch(/^POST \/api\/mgmt\/v1\/distributionsets\n/);
    expect((await harrier(["set", "get", `${name}:1.0`], { env })).code).toBe(5);
    const curl = await ok("set", "create", `${name}:1.0`, "--type", "os", "--module", `${name}:1.0`, "--curl");
    expect(curl).toContain("$AUTHORIZATION");
    await ok("set", "create", `${name}:1.0`, "--type", "os", "--module", `${name}:1.0`);
    expect(await ok("set", "modules", `${name}:1.0`, "--columns", "name")).toBe(`NAME\n${name}\n`);
    expect(await ok("target", "assign", `${name}:1.0`, "dev-1", "dev-2", "-o", "jsonpath={.assigned}")).toBe("2\n");
    expect(await ok("action", "list", "--columns", "target,status", "-q", "target.controllerid==dev-1")).toBe(
      "TARGET\tSTATUS\ndev-1\trunning\n",
    );
  });

  test("other nouns: filters, tags, types, settings", async () => {
    await ok("filter", "create", "all", "--query", "controllerid==dev-*");
    expect(await ok("filter", "count", "all", "-o", "jsonpath={.count}")).toBe("3\n");
    await ok("tag", "create", "eu", "--colour", "red");
    await ok("target", "tag", "eu", "dev-1", "dev-3");
    expect(await ok("target", "list", "-q", "tag==eu", "-o", "name", "--sort", "controllerid:ASC")).toBe("dev-1\ndev-3\n");
    await ok("moduletype", "create", "driver", "--key", "driver");
    await ok("settype", "create", "box", "--key", "box", "--mandatory", "driver");
    await ok("targettype", "create", "gateway");
    await ok("setting", "set", "pollingTime", "00:01:00");
    expect(await ok("setting", "get", "pollingTime", "-o", "jsonpath={.value}")).toBe("00:01:00\n");
    await ok("setting", "unset", "pollingTime");
  });

  test("secrets of settings are in no list; users and roles; any operation by api", async () => {
    const secret = await ok("setting", "get", "authentication.gatewaytoken.key", "-o", "jsonpath={.value}");
    expect(await ok("setting", "list", "-o", "json")).not.toContain(secret.trim());
    await harrier(["user", "create", "anna", "--password-stdin", "--permissions", "READ_TARGET"], {
      env,
      input: "a long enough passphrase\n",
    });
    expect(await ok("user", "permissions", "anna", "--columns", "permission")).toBe("PERMISSION\nREAD_TARGET\n");
    await ok("role", "create", "night", "--permissions", "READ_ROLLOUT");
    expect(await ok("role", "list", "--columns", "name,permissions", "-q", "name==night")).toBe("NAME\tPERMISSIONS\nnight\tREAD_ROLLOUT\n");
    expect(await ok("api", "targets.get", "targetId=dev-2")).toContain('"controllerId":"dev-2"');
    expect(await ok("api", "GET", "/targets", "-f", "limit=1", "-f", "sort=controllerid:ASC")).toContain('"dev-1"');
    expect(await ok("whoami", "-o", "jsonpath={.kind}")).toBe("user\n");
  });

  test("a context is kept in a file of mode 0600 without the password, and one that others may read is refused", async () => {
    const { HARRIER_SERVER: server, HARRIER_USER: user, HARRIER_PASSWORD: password, ...bare } = env as Record<string, string>;
    const home = mkdtempSync(join(tmpdir(), "harrier-cli-"));
    const own = { ...bare, XDG_CONFIG_HOME: home };
    const login = await harrier(["login", "--server", server as string, "--user", user as string, "--as", "prod"], {
      env: { ...own, HARRIER_PASSWORD: password as string },
    });
    expect(login).toMatchObject({ code: 0 });
    const file = join(home, "harrier", "config.yaml");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, "utf8")).not.toContain(password);
    expect(readFileSync(file, "utf8")).toMatch(/session: hrs_[A-Za-z0-9_-]{43}\n/);
    expect(await harrier(["whoami", "-o", "jsonpath={.tenant}"], { env: own })).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\S+\n$/),
    });
    expect((await harrier(["context", "current"], { env: own })).stdout).toBe("prod\n");
    chmodSync(file, 0o644);
    const refused = await harrier(["context", "list"], { env: own });
    expect(refused.code).toBe(4);
    expect(refused.stderr).toContain("may be read by others (mode 644)");
  });

  test("a session ends with the logout, at the server too, and a wrong password opens none", async () => {
    const { HARRIER_SERVER: server, HARRIER_USER: user, HARRIER_PASSWORD: password, ...bare } = env as Record<string, string>;
    const own = { ...bare, XDG_CONFIG_HOME: mkdtempSync(join(tmpdir(), "harrier-cli-")) };
    const login = (secret: string) =>
      harrier(["login", "--server", server as string, "--user", user as string], { env: { ...own, HARRIER_PASSWORD: secret } });
    expect(await login("wrong")).toMatchObject({ code: 4, stdout: "" });
    expect((await login(password as string)).code).toBe(0);
    const keptSession = () => {
      const kept = /hrs_[\w-]{43}/.exec(readFileSync(join(own.XDG_CONFIG_HOME, "harrier", "config.yaml"), "utf8"))?.[0] as string;
      return { ...bare, HARRIER_SERVER: server as string, HARRIER_TOKEN: kept };
    };
    const first = keptSession();
    expect((await harrier(["whoami"], { env: first })).code).toBe(0);
    // Another login in its place ends it, and so do a logout and the deletion of its context.
    expect((await login(password as string)).code).toBe(0);
    expect((await harrier(["whoami"], { env: first })).code).toBe(4);
    const second = keptSession();
    expect((await harrier(["logout"], { env: own })).code).toBe(0);
    expect((await harrier(["whoami"], { env: second })).code).toBe(4);
    expect((await harrier(["whoami"], { env: own })).code).toBe(4);
    expect((await login(password as string)).code).toBe(0);
    const third = keptSession();
    expect((await harrier(["context", "delete", "default"], { env: own })).code).toBe(0);
    expect((await harrier(["whoami"], { env: third })).code).toBe(4);
  });

  test("completion is sourced by bash and knows nouns and verbs", async () => {
    const script = await ok("completion", "bash");
    const asked = `${script}\nCOMP_WORDS=(harrier rollout st); COMP_CWORD=2; _harrier; echo "\${COMPREPLY[@]}"`;
    expect((await run("bash", ["-c", asked], { env })).stdout.trim().split(" ").sort()).toEqual(["start", "status", "stop"]);
    expect((await harrier(["version"], { env })).stdout).toMatch(/^harrier \d+\.\d+\.\d+\n$/);
  });
});
