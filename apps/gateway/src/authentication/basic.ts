// neither part may hold any (RFC 7617 §2); a NUL is no text to PostgreSQL, and at a password's end its hash would not see it
const controls = /\p{Cc}/u;

/** User name and password of `Authorization: Basic …`; the name may be `tenant\user` (contract management.md §1.1). */
export function parseBasic(value: string): { username: string; password: string } | undefined {
  const text = Buffer.from(value, "base64").toString("utf8");
  const colon = text.indexOf(":");
  return colon <= 0 || controls.test(text) ? undefined : { username: text.slice(0, colon), password: text.slice(colon + 1) };
}
