import { statement } from "@harrier/db";
import { epochMs } from "../rows/columns.ts";

export interface SigningKeyRow {
  number: number;
  kid: string;
  /** The private key as a JWK, sealed. */
  cipher: Buffer;
  createdAt: number;
  signsFrom: number;
  /** The database's clock, by which all replicas go. */
  now: number;
}

export const readSigningKeys = statement<[], SigningKeyRow>(
  "management.read_signing_keys",
  `select number, kid, cipher, ${epochMs("created_at")} as "createdAt", ${epochMs("signs_from")} as "signsFrom", ${epochMs("now()")} as now
     from signing_keys order by number`,
);

/** Nothing where another replica made the key of this number. */
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
