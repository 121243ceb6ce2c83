import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Route, routeTable } from "@harrier/contracts";
import { workspaceRoot } from "@harrier/testkit";
import { beforeAll, describe, expect, test } from "vitest";
import { inOwnTenant } from "../support/tenants.ts";
import { environmentOf, harrier, program, run } from "./harrier.ts";

const rows = Object.entries(routeTable).flatMap(([feature, of]) =>
  feature === "device" ? [] : Object.entries(of as Record<string, Route>).map(([name, row]) => [`${feature}.${name}`, row] as const),
);

describe("nouns of the command line (contract console.md §5)", () => {
  inOwnTenant();
  let env: Record<string, string>;
  const ok = async (...args: string[]) => {
    const ran = await harrier(args, { env });
    expect(ran, `${args.join(" ")}: ${ran.stderr}`).toMatchObject({ code: 0 });
    return ran.stdout;
  };
  const lines = async (...args: string[]) => (await ok(...args)).trim().split("\n");
  beforeAll(async () => {
    env = environmentOf();
    for (const id of ["dev-1", "dev-2", "other"]) await ok("target", "create", id);
    await ok("module", "create", "fw:1.0", "--type", "os");
    await ok("module", "create", "fw:1.1", "--type", "os");
    await ok("set", "create", "my set:1.0", "--type", "os", "--module", "fw:1.0");
    await ok("tag", "create", "eu");
  });

  test("metadata, type, auto-confirmation and tags of a target", async () => {
    await ok("target", "metadata", "dev-1", "rack", "7");
    await ok("target", "metadata", "dev-1", "rack", "8");
    expect(await ok("target", "metadata", "dev-1")).toBe("KEY\tVALUE\nrack\t8\n");
    expect((await harrier(["target", "metadata", "dev-1", "rack", "--delete"], { env })).code).toBe(64);
    await ok("target", "metadata", "dev-1", "rack", "--delete", "--yes");
    expect((await harrier(["target", "metadata", "dev-1", "rack"], { env })).code).toBe(5);
    await ok("module", "metadata", "fw:1.0", "signed", "yes", "--visible");
    expect(await ok("module", "metadata", "fw:1.0", "signed", "-o", "jsonpath={.targetVisible}")).toBe("true\n");
    await ok("targettype", "create", "box");
    await ok("target", "type", "dev-1", "box");
    expect(await ok("target", "get", "dev-1", "-o", "jsonpath={.targetTypeName}")).toBe("box\n");
    await ok("target", "type", "dev-1", "--remove", "--yes");
    expect(await ok("target", "autoconfirm", "dev-1", "on", "--remark", "lab", "-o", "jsonpath={.remark}")).toBe("lab\n");
    expect(await ok("target", "autoconfirm", "dev-1", "off", "-o", "jsonpath={.active}")).toBe("false\n");
    await ok("target", "tag", "eu", "dev-1");
    expect(await ok("target", "tags", "dev-1", "--columns", "name")).toBe("NAME\neu\n");
    await ok("target", "assign", "my set:1.0", "dev-1");
    expect(await ok("target", "assigned", "dev-1", "-o", "jsonpath={.name}")).toBe("my set\n");
  });

  test("many targets: change, groups, summary, and CSV in both directions", async () => {
    await ok("target", "change", "tag", "--tag", "eu", "-q", "controllerid==dev-*", "--confirm", "2", "--wait");
    expect(await ok("target", "list", "-q", "tag==eu", "--sort", "controllerid:ASC", "-o", "name")).toBe("dev-1\ndev-2\n");
    expect((await harrier(["target", "change", "untag", "--tag", "eu", "-q", "tag==eu", "--confirm", "9"], { env })).code).toBe(6);
    expect((await harrier(["target", "change", "tag", "dev-1"], { env })).code).toBe(64);
    await ok("group", "assign", "Europe/East", "dev-1", "dev-2");
    expect(await ok("group", "list")).toBe("NAME\nEurope/East\n");
    expect(await ok("group", "targets", "Europe", "--subgroups", "-o", "name", "--sort", "controllerid:ASC")).toBe("dev-1\ndev-2\n");
    await ok("group", "unassign", "-q", "controllerid==dev-2");
    expect(await ok("target", "summary", "--by", "tag", "-o", "csv")).toBe("by,value,label,count\ntag,eu,,2\n");
    expect((await lines("target", "export", "-q", "controllerid==dev-*"))[0]).toMatch(/^controllerId,/);
    const file = join(mkdtempSync(join(tmpdir(), "harrier-cli-")), "targets.csv");
    writeFileSync(file, "controllerId,name\ncsv-1,one\ndev-1,there\n");
    expect((await harrier(["target", "import", file], { env })).code).not.toBe(0);
    const some = await harrier(["target", "import", file, "--skip"], { env });
    expect(some).toMatchObject({ code: 1, stderr: "1 created, 1 not\n" });
    expect(some.stdout).toContain("3\tdev-1\t");
  });

  test("a target's token, what holds its updates up, what happens to it, and the confirmation in its place", async () => {
    await ok("target", "create", "asked");
    const token = await ok("target", "token", "show", "asked", "-o", "jsonpath={.securityToken}");
    const next = await ok("target", "token", "rotate", "asked", "-o", "jsonpath={.securityToken}");
    expect(next).toMatch(/^[0-9a-f]{32}\n$/);
    expect(next).not.toBe(token);
    expect(await ok("target", "token", "asked", "-o", "jsonpath={.securityToken}")).toBe(next);
    const idle = await harrier(["device", "explain", "asked", "--columns", "check,state"], { env });
    expect(idle).toMatchObject({ code: 7, stdout: "CHECK\tSTATE\npolls\tno\nassigned\tno\n" });
    expect(idle.stderr).toContain("seen by the command line");
    await ok("setting", "set", "user.confirmation.flow.enabled", "true");
    const watching = harrier(["device", "watch", "asked", "-o", "json"], { env, signalAtOutput: "SIGINT" });
    await ok("set", "create", "asked set:1.0", "--type", "os", "--module", "fw:1.1");
    await expect
      .poll(
        async () => {
          await ok("target", "update", "dev-1", "--description", "not of asked");
          await ok("target", "update", "asked", "--description", "another");
          return Promise.race([watching.then(({ stdout }) => stdout), new Promise((over) => setTimeout(over, 500, ""))]);
        },
        { timeout: 30_000 },
      )
      .toContain('"subject":');
    expect((await watching).code).toBe(130);
    expect((await watching).stdout).not.toContain("targets/dev-1");
    await ok("target", "assign", "asked set:1.0", "asked");
    expect((await harrier(["device", "explain", "asked"], { env })).stdout).toContain("confirmation\tno\t");
    await ok("device", "confirm", "asked");
    expect((await harrier(["device", "confirm", "asked"], { env })).code).toBe(5);
    await ok("setting", "unset", "user.confirmation.flow.enabled");
  });

  test("sets are locked and compared; an auto-assignment is set and removed; actions are deleted by a query with their number", async () => {
    await ok("set", "create", "one:1.0", "--type", "os", "--module", "fw:1.0");
    await ok("set", "create", "two:1.0", "--type", "os", "--module", "fw:1.0");
    await ok("set", "create", "two:1.1", "--type", "os", "--module", "fw:1.1");
    expect(await ok("set", "lock", "one:1.0", "-o", "jsonpath={.locked}")).toBe("true\n");
    expect(await ok("set", "compare", "one:1.0", "two:1.0", "--columns", "same")).toBe("SAME\ntrue\n");
    expect(await harrier(["set", "compare", "one:1.0", "two:1.1", "-o", "csv"], { env })).toMatchObject({
      code: 7,
      stdout: "what,first,second,same\nos,fw:1.0,fw:1.1,false\n",
    });
    await ok("autoassign", "set", "of one", "--query", "name==nobody", "--set", "one:1.0");
    await ok("autoassign", "remove", "of one", "--yes");
    expect((await harrier(["action", "delete", "-q", "target.name==nobody", "--yes"], { env })).code).toBe(64);
    expect((await harrier(["action", "delete", "-q", "target.name==nobody", "--yes", "--confirm", "3"], { env })).code).toBe(6);
    await ok("action", "delete", "-q", "target.name==nobody", "--yes", "--confirm", "0");
    await ok("target", "delete", "-q", "controllerid==nobody", "--confirm", "0", "--yes", "--wait");
    expect((await harrier(["quota", "set", "METADATA_PER_TARGET", "many"], { env })).code).toBe(64);
  });

  test("a file of an import and of a rollout is looked at before anything is sent", async () => {
    const folder = mkdtempSync(join(tmpdir(), "harrier-cli-"));
    const [csv, broken] = [join(folder, "targets.csv"), join(folder, "rollout.json")];
    writeFileSync(csv, "controllerId\nnew-1\nnew-2\n");
    writeFileSync(broken, "{");
    expect(await ok("target", "import", csv, "--dry-run")).toBe("POST /targets.csv?onError=abort\n3 lines\n");
    expect(await ok("target", "list", "-q", "controllerid==new-*", "-o", "name")).toBe("");
    expect((await harrier(["rollout", "preview", "none", "--set", "my set:1.0", "--file", broken], { env })).code).toBe(64);
  });

  test("people and programs: permissions, keys, clients and webhooks, whose secrets are shown once", async () => {
    await harrier(["user", "create", "bert", "--password-stdin"], { env, input: "a long enough passphrase\n" });
    expect(await ok("user", "grant", "bert", "READ_TARGET")).toBe("PERMISSION\nREAD_TARGET\n");
    await harrier(["user", "password", "bert"], { env, input: "another good passphrase\n" });
    const soon = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
    expect(await ok("permission", "list", "-o", "name")).toContain("READ_TARGET\n");
    expect(await ok("key", "create", "lab", "--expires", soon, "-o", "jsonpath={.apiKey}")).not.toBe("\n");
    expect(await ok("key", "get", "lab", "-o", "json")).not.toContain("apiKey");
    await ok("key", "update", "lab", "--description", "of the lab");
    expect(await ok("key", "list", "-o", "jsonpath={.description}")).toBe("of the lab\n");
    const made = JSON.parse(await ok("client", "create", "ci", "--scopes", "READ_TARGET", "-o", "json")) as Record<string, string>;
    expect(made["clientSecret"]).toBeTypeOf("string");
    const programEnv = { ...env, HARRIER_CLIENT_ID: made["clientId"] as string, HARRIER_CLIENT_SECRET: made["clientSecret"] as string };
    expect((await harrier(["whoami", "-o", "jsonpath={.kind}"], { env: programEnv })).stdout).toBe("client\n");
    const rotated = await ok("client", "rotate", "ci", "--keep", "0", "-o", "jsonpath={.clientSecret}");
    expect(rotated).toMatch(/^\S{20,}\n$/);
    expect(rotated).not.toContain(made["clientSecret"]);
    await ok("client", "delete", "ci", "--yes");
    await ok("key", "delete", "lab", "--yes");
    expect(await ok("webhook", "list")).toMatch(/^ID\tNAME\tURL/);
  });

  test("what the tenant is told: audit, quotas, insights, search of names, events", async () => {
    expect(await ok("audit", "list", "-q", "action==targets.create", "--limit", "1", "--columns", "action")).toBe(
      "ACTION\ntargets.create\n",
    );
    expect(await ok("audit", "verify", "--columns", "valid")).toContain("true");
    expect((await lines("audit", "export"))[0]).toMatch(/^id,time,timeUtc,/);
    expect(await ok("quota", "list", "-o", "name")).toContain("\n");
    expect(await ok("insight", "actions", "-o", "csv")).toMatch(/^month,coverage,count,/);
    expect(await ok("insight", "current-rollouts", "-o", "jsonpath={.total}")).toBe("0\n");
    expect(await lines("insight", "versions", "--from", "2026-01-31", "--to", "2026-02-01", "-o", "name")).toHaveLength(2);
    expect((await harrier(["event", "list"], { env })).stderr).toMatch(/^next: \S+\n$/);
    const [operation] = await lines("operation", "list", "-o", "name");
    expect(await ok("operation", "wait", operation as string, "-o", "jsonpath={.status}")).toBe("finished\n");
  });

  test("safety policies by name, settings beside their defaults, and what whoever is signed in may do", async () => {
    await ok("policy", "create", "careful", "--safety", '{"limits":{"installingSeconds":3600}}');
    await ok("safetypolicy", "update", "careful", "--description", "of the lab");
    expect(await ok("policies", "list", "--columns", "name,description,safety")).toBe(
      'NAME\tDESCRIPTION\tSAFETY\ncareful\tof the lab\t{"limits":{"installingSeconds":3600}}\n',
    );
    expect((await harrier(["policy", "create", "other", "--safety", "{"], { env })).code).toBe(64);
    const rollout = [
      "--set",
      "my set:1.0",
      "-q",
      "controllerid==dev-1",
      "--policy",
      "careful",
      "--wait",
      "-o",
      "jsonpath={.safety.policy}",
    ];
    expect(await ok("rollout", "create", "watched", ...rollout)).toBe("careful\n");
    await ok("setting", "set", "pollingTime", "00:03:00");
    expect(await ok("config", "diff")).toContain("pollingTime\t00:03:00\t");
    await ok("can", "READ_TARGET", "CREATE_ROLLOUT");
    expect(await harrier(["can", "READ_TARGET", "FLY"], { env })).toMatchObject({ code: 4, stderr: "error: lacking: FLY\n" });
  });

  test("events are followed until Ctrl-C, one JSON object a line", async () => {
    const tail = harrier(["event", "tail"], { env, signalAtOutput: "SIGINT" });
    let done = false;
    void tail.then(() => {
      done = true;
    });
    // the stream begins with the first event behind its opening, so something happens until it is seen
    for (let n = 0; !done; n++) await ok("target", "update", "other", "--name", `name ${n}`);
    const { code, stdout } = await tail;
    expect(code).toBe(130);
    expect(JSON.parse(stdout.split("\n")[0] as string)).toMatchObject({ specversion: "1.0" });
  });

  const changing = rows.filter(
    ([, { bodyKind, method, interface: of }]) => bodyKind !== "multipart" && method !== "GET" && of === "management",
  );
  const features = [...new Set(changing.map(([id]) => id.split(".")[0]))];

  test.each(features)("every operation of %s is reached by its id", async (feature) => {
    const shown = async ([id, row]: (typeof rows)[number]) => {
      const params = [...row.path.matchAll(/:(\w+)/g)].map(([, name]) => `${name}=x`);
      const ran = await harrier(["api", id, ...params, "--dry-run"], { env });
      expect(ran, id).toMatchObject({ code: 0, stdout: `${row.method} /api/mgmt/v1${row.path.replaceAll(/:\w+/g, "x")}\n` });
    };
    const ofIt = changing.filter(([id]) => id.startsWith(`${feature}.`));
    for (let n = 0; n < ofIt.length; n += 4) await Promise.all(ofIt.slice(n, n + 4).map(shown));
  });

  test("an operation that there is not is a wrong usage, and one that takes CSV is sent it", async () => {
    expect((await harrier(["api", "targets.fly"], { env })).code).toBe(64);
    const csv = await harrier(["api", "targets.importCsv", "--input", "-"], { env, input: "controllerId\nby-api\n" });
    expect(csv).toMatchObject({ code: 0 });
  });

  test("names are completed from the server, quoted, and what a colon has split is put together again", async () => {
    // after a second without an answer nothing is offered, and the next Tab asks again
    const offered = (line: string) => expect.poll(() => ok("__complete", line), { timeout: 20_000 });
    await offered("harrier module get fw:").toBe("fw:1.0\nfw:1.1\n");
    await offered("harrier --columns name target tag eu de").toBe("dev-1\ndev-2\n");
    expect(await ok("__complete", "harrier target get 'dev-1' ")).toBe("");
    expect(await ok("__complete", "harrier group ta")).toBe("targets\n");
    const nobody = await harrier(["__complete", "harrier module get "], {
      env: { ...env, HARRIER_PASSWORD: "wrong", XDG_CACHE_HOME: "/nowhere" },
    });
    expect(nobody).toMatchObject({ code: 0, stdout: "", stderr: "" });
    const script = await ok("completion", "bash");
    const at = async (line: string) => {
      const words = line.split(" ").map((word) => `"${word}"`);
      const asked = [
        `harrier() { '${process.execPath}' "$HARRIER_PROGRAM" "$@"; }`,
        script,
        `COMP_LINE='${line}'; COMP_POINT=${line.length}; COMP_WORDS=(${words.join(" ")}); COMP_CWORD=${words.length - 1}`,
        `COMP_WORDBREAKS=':'; _harrier; printf '%s\\n' "\${COMPREPLY[@]}"`,
      ].join("\n");
      return (await run("bash", ["-c", asked], { env: { ...env, HARRIER_PROGRAM: program } })).stdout.trim().split("\n");
    };
    await expect.poll(() => at("harrier module get fw:1"), { timeout: 20_000 }).toEqual(["1.0", "1.1"]);
    await expect.poll(() => at("harrier set get my"), { timeout: 20_000 }).toEqual(["my\\ set:1.0"]);
  });

  test("simulated devices register themselves; open prints the page; dev outside a checkout says what to run", async () => {
    await ok("setting", "set", "authentication.gatewaytoken.enabled", "false");
    expect((await harrier(["simulate", "-n", "2"], { env })).code).toBe(64);
    await ok("setting", "set", "authentication.gatewaytoken.enabled", "true");
    expect((await harrier(["simulate", "--fail", "200%"], { env })).code).toBe(64);
    const ran = await harrier(["simulate", "-n", "3", "--prefix", "sim", "--poll", "1s", "--for", "3s"], { env });
    expect(ran).toMatchObject({ code: 0 });
    expect(await ok("target", "list", "-q", "controllerid==sim-*", "--all", "-o", "name", "--sort", "controllerid:ASC")).toBe(
      "sim-000000\nsim-000001\nsim-000002\n",
    );
    expect(await ok("dev", "get", "sim-000000", "-o", "name")).toBe("sim-000000\n");
    expect(await ok("open", "target", "a b")).toBe(`${env["HARRIER_SERVER"]}/console/devices/a%20b\n`);
    const dev = await harrier(["dev"], { env, cwd: tmpdir() });
    expect(dev).toMatchObject({ code: 0, stdout: "docker compose up --build\n" });
    expect(await harrier(["apply", "-f", join(workspaceRoot, "packages/cli/examples/dev.yaml")], { env })).toMatchObject({ code: 0 });
  });
});
