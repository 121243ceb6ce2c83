import { parseCredential } from "./credential.ts";

// looked at for every poll: most are told from a token by their first letter
const scheme = /^bearer /i;

/** The access token of `Authorization: Bearer …`, if it is one. */
export function parseBearer(authorization: string | undefined): string | undefined {
  if (authorization === undefined || !scheme.test(authorization)) return undefined;
  return parseCredential(authorization)?.value;
}
