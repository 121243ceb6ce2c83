// Neither part may contain control characters (RFC 7617 §2); PostgreSQL cannot hold a NUL in a text, and a hash would ignore one at a password's end.
const controls = /\p{Cc}/u;

/** Reads user name and password of `Authorization: Basic …`; the name may be `tenant\user` (contract management.md §1.1). */
export function parseBasic(value: string): { username: string; password: string } | undefined {
  const text = Buffer.from(value, "base64").toString("utf8");
  const colon = text.indexOf(":");
  return colon <= 0 || controls.test(text) ? undefined : { username: text.slice(0, colon), password: text.slice(colon + 1) };
}
