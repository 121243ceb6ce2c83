import { mkdtempSync, writeFileSync } from "node:fs";
import type { Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { inOwnTenant } from "../support/tenants.ts";
import { answering, closeAll, environmentOf, harrier, inTerminal, json } from "./harrier.ts";

const folder = mkdtempSync(join(tmpdir(), "harrier-outputs-"));

/** Lists and objects of the main nouns. Where a list has no order of its own it is asked for one. */
const commands = [
  "target list --sort controllerid:ASC",
  "target get dev-1 --columns id,name,status",
  "target tags dev-1",
  "target metadata dev-1",
  "target attributes dev-1",
  "group list",
  "group targets Europe --subgroups",
  "tag list",
  "settag list",
  "targettype list -q name==gateway",
  "moduletype list -q name==Driver",
  "settype list -q name==Box",
  "module list",
  "module get fw:1.0 --columns name,version,type,vendor,locked",
  "artifact list fw:1.0 --columns providedFilename,size",
  "set list",
  "set modules fw:1.0",
  "filter list",
  "autoassign list --columns id,name,status,query",
  "rollout list",
  "rollout groups everywhere",
  "rollout status everywhere",
  "action list -q target.controllerid==dev-3 --columns target,set,status",
  "user permissions anna",
  "role list -q name==night",
  "setting get pollingTime",
  "key list --columns name,description",
  "client list --columns name,scopes",
  "webhook list --columns name,url,types",
  "audit list --columns action,status -q action==targetTags.create",
  "context list",
  "whoami --columns kind",
];

const manifests = `
{ apiVersion: harrier/v1, kind: ModuleType, metadata: { name: Driver }, spec: { key: driver, maxAssignments: 2 } }
---
{ apiVersion: harrier/v1, kind: SetType, metadata: { name: Box }, spec: { key: box, mandatory: [driver] } }
---
{ apiVersion: harrier/v1, kind: TargetType, metadata: { name: gateway }, spec: { description: at the edge, colour: blue } }
---
{ apiVersion: harrier/v1, kind: TargetTag, metadata: { name: eu }, spec: { colour: red, description: "a name, with a comma" } }
---
{ apiVersion: harrier/v1, kind: SetTag, metadata: { name: stable } }
---
{ apiVersion: harrier/v1, kind: SoftwareModule, metadata: { name: fw, version: "1.0" }, spec: { type: os, vendor: we, artifacts: [{ file: fw.bin }] } }
---
{ apiVersion: harrier/v1, kind: DistributionSet, metadata: { name: fw, version: "1.0" }, spec: { type: os, modules: ["fw:1.0"], lock: true } }
---
{ apiVersion: harrier/v1, kind: TargetFilter, metadata: { name: all }, spec: { query: controllerid==dev-* } }
---
{ apiVersion: harrier/v1, kind: AutoAssignment, metadata: { name: later }, spec: { set: "fw:1.0", targetFilterQuery: controllerid==none } }
---
apiVersion: harrier/v1
kind: Rollout
metadata: { name: everywhere }
spec:
  set: "fw:1.0"
  filter: controllerid==dev-*
  groups: [{ name: canary, percent: 34, success: 100, error: 1 }, { name: rest, percent: 100, success: 80, error: 10 }]
---
{ apiVersion: harrier/v1, kind: Role, metadata: { name: night }, spec: { permissions: [READ_ROLLOUT, READ_TARGET] } }
---
{ apiVersion: harrier/v1, kind: OAuthClient, metadata: { name: ci }, spec: { scopes: [READ_TARGET] } }
---
{ apiVersion: harrier/v1, kind: ApiKey, metadata: { name: lab }, spec: { expiresAt: "${new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10)}", description: of the lab } }
---
{ apiVersion: harrier/v1, kind: Setting, metadata: { name: pollingTime }, spec: { value: "00:02:00" } }
`;

/** Ids and times differ from run to run; what is behind a column of ids stays at its place. */
function settled(text: string): string {
  const lines = text
    .replaceAll("\r\n", "\n")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>")
    .split("\n");
  const hasIds = /^ID\s/.test(lines[0] ?? "") && /^\d+\s/.test(lines[1] ?? "");
  if (!hasIds) return lines.join("\n");
  return lines
    .map((line) =>
      line.replace(
        /^(ID|\d+)(\t| +)/,
        (_all, id: string, gap: string) => (id === "ID" ? id : "#").padEnd(gap === "\t" ? 0 : 4) + gap.slice(0, gap === "\t" ? 1 : 0),
      ),
    )
    .join("\n");
}

describe("what the command line writes, in a pipe and in a terminal (contract console.md §5)", () => {
  inOwnTenant();
  let env: Record<string, string>;
  const ok = async (line: string, input?: string) => {
    const ran = await harrier(line.split(" "), { env, cwd: folder, ...(input === undefined ? {} : { input }) });
    expect(ran, `${line}: ${ran.stderr}`).toMatchObject({ code: 0 });
  };
  beforeAll(async () => {
    env = environmentOf();
    writeFileSync(join(folder, "fw.bin"), "x".repeat(12_345));
    for (const n of [1, 2, 3]) await ok(`target create dev-${n} --name device-${n}`);
    await ok("apply -f - --secrets-out secrets", manifests);
    await Promise.all([
      ok("rollout wait everywhere --for ready"),
      ok("target tag eu dev-1"),
      ok("target metadata dev-1 rack 7"),
      ok("group assign Europe/East dev-1"),
      ok("target assign fw:1.0 dev-3"),
      ok("user create anna --password-stdin --permissions READ_TARGET,UPDATE_TARGET", "a long enough passphrase\n"),
      ok("login --server http://127.0.0.1:9 --token-env OF_CI --as prod"),
    ]);
  });

  /** One text of all commands, each behind the line that was typed. */
  async function written(how: (args: string[]) => Promise<{ stdout: string }>): Promise<string> {
    const shown: string[] = [];
    for (let n = 0; n < commands.length; n += 4)
      shown.push(
        ...(await Promise.all(
          commands.slice(n, n + 4).map(async (line) => `$ harrier ${line}\n${settled((await how(line.split(" "))).stdout)}`),
        )),
      );
    return shown.join("\n");
  }

  test("the main nouns in a pipe: tabs, no alignment, no cut", async () => {
    await expect(await written((args) => harrier(args, { env }))).toMatchFileSnapshot("goldens/pipe.txt");
  });

  test("the main nouns in a terminal: aligned columns", async () => {
    await expect(await written((args) => inTerminal(args, env, { columns: 200 }))).toMatchFileSnapshot("goldens/terminal.txt");
  });
});

const group = (name: string, status: string, counts: object, more: object = {}) => ({
  name,
  status,
  totalTargets: 50,
  totalTargetsPerStatus: counts,
  successCondition: { condition: "THRESHOLD", expression: "80" },
  errorCondition: { condition: "THRESHOLD", expression: "10" },
  ...more,
});
/** A rollout as it is at three looks: after the second one it has ended. */
const looks = [
  {
    rollout: { status: "running", totalTargetsPerStatus: { finished: 25 } },
    groups: [group("canary", "running", { finished: 25, running: 25 }), group("rest", "scheduled", { scheduled: 50 })],
  },
  {
    rollout: { status: "running", totalTargetsPerStatus: { finished: 58 } },
    groups: [
      group("canary", "finished", { finished: 48, error: 2 }),
      group("rest", "running", { finished: 10, error: 3, running: 37 }, { safetyCounts: { proving: 0, silent: 17, retrying: 0 } }),
    ],
    failures: [
      { count: 3, code: -19, message: "no space left on #" },
      { count: 1, code: -5, message: "signature" },
      { count: 1, message: "not shown" },
    ],
  },
  {
    rollout: { status: "finished", totalTargetsPerStatus: { finished: 97 } },
    groups: [group("canary", "finished", { finished: 48, error: 2 }), group("rest", "finished", { finished: 49, error: 1 })],
    failures: [{ count: 3, code: -19, message: "no space left on #" }],
  },
];

describe("the tree of a rollout that is watched (contract console.md §5)", () => {
  const servers: Server[] = [];
  afterEach(() => closeAll(servers));

  /** A server whose rollout goes on with every look, and which tells of each change as the service does. */
  async function watched(startedMinutesAgo?: number, last = looks.length - 1) {
    let at = -1;
    let untold = 0;
    let tell = () => void untold++;
    const { url } = await answering(servers, ({ url: path = "" }, response) => {
      if (path.includes("/events")) {
        response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
        tell = () => void response.write(`event: change\ndata: {}\n\n`);
        for (; untold > 0; untold--) tell();
        return;
      }
      const page = (content: readonly unknown[]) => json(response, { content, total: content.length, size: content.length });
      if (path.includes("/failures")) return page(looks[at]?.failures ?? []);
      if (!path.includes("/deploygroups")) {
        at = Math.min(at + 1, last);
        const startedAt = startedMinutesAgo === undefined ? {} : { startedAt: Date.now() - startedMinutesAgo * 60_000 };
        return json(response, { id: 11, name: "fw 2.4 to EU", totalTargets: 100, ...startedAt, ...looks[at]?.rollout });
      }
      page(looks[at]?.groups ?? []);
      // what has changed is told when the look before it is over, so that each look shows one state
      tell();
    });
    return environmentOf({ HARRIER_SERVER: url });
  }

  test("in a pipe each state is written once, whole", async () => {
    const { code, stdout } = await harrier(["rollout", "watch", "11"], { env: await watched() });
    await expect(stdout).toMatchFileSnapshot("goldens/watch-pipe.txt");
    expect(code).toBe(0);
  });

  const drawn = (stdout: string) => stdout.replaceAll("\r\n", "\n").replaceAll("\u001b", "<ESC>");

  test("in a terminal each state is drawn on the alternate screen, cut to its width, and the last one stays behind it", async () => {
    const { code, stdout } = await inTerminal(["rollout", "status", "11", "--watch"], await watched(), { columns: 80 });
    await expect(drawn(stdout)).toMatchFileSnapshot("goldens/watch-terminal.txt");
    expect(code).toBe(0);
  });

  test("a terminal with fewer rows than groups gets what goes on, and the last frame as a whole", async () => {
    const { code, stdout } = await inTerminal(["rollout", "watch", "11"], await watched(), { columns: 80, rows: 3 });
    await expect(drawn(stdout)).toMatchFileSnapshot("goldens/watch-small-terminal.txt");
    expect(code).toBe(0);
  });

  test("Ctrl-C in a terminal leaves the alternate screen, with what was drawn last", async () => {
    // the rollout of this server never ends
    const env = await watched(undefined, 1);
    const { code, stdout } = await inTerminal(["rollout", "watch", "11"], env, {
      columns: 80,
      typedAtOutput: { text: "└─ rest", typed: "\u0003" },
    });
    const [, drawnOn = "", behind = ""] = /^<ESC>\[\?1049h(.*)<ESC>\[\?1049l(.*)$/s.exec(drawn(stdout).replace("^C", "")) ?? [];
    expect(drawnOn).toContain("├─ canary");
    expect(behind).toMatch(/^fw 2\.4 to EU {2}▸ running .*\n├─ canary .*\n└─ rest .*\n/);
    expect(code).toBe(130);
  });

  test("a running rollout says how fast it is and how long it will take", async () => {
    const { stdout } = await harrier(["rollout", "status", "11"], { env: await watched(50) });
    expect(stdout.split("\n")[0]).toBe("fw 2.4 to EU  ▸ running  100 devices  25 done  1/min  ~2h30m left");
  });
});

describe("what is asked in a terminal (contract console.md §5)", () => {
  const servers: Server[] = [];
  afterEach(() => closeAll(servers));

  test("before something is lost somebody is asked, and no is nothing done", async () => {
    const { url, asked } = await answering(servers, (_request, response) => json(response, {}));
    const { code, stdout } = await inTerminal(["target", "delete", "dev-1"], environmentOf({ HARRIER_SERVER: url }), { input: "n\n" });
    expect(stdout).toContain("Delete the target dev-1 with its actions? [y/N]");
    expect(code).toBe(64);
    expect(asked.filter((one) => one.startsWith("DELETE"))).toEqual([]);
  });
});

describe("the progress of an upload (contract console.md §5)", () => {
  inOwnTenant();
  test("a terminal shows the part that is sent, a pipe nothing but the result", async () => {
    const env = environmentOf();
    const file = join(folder, "fw.bin");
    writeFileSync(file, "x".repeat(12_345));
    expect(await harrier(["module", "create", "fw:1.0", "--type", "os"], { env })).toMatchObject({ code: 0 });
    const upload = ["artifact", "upload", "fw:1.0", file, "-o", "jsonpath={.size}"];
    expect(await harrier([...upload, "--name", "in-a-pipe"], { env })).toEqual({ code: 0, stdout: "12345\n", stderr: "" });
    const { stdout } = await inTerminal([...upload, "--name", "in-a-terminal"], env);
    expect(stdout).toMatch(/^(\rin-a-terminal [█·]{24} +\d{1,2} %)*\rin-a-terminal █{24} 100 %\r\n12345\r\n$/);
  });
});
