import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import type { Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { workspaceRoot } from "@harrier/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inOwnTenant } from "../support/tenants.ts";
import { answering, closeAll, environmentOf, harrier, json } from "./harrier.ts";

const many = JSON.stringify(Array.from({ length: 5_001 }, (_, n) => ({ controllerId: `many-${n}` })));
const tag = (colour: string) => `{ apiVersion: harrier/v1, kind: TargetTag, metadata: { name: eu }, spec: { colour: ${colour} } }`;
const otherType = `{ apiVersion: harrier/v1, kind: SoftwareModule, metadata: { name: fw, version: "1" }, spec: { type: application } }`;
const folder = mkdtempSync(join(tmpdir(), "harrier-exit-"));
const file = join(folder, "fw.bin");
const open = environmentOf({ HARRIER_USER: "", HARRIER_PASSWORD: "" });

interface Case {
  readonly code: number;
  readonly what: string;
  readonly args: string;
  /** What the message must say. */
  readonly says?: RegExp;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly signal?: NodeJS.Signals;
}

/** What each number of contract console.md §5 means, in every way in which it comes about. */
const cases: readonly Case[] = [
  { code: 0, what: "done", args: "target get dev-1 -o name" },
  { code: 0, what: "a file that says what the server has", args: "apply -f - --dry-run --exit-code", input: tag("red") },
  {
    code: 1,
    what: "the server cannot be reached",
    args: "target list",
    env: { HARRIER_SERVER: "http://127.0.0.1:9" },
    says: /127\.0\.0\.1:9/,
  },
  { code: 1, what: "the server fails", args: "target get fails --server BAD", says: /it is broken/ },
  { code: 2, what: "the rollout was denied", args: "rollout wait denied", says: /approval_denied/ },
  { code: 2, what: "the rollout was stopped", args: "rollout wait stopped", says: /is stop/ },
  { code: 2, what: "watching a rollout that was stopped", args: "rollout status stopped --watch", says: /is stop/ },
  { code: 3, what: "the rollout waits for approval", args: "rollout wait asked", says: /waits for approval/ },
  { code: 3, what: "a wait that is too short", args: "rollout wait ready --timeout 1ms", says: /is still ready/ },
  { code: 3, what: "watching for too short a time", args: "rollout watch ready --timeout 1ms", says: /is still ready/ },
  { code: 4, what: "a wrong password", args: "target list", env: { HARRIER_PASSWORD: "wrong" } },
  { code: 4, what: "no permission", args: "user list", env: { HARRIER_USER: "TENANT\\anna" }, says: /needs / },
  { code: 4, what: "nobody signed in", args: "target list", env: { HARRIER_USER: "" } },
  {
    code: 4,
    what: "a configuration that others may read",
    args: "target list",
    env: { ...open, HARRIER_SERVER: "" },
    says: /mode 644.*chmod 600/,
  },
  { code: 4, what: "half of a client", args: "target list", env: { HARRIER_CLIENT_ID: "ci" }, says: /HARRIER_CLIENT_SECRET is not/ },
  { code: 4, what: "half of a user", args: "target list", env: { HARRIER_PASSWORD: "" }, says: /HARRIER_PASSWORD is not/ },
  { code: 5, what: "no such target", args: "target get nobody", says: /^error: .*\(entityNotFound, request [\w-]+\)\n$/ },
  { code: 5, what: "no such name", args: "set get nothing:1" },
  { code: 5, what: "a name that two have", args: "module get twin:1", says: /\d+.*\d+/ },
  { code: 6, what: "409: it is there already", args: "target create dev-1" },
  { code: 6, what: "412: it was changed meanwhile", args: "target get changed --server BAD" },
  { code: 6, what: "another count than confirmed", args: "target delete -q controllerid==dev-* --confirm 99 --yes" },
  { code: 6, what: "what cannot be changed", args: "apply -f -", input: otherType },
  { code: 7, what: "diff", args: "diff -f -", input: tag("blue") },
  { code: 7, what: "apply --dry-run --exit-code", args: "apply -f - --dry-run --exit-code", input: tag("blue") },
  { code: 7, what: "another file than the artifact", args: `artifact verify fw:1 fw.bin ${file}` },
  { code: 8, what: "a quota", args: "api targets.create --input -", input: many },
  { code: 8, what: "429 after retries", args: "target get busy --server BAD" },
  { code: 64, what: "no such verb", args: "target fly" },
  { code: 64, what: "no verb", args: "tenant" },
  { code: 64, what: "no argument", args: "target get" },
  { code: 64, what: "no such option", args: "target list --colour" },
  { code: 64, what: "no such output", args: "target list -o xml" },
  { code: 64, what: "no number", args: "target list --limit x" },
  { code: 64, what: "groups that are no number", args: "rollout create x --set twin:1 --groups 1O", says: /--groups/ },
  { code: 64, what: "a weight that is no number", args: "rollout create x --set twin:1 --weight abc", says: /--weight/ },
  { code: 64, what: "a time that is no number", args: "client rotate ci --keep 0s", says: /--keep/ },
  { code: 64, what: "a number of targets that is none", args: "target change tag -q id==* --tag x --confirm all", says: /--confirm/ },
  { code: 64, what: "a state that is none, before anything is started", args: "rollout start ready --wait=finishd", says: /--wait is/ },
  { code: 64, what: "an empty token", args: "target list --token=", says: /--token is empty/ },
  { code: 64, what: "no duration", args: "rollout wait ready --timeout soon" },
  { code: 64, what: "something is lost, nobody can be asked, and there is no --yes", args: "target delete dev-1", says: /--yes/ },
  { code: 64, what: "an unknown member in a file", args: "apply -f -", input: tag("red").replace("colour", "color"), says: /color/ },
  { code: 130, what: "Ctrl-C", args: "target list --watch", signal: "SIGINT" },
];

describe("every exit code of the command line (contract console.md §5)", () => {
  const own = inOwnTenant();
  const servers: Server[] = [];
  let env: Record<string, string>;
  let bad: Awaited<ReturnType<typeof answering>>;
  const ran = async (args: string, input?: string) => {
    const done = await harrier(args.split(" "), { env, ...(input === undefined ? {} : { input }) });
    expect(done, `${args}: ${done.stderr}`).toMatchObject({ code: 0 });
  };
  beforeAll(async () => {
    env = environmentOf();
    bad = await answering(servers, ({ url = "" }, response) => {
      if (url.endsWith("busy")) response.writeHead(429, { "content-type": "application/json", "retry-after": "0" }).end("{}");
      else if (url.endsWith("changed")) json(response, { message: "changed" }, 412);
      else json(response, { message: "it is broken" }, 500);
    });
    mkdirSync(join(open["XDG_CONFIG_HOME"] as string, "harrier"));
    const config = join(open["XDG_CONFIG_HOME"] as string, "harrier", "config.yaml");
    writeFileSync(config, "contexts: {}\n");
    chmodSync(config, 0o644);
    writeFileSync(file, "as it is delivered");
    await Promise.all([
      ran("target create dev-1"),
      ran("apply -f -", tag("red")),
      ran("user create anna --password-stdin --permissions READ_TARGET", `${env["HARRIER_PASSWORD"]}\n`),
      ran(
        "user create maker --password-stdin --permissions READ_TARGET,READ_REPOSITORY,READ_ROLLOUT,CREATE_ROLLOUT",
        `${env["HARRIER_PASSWORD"]}\n`,
      ),
      ran("module create twin:1 --type os"),
      ran("module create twin:1 --type application"),
      ran("module create fw:1 --type os"),
    ]);
    await Promise.all([ran(`artifact upload fw:1 ${file}`), ran("set create fw:1 --type os --module fw:1")]);
    writeFileSync(file, "something else");
    const rollout = (name: string, more = "") => `rollout create ${name} --set fw:1 -q controllerid==dev-1 --type soft${more}`;
    await Promise.all([ran(rollout("ready", " --wait=ready")), ran(rollout("stopped", " --start --wait=running"))]);
    await ran("rollout stop stopped --yes");
    await ran("setting set rollout.approval.enabled true");
    // whoever may approve rollouts needs no approval
    const maker = { ...env, HARRIER_USER: `${own().tenant}\\maker` };
    for (const name of ["asked", "denied"]) {
      const asked = await harrier(rollout(name, " --wait").split(" "), { env: maker });
      expect(asked, asked.stderr).toMatchObject({ code: 3 });
    }
    await ran("rollout deny denied");
  });
  afterAll(() => closeAll(servers));

  test.each(cases)("$code: $what", async ({ code, args, says, env: more = {}, input, signal }) => {
    const given = Object.fromEntries(Object.entries(more).map(([name, value]) => [name, value.replace("TENANT", own().tenant)]));
    const words = args.split(" ").map((word) => (word === "BAD" ? bad.url : word));
    const done = await harrier(words, {
      env: { ...env, ...given },
      ...(input === undefined ? {} : { input }),
      ...(signal === undefined ? {} : { signalAtOutput: signal }),
    });
    expect({ code: done.code, stderr: done.stderr }).toEqual({
      code,
      stderr: says === undefined ? done.stderr : expect.stringMatching(says),
    });
  });

  test("a request that is refused for now is sent three times, and with -o json the error is the server's", async () => {
    expect(bad.asked.filter((one) => one.includes("/targets/busy"))).toHaveLength(3);
    const told = await harrier(["target", "get", "nobody", "-o", "json"], { env });
    expect(JSON.parse(told.stderr)).toMatchObject({ status: 404, errorCode: "hawkbit.server.error.repo.entityNotFound" });
    expect(told.stdout).toBe("");
  });

  test("every number that the contract names has a case, and no other one", () => {
    const contract = readFileSync(join(workspaceRoot, "docs/contract/console.md"), "utf8");
    const [, table = ""] = /\| Exit \| Meaning \|[^\n]*\n\|[-|]+\n((?:\|.*\n)+)/.exec(contract) ?? [];
    const named = [...table.matchAll(/\| ((?:\d+(?:, )?)+) \|/g)].flatMap(([, numbers = ""]) => numbers.split(", ").map(Number));
    expect(named).toHaveLength(11);
    expect([...new Set(cases.map(({ code }) => code))].sort((a, b) => a - b)).toEqual(named.sort((a, b) => a - b));
  });
});
