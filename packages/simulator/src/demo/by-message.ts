import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type Http, parseJson } from "../http.ts";
import { runThings, type Things } from "../things.ts";
import { type Admin, ApiError, type Page } from "./admin.ts";

export interface JoinOptions {
  readonly admin: Admin;
  readonly http: Http;
  /** The address of the tenant's virtual host with its user; true: DMF is enabled for the tenant, which answers one. */
  readonly dmf: string | true;
  /** Where the address is kept that the server answers once, because it holds a password; only the owner of the file may read it. */
  readonly addressFile?: string;
  readonly tenant: string;
  readonly fail: number;
  readonly seed: number;
  readonly rangePieces: number;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

interface Access {
  readonly users: Readonly<Record<string, { readonly amqpUri: string }>>;
}

/** Starts things that speak DMF and waits until the server knows all of them; they are named `<run>-…`. */
export async function joinByMessage(run: string, ids: readonly string[], options: JoinOptions): Promise<Things> {
  const { admin, dmf, addressFile, tenant, fail, seed, rangePieces, http, signal, say } = options;
  const url = dmf === true ? await enable(admin, addressFile, say) : dmf;
  const before = await count(admin, run);
  const downloads = { http, pieces: rangePieces };
  const things = await runThings({ url, ids, tenant, fail, seed, downloads, exchange: `${run}.replies`, temporary: true });
  try {
    while ((await count(admin, run)) < before + ids.length) await sleep(200, undefined, { signal });
  } catch (error) {
    await things.stop();
    throw error;
  }
  say(`${ids.length} things have registered by message`);
  return things;
}

const count = async (admin: Admin, run: string): Promise<number> =>
  (await admin.get<Page<unknown>>(`targets?limit=1&q=${encodeURIComponent(`controllerId==${run}-*`)}`)).total;

/** Enables DMF and answers the address of things. It is not printed, because it holds a password, but kept in a file where one is given. */
async function enable(admin: Admin, file: string | undefined, say: (line: string) => void): Promise<string> {
  const path = "system/amqp/dmf";
  const answer = await admin.once("POST", path);
  if (answer.status === 503) {
    const settings = "HARRIER_AMQP_URL and HARRIER_AMQP_MANAGEMENT_URL";
    throw new Error(`messaging is not available: start Harrier with ${settings} of a RabbitMQ that answers`);
  }
  if (answer.status === 409) {
    if (file !== undefined && existsSync(file)) return readFileSync(file, "utf8").trim();
    throw new Error("DMF has been enabled before: give the address that was answered then, --dmf <amqpUri>");
  }
  if (answer.status !== 200) throw new ApiError(`POST ${path}`, answer);
  const [user] = Object.values(parseJson<Access>(answer).users);
  if (user === undefined) throw new Error(`POST ${path} answered no user`);
  if (file !== undefined) writeFileSync(file, `${user.amqpUri}\n`, { mode: 0o600 });
  say(file === undefined ? "enabled DMF" : `enabled DMF; the address of things is kept in ${file}`);
  return user.amqpUri;
}
