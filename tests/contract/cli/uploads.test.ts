import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { sha256 } from "../support/build.ts";
import { baseUrl } from "../support/http.ts";
import { inOwnTenant } from "../support/tenants.ts";
import { answering, closeAll, environmentOf, harrier, json } from "./harrier.ts";

const mebibyte = 1024 * 1024;
/** The paths of the parts that a run has sent, from what `-v` tells. */
const partsOf = (stderr: string): number[] => [...stderr.matchAll(/^200 \S+\/uploads\/\S+\?offset=(\d+) /gm)].map(([, at]) => Number(at));
const opened = (stderr: string): boolean => /^201 \S+\/artifacts\/uploads /m.test(stderr);

/** Passes a request on to the server, and its answer back; `answered` is called before its client can know. */
function passOn(from: IncomingMessage, to: ServerResponse, answered = (): void => undefined): void {
  const onward = request(new URL(from.url ?? "/", baseUrl), { method: from.method, headers: from.headers }, (answer) => {
    answered();
    to.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(to);
  });
  from.pipe(onward.on("error", () => to.destroy()));
}

describe("uploads that are interrupted (contract console.md §5, M15)", () => {
  inOwnTenant();
  const folder = mkdtempSync(join(tmpdir(), "harrier-cli-"));
  const file = join(folder, "fw.bin");
  let env: Record<string, string>;
  let bytes: Buffer;
  const state = () => join(env["XDG_STATE_HOME"] as string, "harrier", "uploads.json");
  const upload = (...more: string[]) => ["artifact", "upload", "fw:1.0", file, "-v", "-o", "jsonpath={.hashes.sha256}", ...more];
  const interrupted = (signal: NodeJS.Signals, ...more: string[]) =>
    harrier(upload(...more), { env, signalAtError: { text: /uploads\/\S+\?offset=8388608 /, signal } });
  beforeAll(async () => {
    env = environmentOf();
    bytes = randomBytes(84 * mebibyte + 5);
    writeFileSync(file, bytes);
    expect(await harrier(["module", "create", "fw:1.0", "--type", "os"], { env })).toMatchObject({ code: 0 });
  });

  test("a run that is killed is gone on with where the server has come to, and the file arrives whole", async () => {
    const killed = await interrupted("SIGKILL");
    expect(killed.code).toBeNull();
    expect(opened(killed.stderr)).toBe(true);
    expect(statSync(state()).mode & 0o777).toBe(0o600);
    expect(readFileSync(state(), "utf8")).not.toContain(env["HARRIER_PASSWORD"]);
    const stopped = await harrier(upload(), { env, signalAtError: { text: /\?offset=\d+ /, signal: "SIGINT" } });
    expect(stopped.code).toBe(130);
    const ran = await harrier(upload(), { env });
    expect(ran).toMatchObject({ code: 0, stdout: `${sha256(bytes)}\n` });
    expect(opened(ran.stderr)).toBe(false);
    expect(ran.stderr).toMatch(/^fw\.bin: going on at \d+ of 88080389 bytes$/m);
    expect(Math.min(...partsOf(ran.stderr))).toBeGreaterThanOrEqual(16 * mebibyte);
    expect(JSON.parse(readFileSync(state(), "utf8"))).toEqual([]);
  });

  test("a file that has changed meanwhile, and an upload that the server does not know any more, begin anew", async () => {
    expect((await interrupted("SIGKILL", "--name", "other.bin")).code).toBeNull();
    bytes = randomBytes(64 * mebibyte);
    writeFileSync(file, bytes);
    const changed = await harrier(upload("--name", "other.bin"), { env, signalAtError: { text: /\?offset=8388608 /, signal: "SIGKILL" } });
    expect(opened(changed.stderr)).toBe(true);
    const known = JSON.parse(readFileSync(state(), "utf8")) as { id: string; softwareModuleId: number; size: number }[];
    const left = known.find(({ size }) => size === bytes.length);
    await harrier(["api", "artifactUploads.cancel", `softwareModuleId=${left?.softwareModuleId}`, `uploadId=${left?.id}`], { env });
    const ran = await harrier(upload("--name", "other.bin", "--sha256", sha256(bytes)), { env });
    expect(ran).toMatchObject({ code: 0, stdout: `${sha256(bytes)}\n` });
    expect(partsOf(ran.stderr)).toEqual(Array.from({ length: 8 }, (_, n) => n * 8 * mebibyte));
  });

  const servers: Server[] = [];
  afterEach(() => closeAll(servers));

  test.each([
    ["came to a replica that does not receive the one before", 409, "hawkbit.server.error.artifact.uploadOffset"],
    ["were too many", 429, "hawkbit.server.error.tooManyRequests"],
  ])("the next part is sent before one is answered, until three %s", async (_why, status, errorCode) => {
    let [running, most, refused, elsewhere] = [0, 0, 0, true];
    const front = await answering(servers, (from, to) => {
      if (from.method !== "PUT") return passOn(from, to);
      const answered = (): void => {
        running -= 1;
      };
      running += 1;
      most = Math.max(most, running);
      if (running === 1 || !elsewhere) return passOn(from, to, answered);
      refused += 1;
      from.resume().once("end", () => {
        answered();
        json(to, { errorCode, info: { offset: 0 } }, status);
      });
    });
    const send = (name: string) => harrier(upload("--name", name), { env: { ...env, HARRIER_SERVER: front.url } });
    const expected = { code: 0, stdout: `${sha256(bytes)}\n` };
    const ran = await send(`refused-${status}.bin`);
    expect(ran, ran.stderr).toMatchObject(expected);
    expect(partsOf(ran.stderr)).toEqual(Array.from({ length: 8 }, (_, n) => n * 8 * mebibyte));
    expect([refused, most]).toEqual([3, 2]);
    [elsewhere, most] = [false, 0];
    const next = await send(`ahead-${status}.bin`);
    expect(next, next.stderr).toMatchObject(expected);
    expect([refused, most]).toEqual([3, 2]);
    expect(running).toBe(0);
  });

  test("a file that is not what --sha256 says is refused, and leaves nothing to go on with", async () => {
    const refused = await harrier(upload("--name", "third.bin", "--sha256", "0".repeat(64)), { env });
    expect(refused.code).toBe(1);
    expect((JSON.parse(readFileSync(state(), "utf8")) as { filename: string }[]).map(({ filename }) => filename)).not.toContain(
      "third.bin",
    );
  });

  test("unfinished uploads of everybody are listed, and given up", async () => {
    expect((await interrupted("SIGKILL", "--name", "left.bin")).code).toBeNull();
    const list = async () => {
      const { stdout } = await harrier(["artifact", "uploads", "-o", "jsonl"], { env });
      const all = stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as { id: string; filename: string }]));
      return all.filter(({ filename }) => filename === "left.bin");
    };
    const [left] = await list();
    const cancel = ["artifact", "cancel-upload", left?.id as string];
    expect(await harrier(cancel, { env })).toMatchObject({ code: 64 });
    expect(await harrier([...cancel, "--yes"], { env })).toMatchObject({ code: 0, stderr: "the upload of left.bin is given up\n" });
    expect(await list()).toEqual([]);
    expect(await harrier([...cancel, "--yes"], { env })).toMatchObject({ code: 5 });
  });
});
