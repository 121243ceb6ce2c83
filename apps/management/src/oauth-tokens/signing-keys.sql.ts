import { statement } from "@harrier/db";
import { epochMs } from "@harrier/query";

export interface SigningKeyRow {
  number: number;
  kid: string;
  /** This is the private key as a JWK, sealed. */
  cipher: Buffer;
  createdAt: number;
  signsFrom: number;
  /** All replicas go by this clock of the database. */
  now: number;
}

export const readSigningKeys = statement<[], SigningKeyRow>(
  "management.read_signing_keys",
  `select number, kid, cipher, ${epochMs("created_at")} as "createdAt", ${epochMs("signs_from")} as "signsFrom", ${epochMs("now()")} as now
     from signing_keys order by number`,
);

/** Inserts a key; it does nothing where another replica has made the key of this number. */
export const insertSigningKey = statement<
  [number: number, kid: string, cipher: Buffer, publicJwk: string, signsInSeconds: number],
  unknown
>(
  "management.insert_signing_key",
  `insert into signing_keys (number, kid, cipher, public_jwk, signs_from)
   values ($1, $2, $3, $4, now() + make_interval(secs => $5::int)) on conflict do nothing`,
);

export const deleteSigningKeys = statement<[numbers: readonly number[]], unknown>(
  "management.delete_signing_keys",
  "delete from signing_keys where number = any($1::int[])",
);
