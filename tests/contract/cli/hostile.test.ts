import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import type { Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { inOwnTenant } from "../support/tenants.ts";
import { answering as answeringFor, closeAll, environmentOf, harrier, inTerminal, json, program } from "./harrier.ts";

const servers: Server[] = [];

/** A server of this test. */
const answering = (handle: Parameters<typeof answeringFor>[1]) => answeringFor(servers, handle);

const steering = "a\u001b[2J\u001b]0;owned\u0007b\u009b31mc\u202ed";
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that must not arrive
const arrived = /[\u0007\u001b\u009b\u202e]/;

describe("the command line against a hostile server and on a shared machine (contract console.md §5)", () => {
  inOwnTenant();
  afterEach(() => closeAll(servers));

  test("names with escape sequences do not reach a terminal, in any output, nor do those of errors", async () => {
    const { url } = await answering(({ url: path = "" }, response) => {
      const target = { controllerId: "x", name: steering, updateStatus: steering };
      if (path.includes("refused")) json(response, { errorCode: "e", message: steering }, 409);
      else json(response, path.includes("/targets/") ? target : { content: [target], total: 1, size: 1 });
    });
    const env = environmentOf({ HARRIER_SERVER: url });
    for (const output of ["table", "wide", "csv", "name", "json", "jsonl", "yaml", "jsonpath={.name}"])
      for (const args of [
        ["list", "--columns", "name,status"],
        ["get", "x"],
      ]) {
        const { stdout } = await inTerminal(["target", ...args, "-o", output], env);
        expect(stdout, `${args.join(" ")} -o ${output}`).not.toMatch(arrived);
        if (output !== "name") expect(stdout).toContain("2J");
      }
    expect((await inTerminal(["api", "GET", "/targets/x"], env)).stdout).not.toMatch(arrived);
    // a program gets what the server has
    expect((await harrier(["target", "get", "x", "-o", "jsonpath={.name}"], { env })).stdout).toBe(`${steering}\n`);
    expect((await harrier(["target", "list", "--columns", "name"], { env })).stdout).not.toMatch(arrived);
    for (const output of ["table", "json"]) {
      const refused = await harrier(["target", "get", "refused", "-o", output], { env });
      expect(refused.code).toBe(6);
      expect(refused.stderr).toContain("2J");
      expect(refused.stderr).not.toMatch(arrived);
    }
  });

  test("a dumb terminal gets no control sequence where a list is shown again and again", async () => {
    let count = 0;
    const { url } = await answering((_request, response) =>
      ++count > 2 ? json(response, {}, 404) : json(response, { content: [{ controllerId: "x" }], total: 1, size: 1 }),
    );
    const env = environmentOf({ HARRIER_SERVER: url, TERM: "dumb", NO_COLOR: "1", LC_ALL: "C" });
    const { code, stdout } = await inTerminal(["target", "list", "--watch", "--columns", "id"], env);
    expect(stdout.match(/^x/gm)).toHaveLength(2);
    expect(stdout).not.toContain("\u001b");
    expect(code).toBe(5);
  });

  test("no credential follows a redirect to another host", async () => {
    const other = await answering((_request, response) => json(response, { access_token: "stolen", content: [], total: 0 }));
    const { url } = await answering(({ url: path }, response) => response.writeHead(307, { location: other.url + path }).end());
    const bare = { HARRIER_SERVER: url, HARRIER_USER: "", HARRIER_PASSWORD: "" };
    for (const credentials of [
      { HARRIER_USER: "anna", HARRIER_PASSWORD: "a secret" },
      { HARRIER_TOKEN: "a-token" },
      { HARRIER_CLIENT_ID: "ci", HARRIER_CLIENT_SECRET: "a-secret" },
    ]) {
      const ran = await harrier(["target", "create", "x"], { env: environmentOf({ ...bare, ...credentials }) });
      expect(ran.code).toBe(1);
      expect(ran.stderr).not.toMatch(/a.secret|a-token/);
    }
    const login = ["login", "--server", url, "--user", "anna"];
    expect((await harrier(login, { env: environmentOf({ HARRIER_PASSWORD: "a secret" }) })).code).toBe(1);
    expect(other.asked).toEqual([]);
  });

  test("a context's credential goes to the context's server only, and an address holds no password", async () => {
    const other = await answering((_request, response) => json(response, { content: [], total: 0 }));
    const env = environmentOf({ HARRIER_SERVER: "", HARRIER_USER: "", HARRIER_PASSWORD: "", OF_CI: "a-token" });
    delete env["HARRIER_SERVER"];
    const own = await answering((_request, response) => json(response, { content: [], total: 0 }));
    expect((await harrier(["login", "--server", own.url, "--token-env", "OF_CI"], { env })).code).toBe(0);
    expect((await harrier(["target", "list"], { env })).code).toBe(0);
    expect((await harrier(["target", "list", "--server", `${own.url}/`], { env })).code).toBe(0);
    expect(own.asked.every((one) => one.endsWith("Bearer a-token"))).toBe(true);
    const refused = await harrier(["target", "list", "--server", other.url], { env });
    expect(refused.code).toBe(4);
    expect(refused.stderr).toContain(own.url);
    expect(other.asked).toEqual([]);
    for (const server of ["http://anna:a-secret@127.0.0.1:1", "nowhere", "http://127.0.0.1:1/?a=b"]) {
      const ran = await harrier(["target", "list"], { env: { ...env, HARRIER_SERVER: server, HARRIER_TOKEN: "t" } });
      expect(ran.code, server).toBe(64);
      expect(ran.stderr).not.toContain("a-secret");
    }
  });

  test("an answer without an end is given up, as success and as refusal, and one that is no JSON is said so", async () => {
    const { url } = await answering(({ url: path = "" }, response) => {
      if (path.includes("page")) return response.end("<html>");
      response.writeHead(path.includes("refused") ? 409 : 200, { "content-type": "application/json" });
      const chunk = Buffer.alloc(1024 * 1024, " ");
      const more = () => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on("drain", more);
      more();
    });
    const env = environmentOf({ HARRIER_SERVER: url });
    const endless = await harrier(["target", "get", "endless"], { env });
    expect(endless).toMatchObject({ code: 1, stderr: "error: targets.get was answered by more than 67108864 bytes\n" });
    expect((await harrier(["target", "get", "refused"], { env })).code).toBe(6);
    const page = await harrier(["target", "get", "page"], { env });
    expect(page).toMatchObject({
      code: 1,
      stderr: "error: targets.get was answered by what is no JSON: is this the address of the server?\n",
    });
  });

  test("a reader that goes away ends a list, but leaves no apply in the middle", async () => {
    const env = environmentOf();
    const withoutReader = async (args: readonly string[], input = "") => {
      const child = spawn(process.execPath, [program, ...args], { env, stdio: ["pipe", "pipe", "pipe"] });
      child.stdout.destroy();
      let stderr = "";
      child.stderr.on("data", (text) => {
        stderr += String(text);
      });
      child.stdin.end(input);
      const [code] = (await once(child, "close")) as [number];
      return { code, stderr };
    };
    const tags = ["t1", "t2", "t3"].map((name) => `{ apiVersion: harrier/v1, kind: TargetTag, metadata: { name: ${name} } }`);
    expect(await withoutReader(["apply", "-f", "-"], tags.join("\n---\n"))).toMatchObject({ code: 0 });
    expect((await harrier(["tag", "list", "--columns", "name", "--sort", "name:ASC"], { env })).stdout).toBe("NAME\nt1\nt2\nt3\n");
    expect(await withoutReader(["tag", "list"])).toEqual({ code: 0, stderr: "" });
    expect(await withoutReader(["api", "GET", "/targettags"])).toEqual({ code: 0, stderr: "" });
  });

  test("two runs of one apply at the same time make each object once, and one that comes too late is told of a conflict", async () => {
    const input = `{ apiVersion: harrier/v1, kind: SoftwareModule, metadata: { name: twice, version: "1" }, spec: { type: os } }`;
    const both = await Promise.all([1, 2].map(() => harrier(["apply", "-f", "-"], { input })));
    const codes = both.map(({ code }) => code).sort();
    expect(codes[0]).toBe(0);
    expect([0, 6]).toContain(codes[1]);
    expect((await harrier(["module", "list", "-q", "name==twice", "--columns", "name"])).stdout).toBe("NAME\ntwice\n");
    expect(await harrier(["apply", "-f", "-"], { input })).toMatchObject({ code: 0, stdout: "" });
  });

  test("a set that is deleted is neither exported nor rolled out, and what is exported is what the server has", async () => {
    const ok = async (...args: string[]) => expect(await harrier(args), args.join(" ")).toMatchObject({ code: 0 });
    await ok("target", "create", "dev-1");
    await ok("module", "create", "gone:1", "--type", "os");
    await ok("set", "create", "gone:1", "--type", "os", "--module", "gone:1");
    await ok("rollout", "create", "of a set that is gone", "--set", "gone:1", "-q", "controllerid==dev-1", "--groups", "1", "--wait");
    await ok("set", "delete", "gone:1", "--yes");
    const input = `
{ apiVersion: harrier/v1, kind: Rollout, metadata: { name: late }, spec: { set: "gone:1", filter: controllerid==dev-1, amountGroups: 1 } }`;
    const late = await harrier(["apply", "-f", "-"], { input });
    expect(late).toMatchObject({ code: 5 });
    expect(late.stderr).toContain("gone:1");
    const { stdout, code } = await harrier(["export"]);
    expect(code).toBe(0);
    const same = await harrier(["apply", "-f", "-", "--dry-run", "--exit-code"], { input: stdout });
    expect(same, same.stderr).toMatchObject({ code: 0, stdout: "" });
  });

  test("Ctrl-C ends a wait and an upload under way with exit 130, without a word of an error", async () => {
    const folder = mkdtempSync(join(tmpdir(), "harrier-cli-"));
    const file = join(folder, "fw.bin");
    writeFileSync(file, "bytes");
    let begun = () => undefined as unknown;
    const { url } = await answering(({ method, url: path = "" }, response) => {
      if (method === "POST") return begun();
      json(response, path.includes("/operations/") ? { id: "1", status: "running" } : { id: 1, name: "m", version: "1" });
      if (path.includes("/operations/")) begun();
    });
    for (const args of [
      ["operation", "wait", "1"],
      ["artifact", "upload", "1", file],
    ]) {
      const child = spawn(process.execPath, [program, ...args], { env: environmentOf({ HARRIER_SERVER: url }) });
      let told = "";
      for (const stream of [child.stdout, child.stderr])
        stream.on("data", (text) => {
          told += String(text);
        });
      begun = () => child.kill("SIGINT");
      const [code] = (await once(child, "close")) as [number];
      expect({ code, told }, args.join(" ")).toEqual({ code: 130, told: "" });
    }
  });

  test("a configuration behind a link stays there with mode 0600, and the mode is that of the file behind it", async () => {
    const env = environmentOf();
    const home = env["XDG_CONFIG_HOME"] as string;
    const real = join(mkdtempSync(join(tmpdir(), "harrier-cli-")), "of-harrier.yaml");
    mkdirSync(join(home, "harrier"));
    writeFileSync(real, "contexts: {}\n", { mode: 0o600 });
    const link = join(home, "harrier", "config.yaml");
    symlinkSync(real, link);
    const login = ["login", "--token-env", "OF_CI", "--as", "ci"];
    expect((await harrier(login, { env })).code).toBe(0);
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(statSync(real).mode & 0o777).toBe(0o600);
    expect(readFileSync(real, "utf8")).toContain("token-env: OF_CI");
    chmodSync(real, 0o640);
    const refused = await harrier(login, { env });
    expect(refused).toMatchObject({ code: 4 });
    expect(refused.stderr).toContain("may be read by others (mode 640)");
  });

  test("a request that is shown has no password in it", async () => {
    for (const how of ["--dry-run", "--curl"]) {
      const ran = await harrier(["user", "create", "anna", "--password-stdin", how], { input: "a long enough passphrase\n" });
      expect(ran).toMatchObject({ code: 0 });
      expect(ran.stdout).toContain("anna");
      expect(ran.stdout + ran.stderr).not.toContain("passphrase");
    }
  });

  test("nor has one whose passwords stand under the names of users", async () => {
    const passwords = { bob: "s3cret-of-bob", dmf: "s3cret-of-devices" };
    for (const how of ["--dry-run", "--curl"]) {
      const shown: readonly (readonly [args: readonly string[], input: string])[] = [
        [["messaging", "password", "bob"], "s3cret-of-bob\n"],
        [["api", "messaging.enableDmf", "--input", "-"], JSON.stringify({ passwords })],
        [["api", "messaging.setPasswords", "--input", "-"], JSON.stringify(passwords)],
        [["api", "PUT", "/system/amqp/passwords", "--input", "-"], JSON.stringify(passwords)],
        [["api", "POST", "/api/mgmt/v1/system/amqp/dmf?x=1", "--input", "-"], JSON.stringify({ passwords })],
      ];
      for (const [args, input] of shown) {
        const ran = await harrier([...args, how], { input });
        expect(ran, args.join(" ")).toMatchObject({ code: 0, stdout: expect.stringContaining("…") });
        expect(ran.stdout).toContain("/system/amqp/");
        expect(ran.stdout + ran.stderr, args.join(" ")).not.toContain("s3cret");
      }
    }
  });

  test("nor has the key of a setting, nor what apply shows of it", async () => {
    const key = "authentication.gatewaytoken.key";
    for (const how of ["--dry-run", "--curl"]) {
      const ran = await harrier(["setting", "set", key, "a-key-of-gateways", how]);
      expect(ran).toMatchObject({ code: 0 });
      expect(ran.stdout).toContain(key);
      expect(ran.stdout + ran.stderr).not.toContain("a-key-of-gateways");
    }
    const input = `apiVersion: harrier/v1\nkind: Setting\nmetadata: { name: ${key} }\nspec: { value: a-key-of-gateways }\n`;
    const many = ["api", "configs.putMany", "--input", "-", "--curl"];
    const one = ["api", "PUT", `/system/configs/${key}`, "--input", "-", "--curl"];
    for (const [args, body] of [
      [many, { [key]: "a-key-of-gateways" }],
      [one, { value: "a-key-of-gateways" }],
    ] as const) {
      const ran = await harrier(args, { input: JSON.stringify(body) });
      expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining("…") });
      expect(ran.stdout + ran.stderr).not.toContain("a-key-of-gateways");
    }
    const planned = await harrier(["apply", "-f", "-", "--dry-run"], { input });
    expect(planned.stdout).toContain(key);
    expect(planned.stdout + planned.stderr).not.toContain("a-key-of-gateways");
  });
});
