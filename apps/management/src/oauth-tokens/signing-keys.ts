import { generateKeyPair, type JsonWebKey, randomBytes } from "node:crypto";
import { promisify } from "node:util";
import { type Database, run, runCount, type SecretBox } from "@harrier/db";
import { planKeys } from "./key-plan.ts";
import { deleteSigningKeys, insertSigningKey, readSigningKeys, type SigningKeyRow } from "./signing-keys.sql.ts";

/** This is the algorithm of all keys: its signatures are short, keys are cheap to make, and every library knows it. */
export const signingAlgorithm = "ES256";

/** This is a private key with its name. */
export type SigningKey = JsonWebKey & { kid: string };

export interface KeySetNow {
  /** This key signs now. */
  kid: string;
  /** All of these keys are published. */
  keys: readonly SigningKey[];
}

interface Deps {
  db: Pick<Database, "pool">;
  secrets: SecretBox;
  log: { info(details: object, message: string): void };
  /** A key gets a successor at this age. */
  rotateMs: number;
}

const makePair = promisify(generateKeyPair);

/**
 * Holds the keys of the token endpoint, which are made, followed and withdrawn without an operator. They are the same in every replica and
 * sealed in the database (architecture §2, "Secrets"). A key that one replica makes signs only when all others have long read it.
 */
export class SigningKeys {
  readonly #deps: Deps;
  #now: KeySetNow | undefined;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  current(): KeySetNow {
    if (this.#now === undefined) throw new Error("signing keys are read at the start");
    return this.#now;
  }

  /** Reads the keys, after making or withdrawing what is due; the first call makes the first key. */
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
    // A key that has not changed is not decrypted again.
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
}

/** Only these members of a key are public. */
export function publicKeys(keys: readonly SigningKey[]): { keys: JsonWebKey[] } {
  return { keys: keys.map(({ kid, alg, use, kty, crv, x, y }) => ({ kid, alg, use, kty, crv, x, y }) as JsonWebKey) };
}
