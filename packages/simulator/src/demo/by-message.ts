import { setTimeout as sleep } from "node:timers/promises";
import { type Http, parseJson } from "../http.ts";
import { runThings, type Things } from "../things.ts";
import { type Admin, ApiError, type Page } from "./admin.ts";

export interface JoinOptions {
  readonly admin: Admin;
  readonly http: Http;
  /** The address of the tenant's virtual host with its user; true: DMF is enabled for the tenant, which answers one. */
  readonly dmf: string | true;
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
  const { admin, dmf, tenant, fail, seed, rangePieces, http, signal, say } = options;
  const url = dmf === true ? await enable(admin, say) : dmf;
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

/** Enables DMF. The password is shown once, so whoever wants the demo once more needs the address that is said here. */
async function enable(admin: Admin, say: (line: string) => void): Promise<string> {
  const path = "system/amqp/dmf";
  const answer = await admin.once("POST", path);
  if (answer.status === 503) {
    const settings = "HARRIER_AMQP_URL and HARRIER_AMQP_MANAGEMENT_URL";
    throw new Error(`messaging is not available: start Harrier with ${settings} of a RabbitMQ that answers`);
  }
  if (answer.status === 409) throw new Error("DMF has been enabled before: give the address that was answered then, --dmf <amqpUri>");
  if (answer.status !== 200) throw new ApiError(`POST ${path}`, answer);
  const [user] = Object.values(parseJson<Access>(answer).users);
  if (user === undefined) throw new Error(`POST ${path} answered no user`);
  say(`enabled DMF; the next time: npm run demo -- --dmf ${user.amqpUri}`);
  return user.amqpUri;
}
