import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { callPairs } from "@harrier/rpc";
import { Authorities, type Manifest, workspaceRoot } from "@harrier/testkit";

export interface Setting {
  readonly name: string;
  readonly value: string;
}

/** The environment of the only container of a Deployment or a Job. */
export const settingsOf = (manifest: Manifest): Setting[] => manifest["spec"].template.spec.containers[0].env;

/** The gateway forwards requests to these two without calling them, and signs for them too. */
const pairs: readonly string[] = [...callPairs(), "gateway/artifact-store", "gateway/rollout-engine"];
const key = () => randomBytes(32).toString("base64");
const authorities = new Authorities();
const pair = authorities.root("harrier test").issue("controller", "service");
authorities.close();

/** What a file holds that a setting names, as an operator would make it. */
function contentOf(setting: string, service: string): string {
  if (setting === "HARRIER_IDENTITY_KEYS") {
    const own = pairs.filter((one) => one.split("/").includes(service));
    return own.map((one) => `${one}=k1:${key()}`).join(";");
  }
  if (setting === "HARRIER_AUDIT_PUBLIC_KEYS") return `management=${key()}`;
  if (setting === "HARRIER_DATABASE_URL") return "postgres://harrier@127.0.0.1:1/harrier";
  if (setting === "HARRIER_AMQP_URL") return "amqp://harrier:harrier@127.0.0.1:1";
  if (setting === "HARRIER_AMQP_MANAGEMENT_URL") return "http://harrier:harrier@127.0.0.1:1";
  if (/_(CERT|CA)$/.test(setting)) return pair.cert;
  if (/^HARRIER_(TLS|HTTPS)_KEY$/.test(setting)) return pair.key;
  return key();
}

/**
 * Starts a service's program with these settings and a command that it does not have: it reads its settings, and ends before it does anything.
 * Answers what it complained of besides the command; empty if the settings are good.
 */
export async function complaintOf(service: string, settings: readonly Setting[], dir: string): Promise<string> {
  const folder = mkdtempSync(join(dir, `${service}-`));
  const env: Record<string, string> = { PATH: process.env["PATH"] ?? "" };
  for (const { name, value } of settings) {
    env[name] = value;
    if (!name.endsWith("_FILE")) continue;
    const setting = name.slice(0, -"_FILE".length);
    env[name] = join(folder, setting);
    writeFileSync(env[name], contentOf(setting, service));
  }
  const child = spawn(process.execPath, [join(workspaceRoot, "apps", service, "dist", "main.js"), "no-such-command"], {
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let words = "";
  child.stderr.on("data", (data: Buffer) => {
    words += data.toString();
  });
  await once(child, "close");
  const expected = `${service}: cannot start: there is no command "no-such-command"`;
  const others = words.split("\n").filter((line) => line !== "" && line !== expected);
  return words.includes(expected) ? others.join("\n") : words || "it said nothing";
}
