import { parseCredential } from "./credential.ts";

// It runs for every poll: most credentials differ from a token in their first letter.
const scheme = /^bearer /i;

/** Reads the access token of `Authorization: Bearer …`, if it is one. */
export function parseBearer(authorization: string | undefined): string | undefined {
  if (authorization === undefined || !scheme.test(authorization)) return undefined;
  return parseCredential(authorization)?.value;
}
