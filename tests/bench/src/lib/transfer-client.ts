import { createHash, randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import type { Pool } from "undici";

const mebi = 2 ** 20;

interface Created {
  readonly id: number;
}
interface Opened {
  readonly id: string;
  readonly offset: number;
  readonly partSize: number;
}

/** The file of one round: no two are equal, so that none is stored already. */
export interface File {
  readonly size: number;
  readonly sha256: string;
  blocks(from?: number, to?: number): Generator<Buffer>;
}

/** Makes a file of one random block that repeats behind a first one of its own. */
export function makeFile(size: number): File {
  const [first, block] = [randomBytes(mebi), randomBytes(mebi)];
  const blocks = function* (from = 0, to = size): Generator<Buffer> {
    for (let at = from; at < to; at += mebi) yield (at === 0 ? first : block).subarray(0, Math.min(mebi, to - at));
  };
  const hash = createHash("sha256");
  for (const bytes of blocks()) hash.update(bytes);
  return { size, sha256: hash.digest("hex"), blocks };
}

export async function copyOut(
  pool: Pool,
  path: string,
  headers: Record<string, string>,
  each: (bytes: Buffer) => void = () => {},
): Promise<void> {
  const { statusCode, body } = await pool.request({ method: "GET", path, headers });
  for await (const bytes of body) each(bytes as Buffer);
  if (statusCode !== 200) throw new Error(`${path}: ${statusCode}`);
}

class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** An administrator that uploads and downloads files. */
export class TransferClient {
  readonly #pool: Pool;
  readonly #headers: Record<string, string>;
  readonly #name: string;
  #made = 0;

  constructor(pool: Pool, authorization: string, name = "transfer") {
    this.#pool = pool;
    this.#name = name;
    this.#headers = { authorization };
  }

  async #call<Body>(
    method: "GET" | "POST" | "PUT",
    path: string,
    headers: Record<string, string> = {},
    body?: string | Readable,
  ): Promise<Body> {
    const answer = await this.#pool.request({
      method,
      path: `/api/mgmt/v1/${path}`,
      headers: { ...this.#headers, ...headers },
      ...(body === undefined ? {} : { body }),
    });
    const text = await answer.body.text();
    if (answer.statusCode >= 300) throw new Refusal(answer.statusCode, `${path}: ${answer.statusCode} ${text}`);
    return JSON.parse(text) as Body;
  }

  #send<Body>(path: string, body: object): Promise<Body> {
    return this.#call("POST", path, { "content-type": "application/json" }, JSON.stringify(body));
  }

  /** Raises the limits of the tenant: the bytes of one file, and of all. */
  async allowFiles(size: number, all: number): Promise<void> {
    for (const [name, limit] of Object.entries({ ARTIFACT_MAX_BYTES: size, ARTIFACT_STORAGE_MAX_BYTES: all }))
      await this.#call("PUT", `system/tenants/DEFAULT/quotas/${name}`, { "content-type": "application/json" }, JSON.stringify({ limit }));
  }

  async createModule(): Promise<number> {
    this.#made += 1;
    const [module] = await this.#send<Created[]>("softwaremodules", [
      { name: `${this.#name}-${this.#made}`, version: "1", type: "os" },
    ] as object);
    return (module as Created).id;
  }

  async upload(module: number, file: File): Promise<void> {
    const boundary = "------------------------d74496d66958873e"; // as long as that of curl
    const head = Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n`);
    const end = Buffer.from(`\r\n--${boundary}--\r\n`);
    const form = function* (): Generator<Buffer> {
      yield head;
      yield* file.blocks();
      yield end;
    };
    const headers = { "content-type": `multipart/form-data; boundary=${boundary}` };
    const path = `softwaremodules/${module}/artifacts?sha256sum=${file.sha256}`;
    await this.#call("POST", path, headers, Readable.from(form()));
  }

  async uploadInParts(module: number, file: File): Promise<void> {
    const path = `softwaremodules/${module}/artifacts/uploads`;
    const { id, partSize } = await this.#send<Opened>(path, { filename: "f", size: file.size, sha256sum: file.sha256 });
    const own = `${path}/${id}`;
    for (let offset = 0; offset < file.size; ) {
      try {
        await this.#sendParts(own, file, { from: offset, partSize });
      } catch (error) {
        // a part that overtakes the one before is refused, and sent again
        if ((error as Refusal).status !== 409) throw error;
      }
      ({ offset } = await this.#call<Opened>("GET", own));
    }
    await this.#call("POST", `${path}/${id}/complete`);
  }

  /** Sends what is missing; a part follows when the bytes of the one before are on their way, and the one before that is answered. */
  async #sendParts(path: string, file: File, { from, partSize }: { from: number; partSize: number }): Promise<void> {
    let before: Promise<unknown> = Promise.resolve();
    for (let offset = from; offset < file.size; offset += partSize) {
      const part = this.#sendPart(path, file, { offset, end: Math.min(offset + partSize, file.size) });
      try {
        await Promise.all([before, part.sent]);
      } catch (error) {
        await Promise.allSettled([before, part.answered]);
        throw error;
      }
      before = part.answered;
    }
    await before;
  }

  /** `sent`: all its bytes are on their way. */
  #sendPart(path: string, file: File, { offset, end }: { offset: number; end: number }) {
    const { promise: sent, resolve, reject } = Promise.withResolvers<void>();
    const bytes = function* (): Generator<Buffer> {
      yield* file.blocks(offset, end);
      resolve();
    };
    const headers = { "content-type": "application/octet-stream", "content-length": String(end - offset) };
    const answered = this.#call<Opened>("PUT", `${path}?offset=${offset}`, headers, Readable.from(bytes()));
    answered.catch(reject);
    sent.catch(() => undefined); // whoever waits for the answer hears of it
    return { sent, answered };
  }

  async firstArtifact(module: number): Promise<number> {
    const [artifact] = await this.#call<Created[]>("GET", `softwaremodules/${module}/artifacts`);
    return (artifact as Created).id;
  }

  /** Reads the whole file and checks its size; its bytes are checked at both ends, because a hash would be measured too. */
  async download(module: number, artifact: number, file: File): Promise<void> {
    let size = 0;
    const path = `/api/mgmt/v1/softwaremodules/${module}/artifacts/${artifact}/download`;
    await copyOut(this.#pool, path, this.#headers, (bytes) => {
      size += bytes.length;
    });
    if (size !== file.size) throw new Error(`the download has ${size} bytes instead of ${file.size}`);
  }
}
