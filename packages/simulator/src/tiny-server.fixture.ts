import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export const file = randomBytes(300_000);
const hash = (name: string): string => createHash(name).update(file).digest("hex");

type Step = (req: IncomingMessage, res: ServerResponse) => boolean;

/** The smallest server that delivers one update per device correctly; `disturb` may answer instead of it. */
export class TinyServer {
  readonly closed = new Map<string, string>();
  readonly cancelling = new Set<string>();
  readonly seen: string[] = [];
  /** The bodies of configuration data and of last reports, by device. */
  readonly shown = new Map<string, string[]>();
  readonly ends: { device: string; code?: number }[] = [];
  hashes = { sha1: hash("sha1"), md5: hash("md5"), sha256: hash("sha256") };
  disturb: Step = () => false;
  /** Whether devices are asked for their configuration data after the end of their update, too. */
  asks = false;
  /** Whether a failed update is offered again, by a new action. */
  retries = false;
  url = "";
  #server: Server | undefined;

  async start(): Promise<void> {
    this.#server = createServer((req, res) => void this.#answer(req, res));
    await new Promise<void>((resolve) => this.#server?.listen(0, "127.0.0.1", resolve));
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }
  stop(): void {
    this.#server?.closeAllConnections();
    this.#server?.close();
  }

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { method = "", url = "" } = req;
    const body = await text(req);
    const [, , , , device = "", ...rest] = url.split("/");
    const what = rest.join("/").split("?")[0] ?? "";
    this.seen.push(`${method} ${device} ${what}${req.headers.range === undefined ? "" : ` ${req.headers.range}`}`);
    if (this.disturb(req, res)) return;
    const base = `${this.url}/T/controller/v1/${device}`;
    const json = (value: unknown): void => void res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
    if (what === "") return json({ config: { polling: { sleep: "00:00:00" } }, ...this.#links(device, base) });
    if (/^(deploymentBase|cancelAction)\/1[12]$/.test(what))
      return json(what.startsWith("c") ? { cancelAction: { stopId: "11" } } : this.#deployment(base, what.slice(-2)));
    if (what.startsWith("file")) return this.#file(req, res);
    if (what === "configData") {
      const { data } = JSON.parse(body) as { data: { sw_version?: string } };
      this.shown.set(device, [...(this.shown.get(device) ?? []), data.sw_version ?? "none"]);
      return void res.writeHead(200).end();
    }
    this.#report(device, what, JSON.parse(body), res);
  }

  #links(device: string, base: string): object {
    if (this.closed.has(device)) return this.asks ? { _links: { configData: { href: `${base}/configData` } } } : {};
    const kind = this.cancelling.has(device) ? "cancelAction" : "deploymentBase";
    const id = this.ends.some((end) => end.device === device && end.code !== undefined) ? 12 : 11;
    return { _links: { [kind]: { href: `${base}/${kind}/${id}?c=1` }, configData: { href: `${base}/configData` } } };
  }

  #deployment(base: string, id: string): object {
    const artifact = { filename: "fw.bin", size: file.length, hashes: this.hashes, _links: { "download-http": { href: `${base}/file` } } };
    return { id, deployment: { download: "forced", update: "forced", chunks: [{ name: "m", version: "1", artifacts: [artifact] }] } };
  }

  #file(req: IncomingMessage, res: ServerResponse): void {
    const range = /bytes=(\d+)-(\d+)/.exec(req.headers.range ?? "");
    if (range === null) return void res.writeHead(200).end(file);
    const [start, end] = [Number(range[1]), Number(range[2])];
    res.writeHead(206, { "content-range": `bytes ${start}-${end}/${file.length}` }).end(file.subarray(start, end + 1));
  }

  #report(
    device: string,
    what: string,
    report: { status: { execution: string; code?: number; result: { finished: string } } },
    res: ServerResponse,
  ): void {
    if (this.closed.has(device)) return void res.writeHead(410).end();
    const { execution, result, code } = report.status;
    if (execution === "closed") this.ends.push({ device, ...(code === undefined ? {} : { code }) });
    const isRepeated = this.retries && result.finished === "failure";
    if (execution === "closed" && !isRepeated) this.closed.set(device, what.startsWith("cancel") ? "cancelled" : result.finished);
    res.writeHead(200).end();
  }
}
