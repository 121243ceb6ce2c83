import { generateKeyPair, type JsonWebKey, randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { type Database, run, runCount, type SecretBox } from "@harrier/db";
import { planKeys } from "./key-plan.ts";
import { deleteSigningKeys, insertSigningKey, readSigningKeys, type SigningKeyRow } from "./signing-keys.sql.ts";

/** Of all keys: short signatures, cheap to make, known to every library. */
export const signingAlgorithm = "ES256";

/** A private key with its name. */
export type SigningKey = JsonWebKey & { kid: string };

export interface KeySetNow {
  /** Signs now. */
  kid: string;
  /** All that are published. */
  keys: readonly SigningKey[];
}

interface Deps {
  db: Pick<Database, "pool">;
  secrets: SecretBox;
  log: { info(details: object, message: string): void; warn(details: object, message: string): void };
  /** Age at which a key gets its successor. */
  rotateMs: number;
  readEveryMs?: number;
}

const makePair = promisify(generateKeyPair);

/**
 * The keys of the token endpoint: made, followed and retired without anybody's help, the same in every replica, sealed in the database
 * (architecture §2, "Secrets"). A key that one replica makes signs only when all others have long read it.
 */
export class SigningKeys {
  readonly #deps: Deps;
  readonly #stop = new AbortController();
  #now: KeySetNow | undefined;
  #loop: Promise<void> | undefined;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Reads the keys, makes the first one where there is none, and follows from there. */
  async start(): Promise<void> {
    await this.refresh();
    this.#loop = this.#follow();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#loop;
  }

  current(): KeySetNow {
    if (this.#now === undefined) throw new Error("signing keys are read at the start");
    return this.#now;
  }

  /** Reads the keys, after doing what is due. */
  async refresh(): Promise<void> {
    const { db, rotateMs, log } = this.#deps;
    let rows = await run(db.pool, readSigningKeys, []);
    let plan = planKeys(rows, { now: rows[0]?.now ?? 0, rotateMs });
    if (plan.make !== undefined || plan.retired.length > 0) {
      if (plan.make !== undefined) await this.#make(plan.make);
      if (plan.retired.length > 0) await runCount(db.pool, deleteSigningKeys, [plan.retired]);
      log.info({ made: plan.make?.number, retired: plan.retired }, "signing keys of the token endpoint were rotated");
      rows = await run(db.pool, readSigningKeys, []);
      plan = planKeys(rows, { now: rows[0]?.now ?? 0, rotateMs });
    }
    this.#now = this.#opened(rows, plan.signs);
  }

  #opened(rows: readonly SigningKeyRow[], signs: number | undefined): KeySetNow {
    const kid = rows.find((row) => row.number === signs)?.kid;
    if (kid === undefined) throw new Error("there is no signing key");
    // what has not changed is not opened again
    const known = new Map((this.#now?.keys ?? []).map((key) => [key.kid, key]));
    return { kid, keys: rows.map((row) => known.get(row.kid) ?? (JSON.parse(this.#deps.secrets.open(row.cipher)) as SigningKey)) };
  }

  async #make({ number, inSeconds }: { number: number; inSeconds: number }): Promise<void> {
    const { privateKey, publicKey } = await makePair("ec", { namedCurve: "P-256" });
    const named = { kid: `harrier-${randomBytes(9).toString("base64url")}`, alg: signingAlgorithm, use: "sig" };
    const cipher = this.#deps.secrets.seal(JSON.stringify({ ...privateKey.export({ format: "jwk" }), ...named }));
    const shown = JSON.stringify({ ...publicKey.export({ format: "jwk" }), ...named });
    await runCount(this.#deps.db.pool, insertSigningKey, [number, named.kid, cipher, shown, inSeconds]);
  }

  async #follow(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      await sleep(this.#deps.readEveryMs ?? 30_000, undefined, { signal: this.#stop.signal }).catch(() => undefined);
      if (this.#stop.signal.aborted) return;
      await this.refresh().catch((error: unknown) => this.#deps.log.warn({ err: error }, "signing keys cannot be read"));
    }
  }
}

/** What the world may see of keys: no member but these. */
export function publicKeys(keys: readonly SigningKey[]): { keys: JsonWebKey[] } {
  return { keys: keys.map(({ kid, alg, use, kty, crv, x, y }) => ({ kid, alg, use, kty, crv, x, y }) as JsonWebKey) };
}
