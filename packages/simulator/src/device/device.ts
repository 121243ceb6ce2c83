import { type Http, parseJson, type RetryPolicy, type Settled, untilAnswered } from "../http.ts";
import { chance } from "../random.ts";
import type { FinalReport, Tally } from "../report.ts";
import {
  type Cancellation,
  configData,
  type Deployment,
  type DeviceArtifact,
  type Execution,
  failureWithCode,
  feedback,
  type Poll,
  transientCode,
} from "./documents.ts";
import { DownloadRefused, DownloadWrong, download } from "./download.ts";

/**
 * When a device dies: it does not fetch its update, does not download it, has downloaded it and does not go on, or has reported success and does not come
 * back from its restart.
 */
export const silentMoments = ["fetch", "download", "install", "reboot"] as const;
export type SilentAt = (typeof silentMoments)[number];

export interface DeviceSettings {
  readonly baseUrl: string;
  readonly tenant: string;
  /** The share of updates that the device reports as failed. */
  readonly fail: number;
  /** The share of updates after which the device reports success, falls back, and shows the version from before. */
  readonly fallBack?: number;
  /** With a code, failures are reported with it. */
  readonly failCode?: number | undefined;
  /** The share of devices that never speak again from a moment of their first update on. */
  readonly silent?: number;
  readonly silentAt?: SilentAt;
  /** The share of devices whose first update fails with code 503 for a reason that passes. */
  readonly flaky?: number;
  readonly seed: number;
  readonly pieces: number;
  /** One request may be repeated for so long before the device starts over at its next poll. */
  readonly timeoutMs: number;
}

export interface DeviceDeps {
  readonly http: Http;
  readonly tally: Tally;
  readonly signal: AbortSignal;
}

export interface Credentials {
  readonly controllerId: string;
  /** The value of the Authorization header. */
  readonly authorization: string;
}

/** A device that is silent is only looked at again this late. */
const silentSleep = "00:01:00";

/** The action is over for this device: it was cancelled, superseded or closed meanwhile. */
class ActionGone extends Error {}

/** One device that does what the specification requires: poll, fetch, check, report, and never lose a report. */
export class Device {
  readonly controllerId: string;
  readonly #deps: DeviceDeps;
  readonly #settings: DeviceSettings;
  readonly #headers: Record<string, string>;
  readonly #url: string;
  readonly #ended = new Map<string, FinalReport["outcome"]>();
  /** The result is decided once per action, so that a device that starts over reports the same. */
  readonly #fates = new Map<string, "success" | "failure" | "transient">();
  /** What it runs since it has installed something. */
  #version: string | undefined;
  #dead = false;

  constructor(credentials: Credentials, settings: DeviceSettings, deps: DeviceDeps) {
    this.controllerId = credentials.controllerId;
    this.#deps = deps;
    this.#settings = settings;
    this.#headers = { authorization: credentials.authorization };
    this.#url = `${settings.baseUrl}/${settings.tenant}/controller/v1/${encodeURIComponent(credentials.controllerId)}`;
  }

  /** Polls and does what the answer asks for; returns the sleep that the server wants. */
  async cycle(): Promise<string> {
    if (this.#dead) return silentSleep;
    const poll = await this.#get<Poll>(this.#url);
    const links = poll._links ?? {};
    this.#deps.tally.polled(this.controllerId, Object.keys(links));
    if (links["configData"] !== undefined)
      await this.#expect(200, "PUT", links["configData"].href, configData(this.controllerId, this.#version));
    try {
      if (links["cancelAction"] !== undefined) await this.#cancel(links["cancelAction"].href);
      else if (links["deploymentBase"] !== undefined) await this.#update(links["deploymentBase"].href);
    } catch (error) {
      if (!(error instanceof ActionGone)) throw error;
      this.#deps.tally.failed(this.controllerId, error.message);
    }
    return poll.config.polling.sleep;
  }

  async #update(href: string): Promise<void> {
    if (this.#dies("fetch")) return;
    const document = await this.#get<Deployment>(href);
    const { id, deployment } = document;
    const ended = this.#ended.get(id);
    if (ended !== undefined) {
      if (ended !== "gone") this.#deps.tally.violated(this.controllerId, `action ${id} is offered again after its end (${ended})`);
      return;
    }
    if (deployment.download === "skip" || this.#dies("download")) return;
    this.#deps.tally.started(this.controllerId, id);
    await this.#report(id, "proceeding", "none", "update received");
    for (const artifact of deployment.chunks.flatMap((chunk) => chunk.artifacts)) await this.#fetch(id, artifact);
    if (deployment.update === "skip" || this.#dies("install")) return;
    const { seed, fallBack = 0 } = this.#settings;
    const fate = this.#fateOf(id);
    await this.#finish(id, fate);
    if (fate !== "success" || this.#dies("reboot")) return;
    const fellBack = chance(seed, this.controllerId, "fall-back", this.#fates.size) < fallBack;
    this.#version = fellBack ? (this.#version ?? "0") : (deployment.chunks[0]?.version ?? this.#version);
  }

  /** Whether the device is one of those that die, and this is the moment. */
  #dies(moment: SilentAt): boolean {
    const { seed, silent = 0, silentAt = "install" } = this.#settings;
    this.#dead = moment === silentAt && chance(seed, this.controllerId, "silent") < silent;
    return this.#dead;
  }

  #fateOf(actionId: string): "success" | "failure" | "transient" {
    const { seed, fail, flaky = 0 } = this.#settings;
    const known = this.#fates.get(actionId);
    const passes = this.#fates.size === 0 && chance(seed, this.controllerId, "flaky") < flaky;
    const fate = known ?? (passes ? "transient" : chance(seed, this.controllerId, this.#fates.size) < fail ? "failure" : "success");
    this.#fates.set(actionId, fate);
    return fate;
  }

  async #fetch(actionId: string, artifact: DeviceArtifact): Promise<void> {
    const { tally, http } = this.#deps;
    const { filename, size } = artifact;
    const { sha1, md5, sha256 } = artifact.hashes;
    const link = artifact._links["download"] ?? artifact._links["download-http"];
    if (link === undefined) throw new Error(`artifact ${filename} has no download link`);
    await this.#report(actionId, "download", "none", `downloading ${filename}`);
    const options = {
      http,
      headers: this.#headers,
      pieces: this.#settings.pieces,
      retryPolicy: this.#retryPolicy(),
      onBytes: (n: number) => tally.received(n),
    };
    try {
      await download({ url: link.href, size, hashes: { sha1, md5, sha256 } }, options);
    } catch (error) {
      // the file was withdrawn during the download, and the next poll tells why
      if (error instanceof DownloadRefused && error.status === 404) throw new ActionGone(error.message);
      if (error instanceof DownloadWrong) tally.violated(this.controllerId, `${filename}: ${error.message}`);
      throw error;
    }
    tally.downloaded({ controllerId: this.controllerId, actionId, filename, bytes: size });
    await this.#report(actionId, "downloaded", "none", `${filename} is complete, hashes are right`);
  }

  async #finish(actionId: string, fate: "success" | "failure" | "transient"): Promise<void> {
    const outcome = fate === "success" ? "success" : "failure";
    const text = outcome === "success" ? "installed" : "the new software did not start";
    const url = this.#feedbackUrl("deploymentBase", actionId);
    const { failCode } = this.#settings;
    const failed = failCode === undefined ? feedback("closed", "failure", text) : failureWithCode(failCode, text);
    const transient = failureWithCode(transientCode, "the network went away");
    const body = { success: feedback("closed", "success", text), failure: failed, transient }[fate];
    const { answer, repeated } = await this.#send("POST", url, body, this.#endlessRetryPolicy());
    // the first attempt was processed, and only its answer was lost
    if (answer.status === 200 || (answer.status === 410 && repeated)) return this.#end(actionId, outcome);
    if (answer.status === 410) return this.#end(actionId, "gone");
    throw new ActionGone(`final report answered with ${answer.status}`);
  }

  async #cancel(href: string): Promise<void> {
    const { cancelAction } = await this.#get<Cancellation>(href);
    const url = this.#feedbackUrl("cancelAction", cancelAction.stopId);
    const { answer, repeated } = await this.#send("POST", url, feedback("closed", "success", "stopped"), this.#endlessRetryPolicy());
    if (answer.status === 200) return this.#end(cancelAction.stopId, "cancelled");
    if (repeated && (answer.status === 404 || answer.status === 410)) return this.#end(cancelAction.stopId, "cancelled");
    throw new ActionGone(`cancellation answered with ${answer.status}`);
  }

  #end(actionId: string, outcome: FinalReport["outcome"]): void {
    const { tally } = this.#deps;
    if (outcome !== "gone") tally.reported();
    this.#ended.set(actionId, outcome);
    tally.ended({ controllerId: this.controllerId, actionId, outcome, at: Date.now() });
  }

  async #report(actionId: string, execution: Execution, finished: "none", detail: string): Promise<void> {
    const { answer } = await this.#send("POST", this.#feedbackUrl("deploymentBase", actionId), feedback(execution, finished, detail));
    if (answer.status === 404 || answer.status === 410) throw new ActionGone(`report answered with ${answer.status}`);
    if (answer.status !== 200) throw new Error(`report answered with ${answer.status}`);
    this.#deps.tally.reported();
  }

  #feedbackUrl(resource: "deploymentBase" | "cancelAction", actionId: string): string {
    return `${this.#url}/${resource}/${actionId}/feedback`;
  }

  async #get<T>(url: string): Promise<T> {
    const { answer } = await this.#send("GET", url);
    if (answer.status === 404) throw new ActionGone("resource is gone");
    if (answer.status !== 200) throw new Error(`GET answered with ${answer.status}`);
    return parseJson<T>(answer);
  }

  async #expect(status: number, method: "PUT", url: string, body: string): Promise<void> {
    const { answer } = await this.#send(method, url, body);
    if (answer.status !== status) throw new Error(`${method} answered with ${answer.status}`);
  }

  async #send(method: "GET" | "POST" | "PUT", url: string, body?: string, retryPolicy = this.#retryPolicy()): Promise<Settled> {
    const headers = { ...this.#headers, accept: "application/json" };
    const call = body === undefined ? { method, headers } : { method, headers: { ...headers, "content-type": "application/json" }, body };
    return await untilAnswered(() => this.#deps.http.send(url, call), retryPolicy);
  }

  /** A final report is repeated without an end; anything else starts over with the next poll. */
  #endlessRetryPolicy(): RetryPolicy {
    return { ...this.#retryPolicy(), ms: Number.POSITIVE_INFINITY, notAnswers: [401, 403, 408, 409] };
  }

  #retryPolicy(): RetryPolicy {
    return { ms: this.#settings.timeoutMs, signal: this.#deps.signal, onRetry: () => this.#deps.tally.retried() };
  }
}
