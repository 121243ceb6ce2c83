import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Deployment, Poll } from "@harrier/testkit";
import { pythonClient } from "@harrier/testkit";

const PACKAGE = "rauc-hawkbit";
// Only its DDI client is used: the broker between it and RAUC would need GLib and a D-Bus with RAUC on it.
const distribution = { name: PACKAGE, version: "0.2.0", needs: ["aiohttp==3.14.5"] };

export interface RaucDeviceOptions {
  baseUrl: string;
  tenant?: string;
  controllerId: string;
  token: string;
}

/** What the client reports of an update; `progress` is RAUC's percentage. */
export interface RaucReport {
  action: string;
  execution: string;
  finished: string;
  details: readonly string[];
  progress?: { percentage?: number };
}

/** The steps of a device, each done by the client; a step that the client takes for an error throws its message. */
export interface RaucDevice {
  readonly controllerId: string;
  poll(): Promise<Poll>;
  identify(attributes: Readonly<Record<string, string>>): Promise<void>;
  /** Follows the link of a poll. */
  deployment(href: string): Promise<Deployment>;
  /** Downloads to a path; returns the MD5 that the client has computed meanwhile. */
  download(href: string, to: string): Promise<string>;
  report(report: RaucReport): Promise<void>;
  cancellation(href: string): Promise<{ id: string; cancelAction: { stopId: string } }>;
  answerCancellation(stop: string, execution: "closed" | "rejected", details: readonly string[]): Promise<void>;
  stop(): Promise<void>;
}

type ScriptAnswer = { answer: unknown } | { error: string };

/** Starts a process of Python with the DDI client of rauc-hawkbit, unchanged from PyPI. */
export async function startRaucDevice({ baseUrl, tenant = "DEFAULT", controllerId, token }: RaucDeviceOptions): Promise<RaucDevice> {
  const { command, env } = await pythonClient(distribution);
  const settings = { host: new URL(baseUrl).host, tenant, controllerId, token };
  const script = join(import.meta.dirname, "rauc-hawkbit.py");
  const child = spawn(command, [script, JSON.stringify(settings)], {
    env: { ...process.env, ...env },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ask = async <Answer>(command: string, details: object = {}): Promise<Answer> => {
    child.stdin.write(`${JSON.stringify({ do: command, ...details })}\n`);
    const { value, done } = await lines.next();
    if (done) throw new Error(`${PACKAGE} ended at ${command}`);
    const told = JSON.parse(value) as ScriptAnswer;
    if ("error" in told) throw new Error(told.error);
    return told.answer as Answer;
  };
  return {
    controllerId,
    poll: () => ask("poll"),
    identify: (attributes) => ask("identify", { attributes }),
    deployment: (href) => ask("deployment", { href }),
    download: (href, to) => ask("download", { href, to }),
    report: ({ progress = {}, ...told }) => ask("feedback", { ...told, progress }),
    cancellation: (href) => ask("cancellation", { href }),
    answerCancellation: (stop, execution, details) => ask("answer_cancellation", { stop, execution, finished: "success", details }),
    async stop() {
      child.stdin.end();
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    },
  };
}
